/// Decides which requests may be answered with an image, by credentials.
///
/// There is one entry for each key. An entry fetched with credentials answers only requests for a URL with the same
/// credentials; any other entry may answer every request.
final class RequestScopes: Sendable {
    private let downloader: ImageDownloader
    /// The credentials that downloads used beyond those of their requests.
    private let knownLogins = Logins()

    init(_ downloader: ImageDownloader) { self.downloader = downloader }

    /// `true` when an image may answer a request.
    ///
    /// - Parameter url: The URL of the request; a URL that is not http names the entry itself.
    func mayAnswer(_ record: ImageRecord, to url: String, _ options: ImageOptions) -> Bool {
        guard record.isPersonal, Resource(url: url).isOnNetwork else { return true }
        return record.belongs(to: scopes(of: url, options, for: record))
    }

    /// The scopes in which a request may be answered with an image; the first is that of its own fields.
    func scopes(of url: String, _ options: ImageOptions, for record: ImageRecord?) -> [HTTPScope] {
        guard record?.isPersonal == true else { return [scope(of: url, options)] }
        // The image may have come from any of the sources, with that source's credentials.
        return ([url] + options.network.alternativeSources).flatMap { source in
            let options = options.scoped(from: url, to: source)
            let logins: [String?] = [nil] + logins(of: source, options)
            return logins.map { scope(of: source, options, login: $0) }
        }
    }

    /// The scope of a request as it is sent.
    ///
    /// - Parameter login: Additional credentials.
    func scope(of url: String, _ options: ImageOptions, login: String? = nil) -> HTTPScope {
        HTTPScope(
            options.network.request, credentials: Self.credentials(in: url), login: login,
            added: downloader.addedFields(for: url))
    }

    /// The user and password in an http URL, as the download parses them.
    private static func credentials(in url: String) -> Authorization? {
        // Most URLs have none and are not parsed.
        url.utf8.contains(UInt8(ascii: "@")) ? (try? WebURL(url))?.credentials : nil
    }

    private func logins(of url: String, _ options: ImageOptions) -> [String] {
        guard let web = try? WebURL(url) else { return [] }
        let configured = downloader.configuredLogin(of: web, options.network.request)
        return knownLogins.all(of: loginRequest(url, web, options)) + (configured.map { [$0] } ?? [])
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
        knownLogins.note(login, of: loginRequest(request.url, request.webURL, options))
    }
}
