package import HTTPSemantics
package import ImageErrors
internal import Platform

/// One request of a download as it is sent: the first, or one that a redirect or a challenge led to.
package struct HTTPRequest: Hashable, Sendable {
    /// A header field that the caller or a delegate wants sent.
    struct Field: Hashable, Sendable {
        let name: ExactText
        let value: ExactText
    }

    /// Credentials, and the proxy that they are for: another, which a redirect leads through, does not get to see them.
    struct ProxyLogin: Hashable, Sendable {
        let proxy: String
        let authorization: Authorization
        /// The challenge that they answer, when it is one by digest and not left to libcurl.
        var digest: DigestChallenge?
        /// Whether it may want them by digest, which libcurl finds out by asking without first.
        var mayBeDigest = true

        /// Credentials that answer the challenges of a proxy: by ourselves where we can, else as libcurl does.
        init(_ proxy: String, _ authorization: Authorization, _ challenges: ChallengeList) {
            self.proxy = proxy
            self.authorization = authorization
            if case .basic(let user, _) = authorization, DigestChallenge.isPlain(user) { digest = challenges.digest }
            mayBeDigest = digest == nil && challenges.offers("digest")
        }

        func credentials(for proxy: String?) -> Authorization? { proxy == self.proxy ? authorization : nil }
    }

    package var url: WebURL
    var fields: [Field]
    package var method = RequestMethod.get
    package var body: [UInt8]?
    package var authorization: Authorization?
    /// The scheme that a server asked for, when it was not the usual one: `digest`.
    package var scheme: String?
    /// The challenge that the credentials answer, when ``scheme`` is `digest` and it is not left to libcurl.
    var digest: DigestChallenge?
    /// Credentials for a proxy, once it wanted some.
    var proxyLogin: ProxyLogin?
    /// The certificate that the rules name for its host.
    package var certificate: ClientCertificate?
    /// Whether it goes to the origin of the URL that was asked for: others see no client certificate.
    var isAtHome = true
    /// Whether the configured netrc file may be looked into, and the rules of hosts count: not after a redirect from https
    /// to http.
    var mayUseNetrc = true

    /// The first request of a download.
    package init(_ request: DownloadRequest) {
        url = request.webURL.withoutCredentials
        fields = Self.fields(request.headers)
        (method, body) = (request.method, request.body)
        authorization = request.authorization ?? request.webURL.credentials
    }

    /// The first request for a URL with such content.
    package init(_ url: WebURL, _ content: RequestContent) {
        self.url = url.withoutCredentials
        fields = Self.fields(content.headers.map { (name: $0.key, value: $0.value) })
        authorization = content.authorization ?? url.credentials
    }

    static func fields(_ headers: [(name: String, value: String)]) -> [Field] {
        headers.map { Field(name: ExactText($0.name), value: ExactText($0.value)) }
    }

    /// The request that goes to `target` next. What is not that origin's business stays behind.
    ///
    /// Credentials that stand in `target` itself are not used: a server does not choose with what we log in elsewhere.
    func following(to target: WebURL) -> HTTPRequest {
        var next = self
        next.url = target.withoutCredentials
        if url.isSecure, !target.isSecure { next.mayUseNetrc = false }
        guard target.origin != url.origin else { return next }
        next.fields = fields.filter { RequestContent.crossesOrigins($0.name.text) }
        next.authorization = nil
        next.scheme = nil
        next.digest = nil
        next.isAtHome = false
        return next
    }

    // MARK: Delegates

    /// The request as a delegate sees it.
    package var draft: DownloadDraft {
        DownloadDraft(
            url: url.text,
            headers: Dictionary(fields.map { ($0.name.text, $0.value.text) }, uniquingKeysWith: { first, _ in first }),
            method: method, body: body)
    }

    /// The request as a delegate changed it. Credentials stay behind when it goes elsewhere now.
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

extension HTTPRequest {
    /// The request as a redirect with that status leaves it (RFC 9110, 15.4): after 303 it is a GET, and so is a POST after
    /// 301 and 302, without what describes a body.
    package func redirected(status: Int) -> HTTPRequest {
        guard method != .get, status == 303 || [301, 302].contains(status) && method == .post else { return self }
        var outgoing = self
        (outgoing.method, outgoing.body) = (.get, nil)
        outgoing.fields.removeAll { $0.name.text.asciiLowercased.hasPrefix("content-") }
        return outgoing
    }
}
