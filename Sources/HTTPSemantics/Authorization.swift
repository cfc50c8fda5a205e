internal import Platform

/// The credentials of a request.
public enum Authorization: Hashable, Sendable {
    /// A user name and a password (RFC 7617).
    case basic(user: String, password: String)
    /// A token (RFC 6750).
    case bearer(String)
}

extension Authorization {
    /// A text that is unique to these credentials.
    package var scopeText: String {
        switch self {
        case .basic(let user, let password): "basic \(user.utf8.count) \(user) \(password)"
        case .bearer(let token): "bearer \(token)"
        }
    }
}
