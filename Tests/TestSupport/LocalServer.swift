import CTestSupport
import Foundation
import Glibc
import Platform
import Synchronization

/// What the server answers to one request, piece by piece.
public struct Script: Sendable {
    enum Step: Sendable {
        case send([UInt8])
        case wait(Gate)
        case open(Gate)
        case close
        case reset
        case endless([UInt8])
        case drip([UInt8])

        /// Whether it takes as long as it likes.
        var waits: Bool {
            switch self {
            case .wait, .endless, .drip: true
            case .send, .open, .close, .reset: false
            }
        }
    }

    var steps: [Step] = []

    /// Sends bytes as they are.
    public func raw(_ text: String) -> Script { adding(.send(Array(text.utf8))) }
    /// Sends bytes as they are.
    public func raw(_ bytes: [UInt8]) -> Script { adding(.send(bytes)) }
    /// Goes on only when the gate is open.
    public func waiting(for gate: Gate) -> Script { adding(.wait(gate)) }
    /// Opens a gate, for the test to know how far it is.
    public func opening(_ gate: Gate) -> Script { adding(.open(gate)) }
    /// Closes the connection.
    public func closing() -> Script { adding(.close) }
    /// Sends the same bytes again and again until the client goes away.
    public func endlessly(_ text: String) -> Script { adding(.endless(Array(text.utf8))) }
    /// Sends the same bytes again and again until the client goes away.
    public func endlessly(_ bytes: [UInt8]) -> Script { adding(.endless(bytes)) }
    /// Sends the bytes one by one, and again from the first, until the client goes away.
    public func dripping(_ bytes: [UInt8]) -> Script { adding(.drip(bytes)) }
    /// Goes on with another script.
    public func followed(by next: Script) -> Script { next.steps.reduce(self) { $0.adding($1) } }
    /// Breaks the connection with a reset.
    public func resetting() -> Script { adding(.reset) }

    private func adding(_ step: Step) -> Script {
        var script = self
        if case .send(let more) = step, case .send(let bytes)? = steps.last {
            // In one piece: what comes together is not to be torn apart by chance.
            script.steps[steps.count - 1] = .send(bytes + more)
        } else {
            script.steps.append(step)
        }
        return script
    }

    /// Nothing yet.
    public static let empty = Script()

    /// A head alone.
    public static func head(_ status: Int, _ headers: [String: String] = [:], length: Int?) -> Script {
        var text = "HTTP/1.1 \(status) Scripted\r\n"
        if let length { text += "Content-Length: \(length)\r\n" }
        for (name, value) in headers.sorted(by: { $0.key < $1.key }) { text += "\(name): \(value)\r\n" }
        return empty.raw(text + "\r\n")
    }

    /// A whole answer.
    public static func reply(_ status: Int = 200, _ headers: [String: String] = [:], _ body: [UInt8]) -> Script {
        head(status, headers, length: body.count).raw(body)
    }

    /// A redirect.
    public static func redirect(to location: String, status: Int = 302) -> Script {
        reply(status, ["Location": location], [])
    }
}

/// A real HTTP/1.1 server on loopback whose answers are scripted; gates hold and release them, nothing sleeps.
public final class LocalServer: Sendable {
    /// One request as it arrived.
    public struct Request: Sendable {
        /// The method.
        public var method = "GET"
        /// What the request brought along.
        public var body: [UInt8] = []
        /// The path with its query.
        public let path: String
        /// Header fields, names in lower case.
        public let headers: [String: String]
    }

    private struct State {
        var requests: [Request] = []
        var open = 0
        /// The connections whose requests are being answered.
        var active: Set<Int32> = []
        var mostActive = 0
        var dropped = 0
        var connections = 0
        var isStopped = false
    }

    /// The port, chosen by the system.
    public let port: UInt16
    private let host: UInt8
    private let listener: Int32
    private let greeting: Script?
    private let answer: @Sendable (Request) -> Script
    private let state = Mutex(State())

