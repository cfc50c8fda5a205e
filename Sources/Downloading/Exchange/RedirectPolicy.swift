internal import ImageErrors
internal import Platform

/// Which redirects are followed (C-15).
public enum RedirectMode: String, Sendable, Hashable, CaseIterable {
    /// Those to any http or https URL.
    case follow
    /// Those that stay with their scheme, host and port.
    case sameOrigin = "same-origin"
    /// None.
    case none
}

/// Decides about each redirect of a download: a plain value.
///
/// Only http and https, so many and no more, and never the same request twice, for the answer would be the same. From
/// https to http is allowed, because credentials never go along: that is another origin.
struct RedirectPolicy: Sendable {
    /// How many redirects are followed.
    let limit: Int
    /// What errors name.
    let source: String
    /// Which are followed.
    let mode: RedirectMode
    /// How many have been followed.
    private(set) var count = 0
    private var visited: Set<HTTPRequest> = []

    /// A policy for a download of `source`.
    init(limit: Int, source: String, mode: RedirectMode = .follow) {
        self.limit = limit
        self.source = source
        self.mode = mode
    }

    /// Whether an answer with this status and `Location` redirects. An empty one leads nowhere.
    static func redirects(status: Int, location: String?) -> Bool {
        [301, 302, 303, 307, 308].contains(status) && location?.isEmpty == false
    }

    /// The request that follows `outgoing` when that was answered with `status` and `location`.
    ///
    /// A body goes to no other origin: it may be a secret, as a header may.
    mutating func next(after outgoing: HTTPRequest, status: Int = 302, location: String) throws(ImageError)
        -> HTTPRequest
    {
        visited.insert(outgoing)
        let next = outgoing.redirected(status: status).following(
            to: try outgoing.url.following(location, naming: source))
        if mode == .none || mode == .sameOrigin && next.url.origin != outgoing.url.origin {
            throw .redirectRefused(mode, to: next.url.text, source: source)
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

    /// A `Location` with every byte beyond ASCII written as servers mean it.
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
