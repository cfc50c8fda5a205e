internal import ImageErrors
internal import Platform

extension ImageError {
    /// The head of an answer, or a line of it, is longer than anything honest.
    static func headersTooLong(source: String) -> ImageError {
        .limitExceeded(
            limit: "headerBytes",
            reason: "the headers are over \(Transfer.headerLimit) bytes, or one line of them over what libcurl reads",
            source: source)
    }

    /// A redirect that the option `redirect` does not want followed.
    static func redirectRefused(_ mode: RedirectMode, to url: String, source: String) -> ImageError {
        let rule = mode == .none ? "no redirect is to be followed" : "none to another origin is to be followed"
        return .limitExceeded(limit: "redirect", reason: "it redirects to \(url.excerpt), and \(rule)", source: source)
    }

    /// There are more redirects than wanted.
    static func tooManyRedirects(_ limit: Int, source: String) -> ImageError {
        .limitExceeded(limit: "maxRedirects", reason: "it redirects more than \(limit) times", source: source)
    }

    /// Redirects that come back to where they were: no limit helps.
    static func redirectCircle(through url: String, source: String) -> ImageError {
        .limitExceeded(limit: "maxRedirects", reason: "\(redirectsInCircle), through \(url.excerpt)", source: source)
    }
}
