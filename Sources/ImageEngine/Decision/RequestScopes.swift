internal import Platform

/// Decides which entry a request is answered from, and which entry its response goes to, by the user of the request.
///
/// A key has one entry that users share, for what was fetched without credentials or given, and one for each user; see
/// ``CacheKey/partition``. A user is known by the credentials, or by the name that the caller gives
/// (``LookupOptions/user``).
final class RequestScopes: Sendable {
    private let downloader: ImageDownloader
    /// The credentials that downloads used beyond those of their requests.
    private let knownLogins = Logins()

    init(_ downloader: ImageDownloader) { self.downloader = downloader }

    // MARK: Entries

    /// `true` when only the entry that users share may answer a request, and its response goes there. Takes a moment only,
    /// because every hit asks.
    func isPlain(_ request: OutgoingRequest) -> Bool {
        let options = request.options
        switch options.lookup.user {
        case .anyone: return true
        case .named: return false
        case .credentials: break
        }
        let named = options.network.request
        guard named.headers.isEmpty, named.authorization == nil else { return false }
        // Credentials of a server are added for a server only.
        let mayBeAdded =
            downloader.mayAddCredentials || !knownLogins.isEmpty || options.asksToModify || request.url.has("@")
        return !mayBeAdded || !ImageSource.isOnNetwork(request.url)
    }

    /// The entry that the response to a request goes to, unless its download is asked for further credentials.
    func ownKey(_ key: String, of request: OutgoingRequest) -> CacheKey {
        let key = CacheKey(key)
        return isPlain(request) ? key : key.belonging(to: ownScope(of: request).credentials)
    }

    /// The entries that may answer a request; the one that users share is the last.
    func keys(_ key: String, for request: OutgoingRequest) -> [CacheKey] {
        let shared = CacheKey(key)
        if isPlain(request) { return [shared] }
        var keys: [CacheKey] = []
        for key in scopes(of: request).map({ shared.belonging(to: $0.credentials) })
        where !key.partition.isEmpty && !keys.contains(key) { keys.append(key) }
        return keys + [shared]
    }

    /// The entry of the response to a request, which may have been asked for further credentials.
    ///
    /// - Parameter key: The entry that it goes to otherwise.
    func key(_ key: CacheKey, for download: Download, of request: OutgoingRequest) -> CacheKey {
        guard case .credentials = request.options.lookup.user, let login = download.login,
            ExactText(login) != configuredLogin(of: request).map({ ExactText($0) })
        else { return key }
        return key.belonging(to: scope(of: request.url, request.options, login: login).credentials)
    }

    /// See ``ImageManager/entry(_:_:)``.
    func entry(_ key: String, _ options: ImageOptions) -> (key: CacheKey, isAnyones: Bool) {
        switch options.lookup.user {
        case .anyone: return (CacheKey(key), false)
        case .named: break
        case .credentials:
            guard HTTPScope(options.network.request).credentials != nil else { return (CacheKey(key), true) }
        }
        return (ownKey(key, of: OutgoingRequest(url: key, options: options)), false)
    }

    /// `true` when an image must not be answered to a request before its server permits it: it belongs to another user; or
    /// it was fetched without credentials, the request has some, and its server does not say that it is for everybody.
    func isForeign(_ record: ImageRecord, to request: OutgoingRequest) -> Bool {
        if !record.key.partition.isEmpty {
            // A request whose URL is not http names the entry itself.
            return Resource(url: request.url).isOnNetwork
                && !keys(record.key.key, for: request).contains { $0.partition == record.key.partition }
        }
        if !record.isPersonal, record.origin.http == nil || isPlain(request) { return false }
        guard Resource(url: request.url).isOnNetwork else { return false }
        // An answer that cannot be read belongs to nobody.
        guard let answer = record.answer?.metadata else { return record.isPersonal }
        if record.isPersonal { return !scopes(of: request).contains { answer.belongs(to: $0) } }
        // Its delegate may add credentials.
        if request.options.asksToModify, !answer.isApproved, !answer.isForEverybody { return true }
        return !answer.belongs(to: ownScope(of: request))
    }