    /// Starts a server that asks `answer` for each request.
    ///
    /// - Parameters:
    ///   - host: The last number of its address in 127.0.0.0/24; all addresses of this machine when 0.
    ///   - wanted: The port; any when 0.
    ///   - greeting: Said on each connection before anything is asked; nothing is read then.
    public init(
        host: UInt8 = 1, port wanted: UInt16 = 0, greeting: Script? = nil,
        _ answer: @escaping @Sendable (Request) -> Script
    ) throws {
        self.answer = answer
        self.greeting = greeting
        self.host = host
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = host == 0 ? 0 : (0x7F00_0000 | UInt32(host)).bigEndian
        address.sin_port = wanted.bigEndian
        var one: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, 4)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 1024) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        guard isBound else { throw PatienceExhausted(description: "no port could be had") }
        port = UInt16(bigEndian: address.sin_port)
        startThread { [self] in accept() }
    }

    /// Starts a server with an answer for each path; others are 404.
    public convenience init(routes: [String: Script]) throws {
        try self.init { request in
            let path = request.path.split(separator: "?").first.map(String.init) ?? request.path
            return routes[path] ?? .reply(404, ["Content-Type": "text/plain"], Array("nothing here".utf8))
        }
    }

    /// Starts a server for the files of the corpus.
    public static func fixtures() throws -> LocalServer {
        try LocalServer { request in
            if request.path.hasPrefix("/status/"), let status = Int(request.path.dropFirst(8)) {
                return .reply(status, ["Content-Type": "text/plain"], Array("status \(status)".utf8))
            }
            if request.path == "/html" {
                return .reply(200, ["Content-Type": "text/html"], Array("<html><body>hello</body></html>".utf8))
            }
            guard !request.path.contains(".."), let bytes = try? Fixtures.bytes(String(request.path.dropFirst())) else {
                return .reply(404, ["Content-Type": "text/plain"], Array("nothing here".utf8))
            }
            return .reply(200, [:], bytes)
        }
    }

    deinit { close(listener) }

    /// Stops listening; connections end by themselves.
    public func stop() {
        state.withLock { $0.isStopped = true }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// The URL of a path.
    public func url(_ path: String) -> String { "http://127.0.0.\(max(host, 1)):\(port)\(path)" }

    /// How many requests came for a path.
    public func requestCount(_ path: String) -> Int { state.withLock { $0.requests.count { $0.path == path } } }
    /// Every request so far.
    public var requests: [Request] { state.withLock { $0.requests } }
    /// How many connections were made.
    public var connectionCount: Int { state.withLock { $0.connections } }
    /// How many connections are open.
    public var openCount: Int { state.withLock { $0.open } }
    /// The most requests that were being answered at one time.
    public var mostActive: Int { state.withLock { $0.mostActive } }
    /// How many clients went away before their answer was whole.
    public var droppedCount: Int { state.withLock { $0.dropped } }

    private func accept() {
        while true {
            let client = hl_accept(listener)
            if client < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                return
            }
            state.withLock { state in
                state.connections += 1
                state.open += 1
            }
            startThread { [self] in converse(client) }
        }
    }

    private func converse(_ client: Int32) {
        defer {
            close(client)
            state.withLock { $0.open -= 1 }
        }
        if let greeting {
            _ = play(greeting, on: client)
            return
        }
        var buffer: [UInt8] = []
        while let request = read(client, &buffer) {
            state.withLock { state in
                state.requests.append(request)
                state.active.insert(client)
                state.mostActive = max(state.mostActive, state.active.count { !hasLeft($0, within: 0) })
            }
            let isKept = play(answer(request), on: client)
            end(client)
            if !isKept { return }
        }
    }

    /// Notes that a request is answered.
    private func end(_ client: Int32) { state.withLock { _ = $0.active.remove(client) } }

    private func read(_ client: Int32, _ buffer: inout [UInt8]) -> Request? {
        let end = Array("\r\n\r\n".utf8)
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            if let range = buffer.firstRange(of: end) {
                let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer.removeSubrange(..<range.upperBound)
                let lines = head.components(separatedBy: "\r\n")
                let words = lines[0].split(separator: " ").map(String.init)
                let path = words.dropFirst().first ?? ""
                var headers: [String: String] = [:]
                for line in lines.dropFirst() {
                    guard let colon = line.firstIndex(of: ":") else { continue }
                    let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                    headers[line[..<colon].lowercased()] = value
                }
                let length = headers["content-length"].flatMap { Int($0) } ?? 0
                while buffer.count < length {
                    let count = recv(client, &piece, piece.count, 0)
                    guard count > 0 else { return nil }
                    buffer += piece[..<count]
                }
                let body = Array(buffer.prefix(length))
                buffer.removeFirst(length)
                return Request(method: words.first ?? "", body: body, path: path, headers: headers)
            }
            let count = recv(client, &piece, piece.count, 0)
            guard count > 0 else { return nil }
            buffer += piece[..<count]
        }
    }

    private func play(_ script: Script, on client: Int32) -> Bool {
        for (index, step) in script.steps.enumerated() {
            // Once the client has the last piece it may begin the next request anywhere.
            if index == script.steps.count - 1, !step.waits { end(client) }
            switch step {
            case .send(let bytes): if !transmit(bytes, to: client) { return drop() }
            case .endless(let bytes):
                while transmit(bytes, to: client) {}
                return drop()
            case .drip(let bytes):
                while true {
                    for byte in bytes where hasLeft(client) || !transmit([byte], to: client) { return drop() }
                }
            case .wait(let gate): while !gate.isOpen { if hasLeft(client) { return drop() } }
            case .open(let gate): gate.open()
            case .close: return false
            case .reset:
                var linger = linger(l_onoff: 1, l_linger: 0)
                setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
                return false
            }
        }
        return true
    }

    private func transmit(_ bytes: [UInt8], to client: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Looks for a moment whether a client has gone away, whatever it has sent before.
    private func hasLeft(_ client: Int32, within milliseconds: Int32 = 2) -> Bool {
        let end: Int16 = 0x2000  // POLLRDHUP
        var place = pollfd(fd: client, events: end, revents: 0)
        return poll(&place, 1, milliseconds) > 0
    }

    private func drop() -> Bool {
        state.withLock { $0.dropped += 1 }
        return false
    }
}
