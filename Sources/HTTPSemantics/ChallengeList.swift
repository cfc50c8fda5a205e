/// The challenges of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110, 11.6.1).
package struct ChallengeList: Sendable, Equatable {
    /// One authentication scheme with its parameters.
    package struct Challenge: Sendable, Equatable {
        /// The lower-case name of the scheme.
        package let scheme: String
        /// The parameters by lower-case names. The first of several with the same name counts.
        package var parameters: [String: String] = [:]
        package var realm: String? { parameters["realm"] }
    }

    package private(set) var challenges: [Challenge] = []

    /// Parses a field. Unreadable parts are left out.
    package init(_ text: String) {
        var rest = text[...]
        func skip(_ characters: String) { rest = rest.drop { characters.contains($0) } }
        func token() -> String {
            let token = rest.prefix { !" \t,=\"".contains($0) }
            rest = rest[token.endIndex...]
            return String(token)
        }
        while true {
            skip(" \t,")
            guard !rest.isEmpty else { return }
            let name = token()
            skip(" \t")
            if rest.first == "=" {
                skip("=")
                skip(" \t")
                let value = Self.value(&rest)
                // A parameter without a name, or before any challenge, is ignored.
                guard !challenges.isEmpty else { continue }
                challenges[challenges.count - 1].parameters.merge([name.lowercased(): value]) { first, _ in first }
            } else if !name.isEmpty {
                challenges.append(Challenge(scheme: name.lowercased()))
            } else {
                rest = rest.dropFirst()
            }
        }
    }

    private static func value(_ rest: inout Substring) -> String {
        guard rest.first == "\"" else {
            let value = rest.prefix { !" \t,".contains($0) }
            rest = rest[value.endIndex...]
            return String(value)
        }
        var value = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            value.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
        return value
    }

    /// The challenge to answer: that of the safest supported scheme, else the first.
    package var best: Challenge? {
        for scheme in ["digest", "basic", "bearer"] {
            if let found = challenges.first(where: { $0.scheme == scheme }) { return found }
        }
        return challenges.first
    }

    package func offers(_ scheme: String) -> Bool { challenges.contains { $0.scheme == scheme } }

    /// `true` when a user and password suffice, but not with the basic scheme.
    package var wantsDigest: Bool { offers("digest") && !offers("basic") }
}
