internal import Platform

/// What of a request decides which of a server's answers it may be given: credentials, and what `Vary` may name.
package struct HTTPScope: Sendable, Equatable {
    /// Header fields by their names in small letters.
    private var fields: [String: String] = [:]
    /// Credentials that were given besides, to a challenge or from a netrc file; see ``Logins``.
    package var login: String?
    /// What is asked for and with which body; nil for a GET.
    let demand: String?
    /// What goes with the request when its options do not name it.
    private let added: AddedFields?

    /// The scope of a request.
    ///
    /// - Parameters:
    ///   - credentials: The user and password in the URL; they count when the request has no credentials of its own.
    ///   - login: Credentials that the configuration, a redirect or the answer to a challenge adds.
    ///   - added: The header fields that are sent when the request does not name them.
    package init(
        _ request: RequestContent = RequestContent(), credentials: Authorization? = nil, login: String? = nil,
        added: AddedFields? = nil
    ) {
        self.login = login
        self.added = added
        demand =
            request.method == .get
            ? nil : "\(request.method.rawValue) \((request.body ?? []).withUnsafeBytes { Digest(of: $0) }.hex)"
        for (name, value) in request.headers { fields[name.lowercased()] = value }
        if let authorization = request.authorization ?? credentials {
            fields["authorization"] = authorization.scopeText
        }
    }

    /// What names the user to the server; nil when nothing does.
    package var credentials: String? {
        let usual = ["authorization", "cookie"]
        var parts = usual.map { fields[$0] ?? "" }
        for name in fields.keys.sorted() where !usual.contains(name) && Self.isSecret(name) {
            parts.append("\(name) \(fields[name] ?? "")")
        }
        if let login { parts.append("login \(login)") }
        return parts.allSatisfy(\.isEmpty) && fields["authorization"] == nil && fields["cookie"] == nil
            ? nil : parts.joined(separator: "\n")
    }

    /// Whether a header field of that name, in small letters, is there to name a user.
    private static func isSecret(_ name: String) -> Bool {
        ["auth", "cookie", "token", "key", "secret", "session", "credential", "password"].contains { name.contains($0) }
    }

    /// The values of the fields that `Vary` names, in its order.
    package func values(of names: [String]) -> String {
        names.map { name in
            let sent = fields[name] ?? added?[name]
            // One that is empty is another than none (RFC 9111, 4.1).
            if sent?.isEmpty == true { return "\(name) empty" }
            let value = sent ?? ""
            return "\(name) \(value.utf8.count) \(value)"
        }.joined(separator: "\n")
    }

    /// Whether the client sends conditions of its own, which ours would contradict.
    package var isConditional: Bool {
        ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"].contains {
            fields[$0] != nil
        }
    }
}