    func hasUser(_ request: OutgoingRequest) -> Bool {
        !isPlain(request) && ownScope(of: request).credentials != nil
    }

    /// `true` when the server can be asked whether the user of a request may be answered with a foreign image.
    func mayPermit(_ found: ImageCache.Candidate, to request: OutgoingRequest) -> Bool {
        guard !isPlain(request), Resource(url: request.url).isOnNetwork, found.hit.record.answer != nil else {
            return false
        }
        let scope = ownScope(of: request)
        return scope.credentials != nil && found.validators(for: scope, isForeign: true) != nil
    }

    // MARK: Scopes

    /// The scopes in which a request may be answered with an image; the first is that of its own fields.
    func scopes(of request: OutgoingRequest) -> [HTTPScope] {
        let (url, options) = (request.url, request.options)
        if isPlain(request) { return [scope(of: url, options)] }
        let own = ownScope(of: request)
        guard case .credentials = options.lookup.user else { return [own] }
        // The image may have come from any of the sources, with that source's credentials.
        return [own]
            + ([url] + options.network.alternativeSources).flatMap { source in
                let options = options.scoped(from: url, to: source)
                let logins: [String?] = (ExactText(source) == ExactText(url) ? [] : [nil]) + logins(of: source, options)
                return logins.map { scope(of: source, options, login: $0) }
            }
    }

    /// The scope of a request as it is sent, with what the configuration adds.
    func ownScope(of request: OutgoingRequest) -> HTTPScope {
        scope(of: request.url, request.options, login: configuredLogin(of: request))
    }

    /// The scope of a request as it is sent, with additional credentials.
    func scope(of url: String, _ options: ImageOptions, login: String? = nil) -> HTTPScope {
        HTTPScope(
            options.network.request, credentials: Self.credentials(in: url), login: login,
            added: downloader.addedFields(for: url), as: options.lookup.user)
    }

    /// The user and password in an http URL, as the download parses them.
    private static func credentials(in url: String) -> Authorization? {
        // Most URLs have none and are not parsed.
        url.has("@") ? (try? WebURL(url))?.credentials : nil
    }

    /// The names of the header fields that the configuration adds to requests for a URL, in lower case.
    func addedNames(for url: String) -> [String] { Array(downloader.addedFields(for: url).keys) }

    private func configuredLogin(of request: OutgoingRequest) -> String? {
        guard downloader.mayAddCredentials, let web = try? WebURL(request.url) else { return nil }
        return downloader.configuredLogin(of: web, request.options.network.request)
    }

    private func logins(of url: String, _ options: ImageOptions) -> [String] {
        let configured = configuredLogin(of: OutgoingRequest(url: url, options: options)).map { [$0] } ?? []
        guard !knownLogins.isEmpty, let web = try? WebURL(url) else { return configured }
        var request = loginRequest(url, web, options)
        let known = knownLogins.all(of: request)
        request.configuration = downloader.configuredCredentials
        return known + (request.configuration == nil ? [] : knownLogins.all(of: request)) + configured
    }

    private func loginRequest(_ url: String, _ web: WebURL, _ options: ImageOptions) -> Logins.Request {
        Logins.Request(
            origin: web.origin,
            credentials: HTTPScope(options.network.request, credentials: web.credentials).credentials,
            delegates: options.network.delegates?.without(.modifyRequest))
    }

    /// Remembers the credentials that a download used beyond its request's.
    func noteLogin(of download: Download, for request: DownloadRequest, _ options: ImageOptions) {
        guard let login = download.login else { return }
        var loginRequest = loginRequest(request.url, request.webURL, options)
        loginRequest.configuration = download.configuration
        knownLogins.note(login, of: loginRequest)
    }
}
