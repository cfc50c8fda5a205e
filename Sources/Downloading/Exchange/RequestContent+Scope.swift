package import HTTPSemantics
internal import Platform

extension RequestContent {
    /// The content for `url` instead of `original`: credentials are limited to the origin that they were given for,
    /// method and body to the URL.
    package func scoped(from original: String, to url: String) -> RequestContent {
        if ExactText(original) == ExactText(url) { return self }
        var content = self
        (content.method, content.body) = (.get, nil)
        if WebURL.haveSameOrigin(original, url) { return content }
        content.authorization = nil
        content.headers = headers.filter { name, _ in Self.crossesOrigins(name) }
        return content
    }
}

extension WebURL {
    /// `true` when the requests for both URLs go to one origin. `false` for what is no http or https URL.
    static func haveSameOrigin(_ one: String, _ other: String) -> Bool {
        guard let one = try? WebURL(one), let other = try? WebURL(other) else { return false }
        return one.origin == other.origin
    }
}
