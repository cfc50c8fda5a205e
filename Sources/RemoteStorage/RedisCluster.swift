internal import Downloading
internal import Synchronization

/// The nodes of a cluster that redirects have led to, and the slots that are known to be there. A server alone has none.
final class RedisCluster: Sendable {
    /// The two connections to a node. Reads and claims do not wait behind objects that are being written.
    struct Node: Sendable {
        let reading: RedisConnection
        let writing: RedisConnection

        func connection(isWriting: Bool) -> RedisConnection { isWriting ? writing : reading }
    }

    /// An answer that names another node.
    struct Redirect: Sendable, Equatable {
        let slot: Int
        let host: String
        let port: Int
        /// `true` when only this one command goes there.
        let isAsk: Bool
    }

    /// The most nodes; when there are more they are all forgotten.
    static let mostNodes = 128
    private static let slots = 16_384

    private struct State: Sendable {
        var nodes: [RemoteURL.Place: Node] = [:]
        var slots: [Int: RemoteURL.Place] = [:]
    }

    /// The node that the settings name.
    let first: Node
    private let make: @Sendable (RemoteURL.Place) -> Node
    private let place: RemoteURL.Place
    private let state = Mutex(State())

    init(_ place: RemoteURL.Place, make: @escaping @Sendable (RemoteURL.Place) -> Node) {
        (self.place, self.make, first) = (place, make, make(place))
    }

    /// When a node last sent something that is read.
    var lastReceived: Int? {
        let nodes = state.withLock { Array($0.nodes.values) } + [first]
        return nodes.compactMap(\.reading.lastReceived).max()
    }

    /// The number of nodes that redirects have led to.
    var nodeCount: Int { state.withLock { $0.nodes.count } }

    /// The node that is known to have a key, or the first one, which knows.
    func node(of key: [UInt8]) -> (node: Node, place: RemoteURL.Place) {
        let known = state.withLock { state -> (Node, RemoteURL.Place)? in
            guard !state.slots.isEmpty, let place = state.slots[Self.slot(of: key)] else { return nil }
            return state.nodes[place].map { ($0, place) }
        }
        return known ?? (first, place)
    }

    /// The node that a redirect leads to.
    ///
    /// - Parameter origin: The node that has answered so.
    func node(of redirect: Redirect, from origin: RemoteURL.Place) -> (node: Node, place: RemoteURL.Place) {
        var (host, isSecure) = (redirect.host, false)
        if case .redis(let own, _, let ownSecure) = origin {
            isSecure = ownSecure
            // A node that does not know its own name leaves it out.
            if host.isEmpty { host = own }
        }
        let place = RemoteURL.Place.redis(host: host, port: redirect.port, isSecure: isSecure)
        return state.withLock { state in
            if state.nodes.count >= Self.mostNodes, state.nodes[place] == nil { state = State() }
            let node = place == self.place ? first : state.nodes[place] ?? make(place)
            state.nodes[place] = node
            if !redirect.isAsk { state.slots[redirect.slot] = place }
            return (node, place)
        }
    }

    /// Forgets what a node has, because it does not answer: another one may have it now, as the first node knows.
    func forget(_ place: RemoteURL.Place) {
        state.withLock { state in
            if !state.slots.isEmpty { state.slots = state.slots.filter { $0.value != place } }
        }
    }

    /// The slot of a key without braces: its CRC-16 (XMODEM), modulo their number.
    static func slot(of key: [UInt8]) -> Int {
        let sum = key.reduce(into: UInt16(0)) { sum, byte in
            sum ^= UInt16(byte) << 8
            for _ in 0..<8 { sum = sum & 0x8000 == 0 ? sum << 1 : sum << 1 ^ 0x1021 }
        }
        return Int(sum) % slots
    }
}

extension RedisCluster.Redirect {
    /// Reads an error such as `MOVED 3999 127.0.0.1:6381`; `nil` when it is another.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 3, words[0] == "MOVED" || words[0] == "ASK", let slot = Int(words[1]),
            let colon = words[2].lastIndex(of: ":"), let port = Int(words[2][words[2].index(after: colon)...]),
            (1...65_535).contains(port), words[2].utf8.count < 300
        else { return nil }
        self.init(slot: slot, host: String(words[2][..<colon]), port: port, isAsk: words[0] == "ASK")
    }
}
