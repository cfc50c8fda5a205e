internal import Platform

/// The use of the remote tier for one request.
public enum RemoteUse: String, Sendable, Hashable, CaseIterable {
    /// It is used for what is nobody's own.
    case use
    /// It is left out.
    case skip
    /// It is used even for what was asked for with credentials, or is private.
    case share
}

/// Decides whether a request may be answered from the remote tier, and whether its response may go there. A plain value.
struct RemotePolicy: Sendable, Equatable {
    var use = RemoteUse.use
    /// `true` for a request on the network with the method GET, to the URL that the caller named.
    var isPlainGet = true
    /// `true` when the request has credentials or cookies, its own or such as the configuration adds; a client certificate
    /// counts.
    var hasCredentials = false
    /// `true` when the image is kept for one user.
    var hasUser = false
    /// `true` when a delegate may change the request, or the response is changed before it is stored.
    var isModified = false
    /// `true` when the request has header fields that may say who asks, or conditions.
    var hasOwnFields = false
    /// `true` when the request or the response has `Cache-Control: no-store`, or the response `private`.
    var isUnsharable = false
    /// `true` when the request wants a newer image than any cache has.
    var wantsNew = false

    /// `true` when nobody but the user of the request may see the response.
    var isPrivate: Bool { hasCredentials || hasUser || isModified || hasOwnFields || isUnsharable }

    /// `true` when the request may be answered from the tier.
    var mayRead: Bool { mayUse && (!isPrivate || use == .share) && !wantsNew }

    /// `true` when an image that the request got, or had made, may go to the tier.
    ///
    /// - Parameter isShareable: What its response was noted as when it was downloaded, for this request or another one.
    func mayWrite(isShareable: Bool) -> Bool { mayUse && (use == .share || isShareable && !isPrivate) }

    private var mayUse: Bool { use != .skip && isPlainGet }
}

extension RemotePolicy {
    /// The header fields of a request that say nothing of who asks, by lower-case names.
    private static let harmlessFields: Set = [
        "accept", "accept-encoding", "accept-language", "cache-control", "pragma", "user-agent",
    ]

    /// The policy of a request as it is sent.
    ///
    /// - Parameter isRefresh: `true` when the image is loaded because the stored one is stale.
    init(
        _ request: OutgoingRequest, of resource: Resource, to key: CacheKey, isRefresh: Bool = false,
        _ scopes: RequestScopes
    ) {
        let options = request.options
        use = options.lookup.remote
        isPlainGet =
            options.network.request.method == .get && resource.isOnNetwork
            && ExactText(request.url) == ExactText(resource.url)
        wantsNew =
            isRefresh || options.lookup.forceRefresh || options.lookup.revalidate == .always
            || options.storage.fromMemoryCacheOrRefresh
        hasUser = options.lookup.scope != nil || !key.partition.isEmpty
        isModified = request.wasAsked || options.asksToModify || options.network.dataModifier != nil
        let names = options.network.request.headers.keys.map { $0.lowercased() } + scopes.addedNames(for: request.url)
        hasOwnFields = !Self.harmlessFields.isSuperset(of: names)
        isUnsharable = options.cacheControl?.noStore == true
        // Credentials count even if the caller has them kept for all.
        var asked = options
        if options.lookup.credentialScope != .separate || options.lookup.scope != nil {
            asked.lookup.credentialScope = .separate
            asked.lookup.scope = nil
        }
        let outgoing = OutgoingRequest(url: request.url, options: asked, wasAsked: request.wasAsked)
        hasCredentials = scopes.ownScope(of: outgoing).credentials != nil
    }

    func adding(_ download: Download) -> RemotePolicy {
        var policy = self
        if download.login != nil { policy.hasCredentials = true }
        if !Self.harmlessFields.isSuperset(of: download.addedFields) { policy.hasOwnFields = true }
        let fields = [download.response.fields["cache-control"]] + download.route.map { $0.fields["cache-control"] }
        if fields.contains(where: { $0.map(Self.forbidsSharing) ?? false }) { policy.isUnsharable = true }
        return policy
    }

    static func forbidsSharing(_ cacheControl: String) -> Bool {
        cacheControl.lowercased().split(separator: ",").contains { directive in
            let name = directive.prefix { $0 != "=" }.filter { !$0.isWhitespace }
            return name == "private" || name == "no-store"
        }
    }
}
