package import HTTPSemantics
package import ImageErrors
internal import Platform

/// One request of a download as it is sent: the first one, or one that follows a redirect or a challenge.
package struct HTTPRequest: Hashable, Sendable {
    /// A header field of the caller or a delegate.
    struct Field: Hashable, Sendable {
        let name: ExactText
        let value: ExactText
    }

    /// Credentials and their proxy. Another proxy, such as that of a redirect's target, does not receive them.
    struct ProxyLogin: Hashable, Sendable {
        let proxy: String
        let authorization: Authorization
        /// The digest challenge that they answer, unless libcurl answers it.
        var digest: DigestChallenge?
        /// `true` when the proxy may demand a digest, which libcurl finds out by a request without credentials.
        var mayBeDigest = true

        /// Creates credentials that answer a proxy's challenges: by this software where it can, else by libcurl.
        init(_ proxy: String, _ authorization: Authorization, _ challenges: ChallengeList) {
            (self.proxy, self.authorization, digest) = (proxy, authorization, challenges.digest(for: authorization))
            mayBeDigest = digest == nil && challenges.offers("digest")
        }

        func credentials(for proxy: String?) -> Authorization? { proxy == self.proxy ? authorization : nil }
    }

    package var url: WebURL
    var fields: [Field]
    package var method = RequestMethod.get
    package var body: [UInt8]?
    package var authorization: Authorization?
    /// The authentication scheme that a server demanded instead of the usual one: `digest`.
    package var scheme: String?
    /// The challenge that the credentials answer when ``scheme`` is `digest`, unless libcurl answers it.
    var digest: DigestChallenge?
    /// Credentials for a proxy, after it demanded some.
    var proxyLogin: ProxyLogin?
    /// The client certificate that the rules name for the host.
    package var certificate: ClientCertificate?
    /// `true` while the request goes to the origin of the requested URL. Other origins see no client certificate.
    var isAtOriginalOrigin = true
    /// `true` while the netrc file and the rules for hosts may be used: not after a redirect from https to http.
    var mayUseNetrc = true

    package init(_ request: DownloadRequest) { self.init(request.webURL, request.content) }

    package init(_ url: WebURL, _ content: RequestContent) {
        self.url = url.withoutCredentials
        fields = Self.fields(content.sortedHeaders)
        (method, body) = (content.method, content.method == .get ? nil : content.body)
        authorization = content.authorization ?? url.credentials
    }

    static func fields(_ headers: [(name: String, value: String)]) -> [Field] {
        headers.map { Field(name: ExactText($0.name), value: ExactText($0.value)) }
    }

    /// The request to `target` that follows this one, without what must not be sent to another origin.
    ///
    /// Credentials in `target` itself are ignored: a server does not choose the credentials sent elsewhere.
    func following(to target: WebURL) -> HTTPRequest {
        var next = self
        next.url = target.withoutCredentials
        if url.isSecure, !target.isSecure { next.mayUseNetrc = false }
        guard target.origin != url.origin else { return next }
        next.fields = fields.filter { RequestContent.crossesOrigins($0.name.text) }
        (next.authorization, next.scheme, next.digest, next.isAtOriginalOrigin) = (nil, nil, nil, false)
        return next
    }

    // MARK: Delegates

    package var draft: DownloadDraft {
        DownloadDraft(
            url: url.text,
            headers: Dictionary(fields.map { ($0.name.text, $0.value.text) }, uniquingKeysWith: { first, _ in first }),
            method: method, body: body)
    }

    /// The request with a delegate's changes. Credentials are dropped when it goes to another origin.
    package func changed(to draft: DownloadDraft) throws(ImageError) -> HTTPRequest {
        if draft == self.draft { return self }
        var outgoing = self
        if ExactText(draft.url) != url.exactText {
            guard !draft.url.isEmpty else { throw .invalidURL(draft.url, reason: "It is empty.") }
            let target = try WebURL(draft.url)
            outgoing = following(to: target)
            if let credentials = target.credentials { outgoing.authorization = credentials }
        }
        (outgoing.method, outgoing.body) = (draft.method, draft.method == .get ? nil : draft.body)
        for (name, value) in draft.headers {
            let isSound = !name.isEmpty && (name + value).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            guard isSound, !name.contains(":") else {
                throw .invalidURL(
                    draft.url, reason: "The delegate gave a header that cannot be sent: \"\(name.excerpt)\".")
            }
        }
        outgoing.fields = Self.fields(draft.headers.map { ($0.key, $0.value) }.sorted { $0.name < $1.name })
        return outgoing
    }
}
