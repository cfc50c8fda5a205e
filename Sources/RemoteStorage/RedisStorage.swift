internal import Downloading
internal import Platform

/// Objects in Redis or Valkey, alone or in a cluster, whose redirects are followed.
///
/// Two processes with different limits may share a server, so an object is read with `GETRANGE`, which ends after one byte
/// more than may be read.
struct RedisStorage: RemoteStorage {
    private static let prefix = "halcyon:"
    /// Ends a claim unless it is another machine's by now.
    private static let release =
        "if redis.call('get',KEYS[1])==ARGV[1] then return redis.call('del',KEYS[1]) end return 0"
    /// The longest time that an object or a claim is kept, in seconds: ten years.
    private static let longest = 315_360_000
    /// A server that owes a reply is given up after so many times the limit of an operation.
    private static let patience = (reading: 2.0, writing: 10.0)
    /// The most redirects that are followed: a node may name the one of before, which names the one that a slot moves to.
    private static let mostRedirects = 5

    private let cluster: RedisCluster
    private let most: Int

    let hasClaims = true

    var lastReceived: Int? { cluster.lastReceived }

    /// - Parameters:
    ///   - maxBytes: The largest image.
    ///   - connectSeconds: The longest time to connect.
    ///   - timeout: The longest time for which a request waits.
    init(_ url: RemoteURL, tls: TLSSettings, maxBytes: Int, connectSeconds: Double, timeout: Double) {
        let most = maxBytes + RemoteObject.overhead
        self.most = most
        cluster = RedisCluster(url.place) { place in
            func connection(_ patience: Double) -> RedisConnection {
                RedisConnection(
                    RedisConnection.Settings(
                        place: place, user: url.user, password: url.password, database: url.database, tls: tls,
                        maxBytes: most + 1, connectSeconds: connectSeconds, silenceSeconds: patience * timeout))
            }
            return RedisCluster.Node(
                reading: connection(Self.patience.reading), writing: connection(Self.patience.writing))
        }
    }

    func get(_ name: String) async throws -> [UInt8]? {
        switch try await ask("GETRANGE", name, [Array("0".utf8), Array("\(most)".utf8)]) {
        // No object is empty.
        case .bytes(let bytes): return bytes.isEmpty || bytes.count > most ? nil : bytes
        default: throw RemoteError.malformed
        }
    }

    func put(_ name: String, _ object: [UInt8], seconds: Int?) async throws {
        let life = seconds.map { [Array("PX".utf8), Self.milliseconds($0)] } ?? []
        guard case .status = try await ask("SET", name, [object] + life, isWriting: true) else {
            throw RemoteError.malformed
        }
    }

    func remove(_ name: String) async throws {
        guard case .integer = try await ask("DEL", name, []) else { throw RemoteError.malformed }
    }

    func claim(_ name: String, seconds: Int) async throws -> String? {
        let token =
            String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
        let words = [Array(token.utf8), Array("NX".utf8), Array("PX".utf8), Self.milliseconds(seconds)]
        do {
            switch try await ask("SET", name, words, isRepeatable: false) {
            case .status: return token
            case .null: return nil
            default: throw RemoteError.malformed
            }
        } catch let error as RemoteError where error.isRefusal {
            throw error
        } catch {
            // It may yet be carried out, and nobody would end it.
            cluster.node(of: key(name)).node.reading.send(
                RedisCommand(releasing(name, token), isRepeatable: false))
            throw error
        }
    }

    func endClaim(_ name: String, token: String) async throws {
        let reply = try await ask(releasing(name, token), key: key(name))
        guard case .integer = reply else { throw RemoteError.malformed }
    }

    func wallClock() async throws -> Int? {
        let reply = try await cluster.first.reading.answer(to: [Array("TIME".utf8)], isRepeatable: true)
        if case .error(let text) = reply { throw RemoteError.redis(text) }
        guard case .array(let parts) = reply, parts.count == 2, case .bytes(let seconds) = parts[0],
            case .bytes(let microseconds) = parts[1], let seconds = Int(String(decoding: seconds, as: UTF8.self)),
            let microseconds = Int(String(decoding: microseconds, as: UTF8.self)),
            (0..<1_000_000).contains(microseconds), (0..<Int.max / 1_000_000_000).contains(seconds)
        else { throw RemoteError.malformed }
        return seconds * 1_000_000_000 + microseconds * 1000
    }

    // MARK: Commands

    private func key(_ name: String) -> [UInt8] { Array((Self.prefix + name).utf8) }

    private func releasing(_ name: String, _ token: String) -> [[UInt8]] {
        [Array("EVAL".utf8), Array(Self.release.utf8), Array("1".utf8), key(name), Array(token.utf8)]
    }

    private static func milliseconds(_ seconds: Int) -> [UInt8] {
        Array("\(max(1, min(seconds, longest)) * 1000)".utf8)
    }

    private func ask(
        _ command: String, _ name: String, _ words: [[UInt8]], isWriting: Bool = false, isRepeatable: Bool = true
    ) async throws -> RESPValue {
        let key = key(name)
        return try await ask(
            [Array(command.utf8), key] + words, key: key, isWriting: isWriting, isRepeatable: isRepeatable)
    }

    /// The reply to a command, from the node that has the key.
    private func ask(
        _ words: [[UInt8]], key: [UInt8], isWriting: Bool = false, isRepeatable: Bool = true
    ) async throws -> RESPValue {
        var (node, place) = cluster.node(of: key)
        var (redirects, isAsking) = (0, false)
        while true {
            let reply = try await answer(
                from: node.connection(isWriting: isWriting), at: place, words, isRepeatable, isAsking: isAsking)
            guard case .error(let text) = reply else { return reply }
            guard redirects < Self.mostRedirects, let redirect = RedisCluster.Redirect(text) else {
                throw RemoteError.redis(text)
            }
            redirects += 1
            (node, place) = cluster.node(of: redirect, from: place)
            isAsking = redirect.isAsk
        }
    }

    private func answer(
        from connection: RedisConnection, at place: RemoteURL.Place, _ words: [[UInt8]], _ isRepeatable: Bool,
        isAsking: Bool
    ) async throws -> RESPValue {
        do {
            return try await connection.answer(to: words, isRepeatable: isRepeatable, isAsking: isAsking)
        } catch {
            if error is RemoteError { cluster.forget(place) }
            throw error
        }
    }
}

extension RemoteError {
    /// `true` for an answer of the engine that nothing was carried out.
    fileprivate var isRefusal: Bool {
        switch self {
        case .refused, .rearranging: true
        default: false
        }
    }
}
