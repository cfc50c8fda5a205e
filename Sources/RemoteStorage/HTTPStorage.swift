internal import HTTPSemantics

/// Objects on an HTTP server that takes GET, PUT and DELETE, such as nginx with its module for WebDAV.
struct HTTPStorage: RemoteStorage {
    private let base: String
    private let authorization: Authorization?
    private let client: HTTPClient

    let hasClaims = false

    /// - Parameters:
    ///   - base: The URL of the folder of all objects.
    ///   - url: The credentials: a user and a password, or a token in the place of the user.
    init(_ base: String, _ url: RemoteURL, _ client: HTTPClient) {
        (self.base, self.client) = (base, client)
        authorization = url.user.map { user in
            url.password.map { .basic(user: user, password: $0) } ?? .bearer(user)
        }
    }

    func get(_ name: String) async throws -> [UInt8]? {
        let answer = try await ask(.get, name)
        return switch answer.status {
        case 200: answer.body
        case 404, 410: nil
        default: throw answer.error(to: .get)
        }
    }

    func put(_ name: String, _ object: [UInt8], seconds: Int?) async throws {
        let answer = try await ask(.put, name, object)
        guard [200, 201, 202, 204].contains(answer.status) else { throw answer.error(to: .put) }
    }

    func remove(_ name: String) async throws {
        let answer = try await ask(.delete, name)
        guard [200, 202, 204, 404, 410].contains(answer.status) else { throw answer.error(to: .delete) }
    }

    func wallClock() async throws -> Int? {
        try await ask(.get, RemoteObject.name(of: ["probe"])).clock.map { $0 * 1_000_000_000 }
    }

    private func ask(_ method: RequestMethod, _ name: String, _ object: [UInt8]? = nil) async throws
        -> HTTPClient.Answer
    {
        try await client.answer(
            to: method, "\(base)/\(RemoteObject.path(of: name))",
            headers: method == .put ? ["Content-Type": "application/octet-stream"] : [:],
            authorization: authorization, body: object, followsRedirects: method == .get)
    }
}

extension RemoteObject {
    /// The path of an object: spread over folders, because some file systems are slow with many files in one.
    static func path(of name: String) -> String { "\(name.prefix(2))/\(name)" }
}

extension HTTPClient.Answer {
    /// The server's clock in seconds since 1970; `nil` when it tells none.
    var clock: Int? {
        guard let date = fields["date"].flatMap({ HTTPDate.seconds($0) }) else { return nil }
        // An answer out of a cache on the way has the time when it was made.
        return date + (fields["age"].flatMap { Int($0) }.map { min(max($0, 0), 1 << 31) } ?? 0)
    }

    /// The error of a status that is no success.
    func error(to method: RequestMethod) -> RemoteError {
        switch status {
        case 405 where method != .get, 501 where method != .get:
            .refused("status \(status), it takes no \(method.rawValue) (have it do so, or set remoteMode to read-only)")
        case 403 where method == .get: .refused("status 403, it forbids to read")
        case 403:
            .refused("status 403, it forbids \(method.rawValue) (have it allow that, or set remoteMode to read-only)")
        case 409: .refused("status 409, it does not make folders (create_full_put_path of nginx)")
        case 413:
            .refused("status 413, the object is too large for it (client_max_body_size of nginx, or remoteMaxBytes)")
        case 507: .refused("status 507, it is full")
        case 429: .failed("status 429, it gets too many requests")
        case 500...: .failed("status \(status)")
        case 200..<300 where method == .get: .malformed
        default: .refused("status \(status)")
        }
    }
}
