internal import Platform

/// The part of a request that a caller chooses: method, header fields, body and credentials.
public struct RequestContent: Hashable, Sendable {
    /// The longest ``body``, in bytes.
    public static let bodyLimit = 1 << 20

    /// The method.
    public var method = RequestMethod.get
    /// The header fields.
    public var headers: [String: String] = [:]
    /// The body, unless ``method`` is GET; at most ``bodyLimit`` bytes.
    public var body: [UInt8]?
    /// The credentials, sent to the origin of the URL only.
    public var authorization: Authorization?

    /// A GET without header fields.
    public init() {}

    /// The content for `url` instead of `original`: credentials are limited to the origin that they were given for,
    /// method and body to the URL.
    package func scoped(from original: String, to url: String) -> RequestContent {
        if ExactText(original) == ExactText(url) { return self }
        var content = self
        (content.method, content.body) = (.get, nil)
        guard URLOrigin(original) != URLOrigin(url) else { return content }
        content.authorization = nil
        content.headers = headers.filter { name, _ in Self.crossesOrigins(name) }
        return content
    }

    /// `true` when a header field may be sent to another origin: only fields that say nothing about the user. Any other
    /// field may be a secret, whatever its name.
    package static func crossesOrigins(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("accept")
            || ["user-agent", "referer", "range", "if-range", "cache-control"].contains(name)
    }
}
