internal import HTTPSemantics

/// The credentials of hosts in a netrc file, as curl reads it: words in any order of lines, in quotes or not.
struct NetrcFile: Sendable {
    private var logins: [(host: String?, user: String, password: String)] = []

    /// Reads a regular file; `nil` when there is none, or it is too large.
    init?(path: String) {
        guard let bytes = try? CredentialFile.bytes(path) else { return nil }
        self.init(String(decoding: bytes, as: UTF8.self))
    }

    init(_ text: String) {
        var words = Self.words(text)[...]
        while let word = words.popFirst() {
            switch word.lowercased() {
            case "machine": logins.append((words.popFirst()?.lowercased() ?? "", "", ""))
            case "default": logins.append((nil, "", ""))
            case "login": if let word = words.popFirst(), !logins.isEmpty { logins[logins.count - 1].user = word }
            case "password":
                if let word = words.popFirst(), !logins.isEmpty { logins[logins.count - 1].password = word }
            case "account": _ = words.popFirst()
            default: break
            }
        }
    }

    /// The credentials for the host of a URL; `nil` when there are none.
    func authorization(for url: String) -> Authorization? {
        guard let host = URLOrigin.host(of: url) else { return nil }
        let bare = host.filter { $0 != "[" && $0 != "]" }
        guard let login = logins.first(where: { $0.host.map { $0 == host || $0 == bare } ?? true }),
            !login.user.isEmpty || !login.password.isEmpty
        else { return nil }
        return .basic(user: login.user, password: login.password)
    }

    /// The words without comments and macros, which end at an empty line.
    private static func words(_ text: String) -> [String] {
        var words: [String] = []
        var isInMacro = false
        for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
            if isInMacro {
                isInMacro = !line.allSatisfy(\.isWhitespace)
                continue
            }
            var rest = line.drop(while: \.isWhitespace)
            while !rest.isEmpty, rest.first != "#" {
                let word = takeWord(&rest)
                isInMacro = word.lowercased() == "macdef"
                if isInMacro { break }
                words.append(word)
                rest = rest.drop(while: \.isWhitespace)
            }
        }
        return words
    }

    private static func takeWord(_ rest: inout Substring) -> String {
        let isQuoted = rest.first == "\""
        if isQuoted { rest.removeFirst() }
        var word = ""
        while let character = rest.popFirst() {
            if isQuoted ? character == "\"" : character.isWhitespace { break }
            guard character == "\\", isQuoted, let next = rest.popFirst() else {
                word.append(character)
                continue
            }
            word.append(["n": "\n", "r": "\r", "t": "\t"][next] ?? next)
        }
        return word
    }
}
