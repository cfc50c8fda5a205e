/// What of a request decides which of a server's answers it may be given: credentials, and what `Vary` may name.
struct HTTPScope: Sendable, Equatable {
    /// Header fields by their names in small letters.
    private var fields: [String: String] = [:]

    /// The scope of a request with such options.
    init(_ options: ImageOptions) {
        for (name, value) in options.headers { fields[name.lowercased()] = value }
        switch options.authorization {
        case .basic(let user, let password): fields["authorization"] = "basic \(user.utf8.count) \(user) \(password)"
        case .bearer(let token): fields["authorization"] = "bearer \(token)"
        case nil: break
        }
    }

    /// What names the user to the server; nil when nothing does.
    var credentials: String? {
        let parts = ["authorization", "cookie"].map { fields[$0] }
        return parts.allSatisfy { $0 == nil } ? nil : parts.map { $0 ?? "" }.joined(separator: "\n")
    }

    /// The values of the fields that `Vary` names, in its order.
    func values(of names: [String]) -> String {
        names.map { name in
            let value = fields[name] ?? ""
            return "\(name) \(value.utf8.count) \(value)"
        }.joined(separator: "\n")
    }

    /// Whether the client sends conditions of its own, which ours would contradict.
    var isConditional: Bool {
        ["if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "if-range", "range"].contains {
            fields[$0] != nil
        }
    }
}
