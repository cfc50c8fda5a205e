internal import ImageErrors
internal import Platform

extension ImageError {
    /// The error that the headers of a response, or one line of them, are too long.
    static func headersTooLong(source: String) -> ImageError {
        .limitExceeded(
            limit: "headerBytes",
            reason: "the headers are over \(Transfer.headerLimit) bytes, or one line of them over what libcurl reads",
            source: source)
    }

    /// The error that the option `redirect` forbids a redirect.
    static func redirectRefused(_ mode: RedirectMode, to url: String, source: String) -> ImageError {
        let rule = mode == .none ? "no redirect is to be followed" : "none to another origin is to be followed"
        return .limitExceeded(limit: "redirect", reason: "it redirects to \(url.excerpt), and \(rule)", source: source)
    }

    /// The error that there are more redirects than allowed.
    static func tooManyRedirects(_ limit: Int, source: String) -> ImageError {
        .limitExceeded(limit: "maxRedirects", reason: "it redirects more than \(limit) times", source: source)
    }

    /// The error that redirects lead back to an earlier URL. No limit helps then.
    static func redirectCircle(through url: String, source: String) -> ImageError {
        .limitExceeded(limit: "maxRedirects", reason: "\(redirectsInCircle), through \(url.excerpt)", source: source)
    }
}
