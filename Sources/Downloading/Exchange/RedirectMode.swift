internal import HTTPSemantics
internal import ImageErrors
internal import Platform

/// The permitted redirects.
public enum RedirectMode: String, Sendable, Hashable, CaseIterable {
    /// Those to any http or https URL.
    case follow
    /// Those that stay with scheme, host and port.
    case sameOrigin = "same-origin"
    /// None.
    case none
}

extension HTTPRequest {
    /// The request that follows this one after a response with `status` and `location`; errors name `source`.
    ///
    /// Only to http and https. From https to http is permitted, because credentials are never sent to another origin. Nor
    /// is a body, which may be a secret like a header.
    func redirected(
        status: Int, to location: String, _ options: TransferOptions, naming source: String
    ) throws(ImageError) -> HTTPRequest {
        let next = redirected(status: status).following(to: try url.following(location, naming: source))
        // The delegate, which may change where it leads, is not asked in vain.
        if options.redirect == .none { try check(next: next, options, naming: source) }
        guard next.body == nil || next.url.origin == url.origin else {
            let reason =
                "It was redirected to there with status \(status), and the body of a request stays with its origin."
            throw .forbiddenAddress(url: next.url.text, reason: reason)
        }
        return next
    }

    /// Throws when `next` is not permitted to follow this request; errors name `source`.
    ///
    /// - Parameter next: The request that will really be sent, after changes by a delegate and by the rules of mirrors.
    func check(next: HTTPRequest, _ options: TransferOptions, naming source: String) throws(ImageError) {
        let rule: String
        switch options.redirect {
        case .follow: return
        case .sameOrigin where next.url.origin == url.origin: return
        case .sameOrigin: rule = "redirects to another origin are turned off (set redirect to \"follow\")"
        case .none: rule = "redirects are turned off (set redirect to \"follow\")"
        }
        throw DownloadLimitName.redirect.error("it redirects to \(next.url.text.excerpt), and \(rule)", source: source)
    }

    /// The request after a redirect with the given status (RFC 9110, 15.4): a GET after 303, and a POST becomes a GET
    /// after 301 and 302, without the fields that describe a body.
    package func redirected(status: Int) -> HTTPRequest {
        guard method != .get, status == 303 || [301, 302].contains(status) && method == .post else { return self }
        var outgoing = self
        (outgoing.method, outgoing.body) = (.get, nil)
        outgoing.fields.removeAll { $0.name.text.asciiLowercased.hasPrefix("content-") }
        return outgoing
    }
}
