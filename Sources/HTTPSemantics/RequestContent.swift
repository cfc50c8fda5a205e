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

    /// The header fields in a fixed order.
    package var sortedHeaders: [(name: String, value: String)] {
        headers.map { (name: $0.key, value: $0.value) }
            .sorted { ($0.name.asciiLowercased, $0.value) < ($1.name.asciiLowercased, $1.value) }
    }

    /// The credentials and the header fields as texts that are unique to them.
    package var texts: [String] {
        let first =
            switch authorization {
            case .basic(let user, let password): ["basic", user, password]
            case .bearer(let token): ["bearer", token]
            case nil: ["none"]
            }
        return first + sortedHeaders.flatMap { [$0.name.asciiLowercased, $0.value] }
    }

    /// `true` when a header field may be sent to another origin: only fields that say nothing about the user. Any other
    /// field may be a secret, whatever its name.
    package static func crossesOrigins(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("accept")
            || ["user-agent", "referer", "range", "if-range", "cache-control"].contains(name)
    }
}

/// The HTTP method of a request (RFC 9110, 9.3).
public enum RequestMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    /// Not one that callers choose.
    case delete = "DELETE"

    /// The methods that callers may choose.
    public static let allCases: [RequestMethod] = [.get, .post, .put]
}

/// The credentials of a request.
public enum Authorization: Hashable, Sendable {
    /// A user name and a password (RFC 7617).
    case basic(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(String)

    /// A text that is unique to these credentials.
    package var scopeText: String {
        switch self {
        case .basic(let user, let password): "basic \(user.utf8.count) \(user) \(password)"
        case .bearer(let token): "bearer \(token)"
        }
    }
}

/// The user of a request, whose stored images are kept apart from those of others.
public enum RequestUser: Hashable, Sendable {
    /// The one that the credentials identify.
    case credentials
    /// One with a name that outlasts the credentials.
    case named(String)
    /// All users together: the credentials identify none.
    case anyone
}
