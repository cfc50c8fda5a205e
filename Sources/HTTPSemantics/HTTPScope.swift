internal import Platform

/// The properties of a request that decide which stored response may answer it: credentials, method, body, and the
/// header fields that `Vary` may name.
package struct HTTPScope: Sendable, Equatable {
    private var fields: [String: String] = [:]
    private let user: RequestUser
    /// Credentials from the answer to a challenge, from a redirect, a netrc file or a rule; see `Logins` of the engine.
    package var login: String?
    /// The method and a digest of the body. `nil`: a GET.
    package let demand: String?
    /// The fields that are sent when the request does not name them, by lower-case names.
    private let added: [String: String]

    /// Creates the scope of a request.
    ///
    /// - Parameters:
    ///   - credentials: The user and password of the URL, used when the request has no credentials of its own.
    ///   - login: Credentials that the configuration, a redirect or the answer to a challenge adds.
    ///   - added: The header fields that are sent when the request does not name them, by lower-case names.
    ///   - user: The name of the user.
    package init(
        _ request: RequestContent = RequestContent(), credentials: Authorization? = nil, login: String? = nil,
        added: [String: String] = [:], as user: RequestUser = .credentials
    ) {
        self.login = login
        self.user = user
        self.added = added
        demand =
            request.method == .get
            ? nil : "\(request.method.rawValue) \((request.body ?? []).withUnsafeBytes { Digest(of: $0) }.hex)"
        for (name, value) in request.headers { fields[name.lowercased()] = value }
        if let authorization = request.authorization ?? credentials {
            fields["authorization"] = authorization.scopeText
        }
    }

    /// The text that identifies the user to the server. `nil`: nothing does.
    package var credentials: String? {
        switch user {
        case .credentials: sentCredentials
        case .named(let name): "user \(name)"
        case .anyone: nil
        }
    }

    private var sentCredentials: String? {
        let usual = ["authorization", "cookie"]
        var parts = usual.map { fields[$0] ?? "" }
        for name in fields.keys.sorted() where !usual.contains(name) && Self.isSecret(name) {
            parts.append("\(name) \(fields[name] ?? "")")
        }
        if let login { parts.append("login \(login)") }
        return parts.allSatisfy(\.isEmpty) && fields["authorization"] == nil && fields["cookie"] == nil
            ? nil : parts.joined(separator: "\n")
    }

    /// `true` for a header field, by its lower-case name, that usually identifies a user.
    private static func isSecret(_ name: String) -> Bool {
        ["auth", "cookie", "token", "key", "secret", "session", "credential", "password"].contains { name.contains($0) }
    }

    /// The values of the header fields that `Vary` names, in the order of the names.
    package func values(of names: [String]) -> String {
        names.map { name in
            // The name of the user stands for whatever token the user has at the moment.
            if case .named(let user) = user, Self.isSecret(name) { return "\(name) user \(user)" }
            let sent = fields[name] ?? added[name]
            // An empty field differs from an absent one (RFC 9111, 4.1).
            if sent?.isEmpty == true { return "\(name) empty" }
            let value = sent ?? ""
            return "\(name) \(value.utf8.count) \(value)"
        }.joined(separator: "\n")
    }

    /// `true` when the request carries conditions of the client, which those of the cache would contradict.
    package var isConditional: Bool {
        ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"].contains {
            fields[$0] != nil
        }
    }
}
