import CTestSupport
import Glibc
import Platform
import Synchronization
import TestSupport

@testable import JSONRPC

/// The far end of a connection, over two pipes or one socket; messages are lines.
final class Peer: Sendable {
    final class Counter: Sendable {
        private let count = Atomic(0)
        var value: Int { count.load(ordering: .sequentiallyConsistent) }
        func add() { count.add(1, ordering: .sequentiallyConsistent) }
    }

    let connection: Connection
    /// How many times the connection said that we are gone.
    let gone: Counter
    private let input: Mutex<Int32>
    private let output: Mutex<Int32>
    private let received = Mutex<[UInt8]>([])
    private let code = Mutex<Int32?>(nil)

    init(
        _ handler: any RequestHandler, isSocket: Bool = false, timer: ManualTimer = ManualTimer(),
        adjusting adjust: (inout ConnectionLimits) -> Void = { _ in }
    ) throws {
        // As the program does: a client that is gone is an error of write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        var limits = ConnectionLimits()
        adjust(&limits)
        var inward: [Int32] = [0, 0]
        var outward: [Int32] = [0, 0]
        if isSocket {
            let code = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &inward)
            guard code == 0 else { throw PatienceExhausted(description: "no sockets could be had") }
            outward = [fcntl(inward[1], F_DUPFD_CLOEXEC, 3), fcntl(inward[0], F_DUPFD_CLOEXEC, 3)]
        } else {
            guard hl_pipe(&inward) == 0, hl_pipe(&outward) == 0 else {
                throw PatienceExhausted(description: "no pipes could be had")
            }
        }
        input = Mutex(inward[1])
        output = Mutex(outward[0])
        let gone = Counter()
        self.gone = gone
        connection = Connection(
            input: inward[0], output: outward[1], limits: limits, handler: handler,
            pause: { try await timer.pause($0) }, onGone: { gone.add() })
    }

    deinit { leave() }

    /// Starts the connection on a thread of its own.
    func start() -> Peer {
        startThread { [self] in
            let result = connection.run()
            code.withLock { $0 = result }
        }
        return self
    }

    // MARK: Speaking

    /// Sends bytes as they are; false when nobody reads them any more.
    @discardableResult
    func send(raw text: String) -> Bool {
        let input = input.withLock { $0 }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Sends one message.
    @discardableResult
    func send(_ message: String) -> Bool { send(raw: message + "\n") }

    /// How many bytes the pipes to the connection and back hold.
    var capacities: [Int?] { [input.withLock { $0 }, output.withLock { $0 }].map(pipeCapacity(of:)) }

    /// The end of what we say.
    func closeInput() {
        input.withLock { input in
            guard input >= 0 else { return }
            shutdown(input, Int32(SHUT_WR))
            close(input)
            input = -1
        }
    }

    /// Goes away: neither speaks nor listens any more.
    func leave() {
        closeInput()
        output.withLock { output in
            if output >= 0 { close(output) }
            output = -1
        }
    }

    // MARK: Listening

    /// The next message; nil when there will be none.
    func next() throws -> JSON? {
        while true {
            let line: [UInt8]? = received.withLock { received in
                guard let newline = received.firstNewline() else { return nil }
                defer { received.removeSubrange(...newline) }
                return Array(received[..<newline])
            }
            if let line { return try JSON(line) }
            let output = output.withLock { $0 }
            var place = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&place, 1, 30_000) > 0 else { throw PatienceExhausted(description: "nothing came for 30 s") }
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = read(output, &piece, piece.count)
            guard count > 0 else { return nil }
            received.withLock { $0 += piece[..<count] }
        }
    }

    /// Whether something can be read now.
    var hasMore: Bool {
        if received.withLock({ !$0.isEmpty }) { return true }
        var place = pollfd(fd: output.withLock { $0 }, events: Int16(POLLIN), revents: 0)
        return poll(&place, 1, 0) > 0
    }

    /// The next message, without keeping a thread waiting.
    func message() async throws -> JSON? {
        try await eventually("a message") { self.hasMore }
        return try next()
    }

    /// Everything up to and without the answer to a request sent now: nothing else is on its way.
    func everything(_ id: String = "sync") throws -> [JSON] {
        send(#"{"jsonrpc":"2.0","id":"\#(id)","method":"echo"}"#)
        var messages: [JSON] = []
        while let message = try next() {
            if message["id"] == .string(id) { return messages }
            messages.append(message)
        }
        throw PatienceExhausted(description: "the connection ended")
    }

    /// What ``Connection/run()`` returned.
    func exitCode() async throws -> Int32 {
        try await eventually("the end of the connection") { self.code.withLock { $0 } != nil }
        return code.withLock { $0 } ?? -1
    }
}

