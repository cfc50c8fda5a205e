/// The address of a remote tier, as the setting `remote` gives it.
package struct RemoteURL: Sendable, Hashable {
    package enum Place: Sendable, Hashable {
        /// The URL that names of objects are added to, without credentials.
        case http(String)
        case s3(S3Location)
        case redis(host: String, port: Int, isSecure: Bool)
        /// The path of a Unix socket.
        case redisSocket(String)
    }

    /// The problem with a text, as the end of a sentence that begins with "must". It repeats nothing of the text, which may
    /// contain a password.
    package struct Problem: Error, Equatable {
        package let predicate: String
    }

    package let place: Place
    package private(set) var user: String?
    package private(set) var password: String?
    /// The number of the database of Redis.
    package private(set) var database = 0

    private static let forms =
        "must be a URL such as https://cache.example/images, s3://bucket/images?region=eu-west-1, rediss://cache.example:6379/0 or redis+unix:///run/redis.sock"

    package init(_ text: String) throws(Problem) {
        let forms = Problem(predicate: Self.forms)
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let sign = text.firstRange(of: "://") else {
            throw forms
        }
        let scheme = text[..<sign.lowerBound].lowercased()
        let rest = text[sign.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let (authority, path) = (rest[..<end], rest[end...])
        let at = authority.lastIndex(of: "@")
        let server = at.map { authority[authority.index(after: $0)...] } ?? authority
        let isSocket = ["redis+unix", "unix"].contains(scheme)
        // Perhaps the rest of a password that has a slash in it.
        if path.contains("@") {
            throw Problem(predicate: "must have its user and password percent-encoded, and @ behind the host as %40")
        }
        if path.contains("#") || path.contains("?") && scheme != "s3" && !isSocket {
            throw Problem(predicate: "must have neither a query nor a fragment")
        }
        let port = scheme == "s3" ? nil : try Self.port(of: server)
        switch scheme {
        case "s3": place = .s3(try S3Location(bucket: server, path))
        case "http", "https":
            guard !server.isEmpty, server.first != ":" else { throw forms }
            let plain = path.reversed().drop { $0 == "/" }.reversed()
            place = .http("\(scheme)://\(server)\(String(plain))")
        case "redis", "rediss":
            guard !server.isEmpty, server.first != ":" else { throw forms }
            let named = port.map { server.dropLast($0.length + 1) } ?? server
            place = .redis(
                host: String(named.filter { $0 != "[" && $0 != "]" }), port: port?.number ?? 6379,
                isSecure: scheme == "rediss")
            if path.count > 1 { database = try Self.database(path.dropFirst()) }
        case "redis+unix", "unix":
            let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            guard server.isEmpty, let encoded = parts.first, let path = Self.decoded(encoded),
                (2..<104).contains(path.utf8.count)
            else { throw forms }
            place = .redisSocket(path)
            if parts.count > 1 {
                guard parts[1].hasPrefix("db=") else { throw Problem(predicate: Self.databaseForm) }
                database = try Self.database(parts[1].dropFirst(3))
            }
        default: throw forms
        }
        guard let at else { return }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = Self.decoded(parts[0]), let password = Self.decoded(parts.count > 1 ? parts[1] : "") else {
            throw Problem(predicate: "must have its user and password percent-encoded")
        }
        if parts.count == 1, scheme.contains("redis") || isSocket {
            throw Problem(predicate: "must have a password beside the user, as in redis://user:password@host")
        }
        self.user = user.isEmpty ? nil : user
        self.password = parts.count > 1 ? password : nil
        if self.user == nil, scheme.hasPrefix("http") {
            throw Problem(
                predicate: "must have a user before the password, as in https://user:password@host, or a token")
        }
        if scheme == "s3", self.user == nil || password.isEmpty {
            throw Problem(
                predicate: "must have the ID of a key and its secret before @, with a colon between, or neither")
        }
    }

    /// The address without secrets.
    package var shown: String {
        switch place {
        case .http(let url): url
        case .s3(let place): place.shown
        case .redis(let host, let port, let isSecure):
            "\(isSecure ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)/\(database)"
        case .redisSocket(let path): "redis+unix://\(path)" + (database == 0 ? "" : "?db=\(database)")
        }
    }

    /// The number at the end of a server's name, and its length; `nil` when there is none.
    private static func port(of server: Substring) throws(Problem) -> (number: Int, length: Int)? {
        guard let colon = server.lastIndex(of: ":"), !server[colon...].contains("]") else { return nil }
        let digits = server[server.index(after: colon)...]
        guard let number = Int(digits), (1...65_535).contains(number),
            !server[..<colon].contains(":") || server.first == "["
        else { throw Problem(predicate: "must have a port from 1 to 65535") }
        return (number, digits.count)
    }

    private static let databaseForm =
        "must end in the number of a database of Redis: /0 after a host, ?db=0 after a socket"

    private static func database(_ text: Substring) throws(Problem) -> Int {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(text), number <= 65_535 else {
            throw Problem(predicate: databaseForm)
        }
        return number
    }

    /// The text with `%41` as `A`; `nil` when it is not well-formed, or has control characters then.
    static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.utf8.first != UInt8(ascii: "+"), let value = UInt8(digits, radix: 16),
                value >= 0x20, value != 0x7F
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
