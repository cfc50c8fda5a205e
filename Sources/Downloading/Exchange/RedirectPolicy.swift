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

/// Decides about each redirect of a download.
///
/// Only to http and https, only up to a limit, and never to the same request twice, because the response would be the
/// same. From https to http is permitted, because credentials are never sent to another origin.
struct RedirectPolicy: Sendable {
    /// The maximum number of redirects.
    let limit: Int
    /// The URL shown in error messages.
    let source: String
    private let options: TransferOptions
    /// The number of redirects so far.
    private(set) var count = 0
    private var visited: Set<HTTPRequest> = []

    /// Creates the policy of a download.
    init(_ request: DownloadRequest) {
        (limit, source, options) = (request.limits.maxRedirects, request.url, request.transfer)
    }

    /// `true` when a response with this status and `Location` redirects. An empty `Location` does not.
    static func redirects(status: Int, location: String?) -> Bool {
        [301, 302, 303, 307, 308].contains(status) && location?.isEmpty == false
    }

    /// The request that follows `outgoing` after a response with `status` and `location`.
    ///
    /// A body is never sent to another origin: like a header, it may be a secret.
    mutating func next(after outgoing: HTTPRequest, status: Int = 302, location: String) throws(ImageError)
        -> HTTPRequest
    {
        visited.insert(outgoing)
        let next = outgoing.redirected(status: status).following(
            to: try outgoing.url.following(location, naming: source))
        if options.redirect == .none || options.redirect == .sameOrigin && next.url.origin != outgoing.url.origin {
            throw .redirectRefused(options.redirect, to: next.url.text, source: source)
        }
        if next.body != nil, next.url.origin != outgoing.url.origin {
            throw .forbiddenAddress(
                url: next.url.text,
                reason:
                    "It was redirected to there with status \(status), and the body of a request stays with its origin."
            )
        }
        guard count < limit else { throw .tooManyRedirects(limit, source: source) }
        guard !visited.contains(next) else { throw .redirectCircle(through: next.url.text, source: source) }
        count += 1
        return next
    }

    /// The `Location` with bytes beyond ASCII percent-encoded, as servers mean them.
    static func escaped(_ location: some Sequence<UInt8>) -> String {
        var text = ""
        for byte in location {
            if byte >= 0x80 {
                text += "%" + String(byte, radix: 16, uppercase: true)
            } else {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        return text
    }
}