/// A handler whose answers the test gives, or that answers at once.
final class Desk: RequestHandler {
    private struct State {
        var begun: [RequestID?] = []
        var calls: [Call] = []
        var made = 0
        var unmade = 0
    }

    private let state = Mutex(State())
    /// Signalled for each call that waits on the desk.
    let arrivals = Semaphore()

    /// The ids of everything that reached the handler, in order.
    var begun: [RequestID?] { state.withLock { $0.begun } }
    /// How many answers were made that had to have room first, and how many were given up before.
    var made: (Int, givenUp: Int) { state.withLock { ($0.made, $0.unmade) } }
    /// How many calls wait on the desk.
    var count: Int { state.withLock { $0.calls.count } }

    func handle(_ method: String, params: JSONView?, message: MessageContext, result: inout JSONWriter) -> Disposition {
        state.withLock { $0.begun.append(message.id) }
        switch method {
        case "echo":
            if let params { JSON(params).write(to: &result) } else { result.writeNull() }
            return .answered
        case "big":
            result.write(String(repeating: "b", count: params?.element(0)?.integer ?? 0))
            return .answered
        case "made":
            let (count, wanted) = (params?.element(0)?.integer ?? 0, params?.element(1)?.integer)
            return .deferred { [self] call in
                call.whenRoom(for: wanted) { hasRoom in
                    self.state.withLock { if hasRoom { $0.made += 1 } else { $0.unmade += 1 } }
                    if hasRoom { call.respond { $0.write(String(repeating: "m", count: count)) } }
                }
            }
        case "fail":
            result.object { $0.field("half", 1) }
            return .failed(.internalError("It failed."))
        case "wait":
            return .deferred { [self] call in
                state.withLock { $0.calls.append(call) }
                arrivals.signal()
            }
        case "exit": return .exit(3)
        default: return .failed(.methodNotFound(method, suggestion: nil))
        }
    }

    /// Takes the call with `id` off the desk, when it has come.
    func take(_ id: RequestID?) async throws -> Call {
        try await eventually("the call \(String(describing: id))") {
            self.state.withLock { $0.calls.contains { $0.id == id } }
        }
        return try state.withLock { state in
            guard let index = state.calls.firstIndex(where: { $0.id == id }) else {
                throw PatienceExhausted(description: "somebody else took the call")
            }
            return state.calls.remove(at: index)
        }
    }

    /// Takes any call off the desk.
    func takeAny(using random: inout some RandomNumberGenerator) -> Call? {
        state.withLock { state in
            guard let index = state.calls.indices.randomElement(using: &random) else { return nil }
            return state.calls.remove(at: index)
        }
    }
}

/// A request as text.
func request(_ id: String, _ method: String, _ params: String? = nil) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)""# + (params.map { #","params":\#($0)"# } ?? "") + "}"
}

/// The cancellation of a request, in the dialect that answers it or in the one that does not.
func cancellation(_ id: String, isAnswered: Bool) -> String {
    isAnswered
        ? #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#
        : #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":\#(id)}}"#
}
