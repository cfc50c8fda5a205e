internal import Platform

/// The challenges of a `WWW-Authenticate` or `Proxy-Authenticate` field (RFC 9110, 11.6.1).
package struct ChallengeList: Sendable, Equatable {
    /// One way to log in.
    package struct Challenge: Sendable, Equatable {
        /// In small letters.
        package let scheme: String
        /// What it says, by names in small letters; of several of one name the first.
        package var parameters: [String: String] = [:]
        /// What the credentials are for.
        package var realm: String? { parameters["realm"] }
    }

    package private(set) var challenges: [Challenge] = []

    /// Reads a field; what it cannot read it leaves out.
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
                // `=` without a name or a challenge before it belongs to nobody.
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

    /// The one to answer: the safest that we know, else the first.
    package var best: Challenge? {
        for scheme in ["digest", "basic", "bearer"] {
            if let found = challenges.first(where: { $0.scheme == scheme }) { return found }
        }
        return challenges.first
    }

    /// Whether a scheme is offered.
    package func offers(_ scheme: String) -> Bool { challenges.contains { $0.scheme == scheme } }

    /// Whether a user and password will do, but not in the usual way.
    package var wantsDigest: Bool { offers("digest") && !offers("basic") }
}
