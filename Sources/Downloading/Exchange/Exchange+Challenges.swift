internal import HTTPSemantics
internal import ImageErrors
internal import Platform

extension Exchange {
    /// `true` when a challenge to a request is answered and not returned as the response.
    func answersChallenges(_ outgoing: HTTPRequest) -> Bool {
        if request.limits.takesChallenges { return false }
        if delegate(for: .challenge) != nil, failures < Self.challengeLimit, !leavesChallenges { return true }
        if outgoing.scheme == nil, hasOwnPassword(outgoing) { return true }
        // A challenge that the delegate has left to the defaults is returned as the response.
        return !leavesChallenges && outgoing.digest != nil && renewals < Self.challengeLimit
    }

    /// `true` when a request is sent with a user and a password that no delegate gave.
    private func hasOwnPassword(_ outgoing: HTTPRequest) -> Bool {
        if case .basic = outgoing.authorization { true } else { transport.settings.hasNetrcLogin(for: outgoing) }
    }

    /// `true` when a proxy's digest challenge is answered without a delegate.
    func answersProxy(_ outgoing: HTTPRequest) -> Bool {
        if request.limits.takesChallenges || leavesChallenges { return false }
        return outgoing.proxyLogin?.digest != nil && renewals < Self.challengeLimit || ownProxyLogin(outgoing) != nil
    }

    /// The proxy of a request with the credentials in its URL, unless they have already been sent as a digest.
    private func ownProxyLogin(_ outgoing: HTTPRequest) -> (proxy: String, credentials: Authorization)? {
        guard let proxy = transport.settings.proxies.proxy(for: outgoing.url), outgoing.proxyLogin?.proxy != proxy,
            let credentials = ProxyTable.credentials(in: proxy)
        else { return nil }
        return (proxy, credentials)
    }

    /// The request that answers a challenge.
    ///
    /// - Parameter sent: The request with the additions of the rules for its host, as the server received it.
    package mutating func answered(
        _ outgoing: HTTPRequest, as sent: HTTPRequest, _ status: Int, _ challenges: ChallengeList
    ) async throws -> HTTPRequest {
        var next = outgoing
        let isProxy = status == 407
        if !isProxy, outgoing.scheme == nil, challenges.wantsDigest, hasOwnPassword(sent) {
            // The credentials are right, but have to be sent in another scheme; by libcurl, which alone reads netrc files.
            return next.usingDigest(challenges, as: sent)
        }
        if let old = isProxy ? outgoing.proxyLogin?.digest : outgoing.digest, let new = challenges.digest,
            renewals < Self.challengeLimit, new.isStale && new.nonce != old.nonce || !isProxy && new.realm != old.realm
        {
            // The credentials may still be right; only the nonce is too old, or the realm is another.
            renewals += 1
            guard isProxy else { return next.usingDigest(challenges, as: sent) }
            next.proxyLogin?.digest = new
            return next
        }
        if isProxy, challenges.wantsDigest, let own = ownProxyLogin(outgoing) {
            next.proxyLogin = HTTPRequest.ProxyLogin(own.proxy, own.credentials, challenges)
            return next
        }
        let refusal = ImageError.invalidStatusCode(status, url: request.url)
        let proxy = transport.settings.proxies.proxy(for: outgoing.url)
        // A server that poses as a proxy receives no proxy credentials.
        guard let delegate = delegate(for: .challenge), failures < Self.challengeLimit, !leavesChallenges,
            let best = challenges.best, !isProxy || proxy != nil
        else {
            throw refusal
        }
        let challenge = AuthenticationChallenge(
            url: outgoing.url.text, host: isProxy ? proxy.map(ProxyTable.host) ?? "" : outgoing.url.host,
            realm: best.realm,
            scheme: best.scheme, isProxy: isProxy, failures: failures)
        let answer = try await run.whileStalled { try await delegate.answer(challenge) }
        failures += 1
        switch answer {
        case .cancel: throw ImageError.downloadCancelledBeforeStarting(url: request.url)
        case .useDefault:
            // Without credentials the response stays the same; it is fetched again only for a delegate that decides
            // about it.
            guard self.delegate(for: .validateStatus) != nil else { throw refusal }
            leavesChallenges = true
            return next
        case .credential(let credential) where isProxy:
            next.proxyLogin = proxy.map { HTTPRequest.ProxyLogin($0, credential, challenges) }
        case .credential(let credential):
            addLogin("challenge \(outgoing.url.origin) \(credential.scopeText)")
            next.fields.removeAll { $0.name.text.lowercased() == "authorization" }
            next.authorization = credential
            next.digest = nil
            next.scheme = "basic"
            if best.scheme == "digest" { next = next.usingDigest(challenges, as: next) }
        }
        return next
    }
}
