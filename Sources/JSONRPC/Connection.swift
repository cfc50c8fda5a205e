internal import Glibc
internal import Platform
internal import Synchronization

/// JSON-RPC 2.0 over two descriptors: reads, hands requests to a handler, and sees to it that each gets one response.
///
/// The thread that calls ``run()`` reads; requests that can be answered at once are answered on it, and all answers to
/// what one `read` brought leave in one `write`. Reading never waits for writing: past
/// ``ConnectionLimits/unsentBytes`` requests are only held, past ``ConnectionLimits/heldBytes`` reading stops, and
/// cancellations are obeyed all the while.
public final class Connection: Sendable {
    struct Shared {
        var calls = CallTable()
        /// Calls that are answered, so that their ids are free again, while their answers are still on their way to
        /// the writer.
        var answering = 0
        var held = HeldQueue()
        /// The answers to requests cancelled while held: they are written whatever is unsent, so until the client
        /// reads they count as held.
        var cancelledBytes = 0
        var isStopping = false
        /// Whether the thread that reads waits for answers to get away, or is about to. Otherwise it is not told of them.
        var isAwaited = false
    }

    let limits: ConnectionLimits
    let writer: MessageWriter
    let wake: WakeEvent
    let inquiries: Inquiries
    let shared = Mutex(Shared())
    /// Whether notifications of the connection may be sent. Held while one is, so that none is cut off by the end.
    private let mayNotify = Mutex(true)
    let tap: ConnectionTap?
    private let input: Int32
    private let framing: MessageFraming?
    private let handler: any RequestHandler
    private let watched: [(descriptor: Int32, handler: @Sendable (Connection) -> Void)]

    /// A connection that takes over `output`.
    ///
    /// - Parameters:
    ///   - input: A pipe, socket, terminal or file; read with plain blocking `read`.
    ///   - framing: How messages are told apart; detected from the first bytes when nil.
    ///   - tap: Hears of every byte that is read or written.
    ///   - watched: Descriptors that call back once, from another thread, when they become readable.
    ///   - pause: What requests to the client measure their time by: it waits so many seconds.
    ///   - onDrain: Called each time the unsent bytes fall to half of ``ConnectionLimits/unsentBytes``.
    ///   - onGone: Called once, from a thread of the connection, when the client can no longer be written to; running
    ///     work has been cancelled.
    public init(
        input: Int32, output: Int32, framing: MessageFraming? = nil, limits: ConnectionLimits = ConnectionLimits(),
        handler: any RequestHandler, tap: ConnectionTap? = nil,
        watching watched: [(descriptor: Int32, handler: @Sendable (Connection) -> Void)] = [],
        pause: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) },
        onDrain: @escaping @Sendable () -> Void = {}, onGone: @escaping @Sendable () -> Void
    ) {
        let wake = WakeEvent()
        let reference = WeakConnection()
        self.wake = wake
        self.input = input
        self.framing = framing
        self.limits = limits
        self.handler = handler
        self.tap = tap
        self.watched = watched
        writer = MessageWriter(
            descriptor: output, lowWater: limits.unsentBytes / 2, tap: tap,
            onDrain: {
                wake.signal()
                // Whoever drains may hold locks.
                Task { reference.connection?.inquiries.sendWaiting() }
                onDrain()
            },
            onGone: {
                reference.connection?.abandon()
                onGone()
            })
        inquiries = Inquiries(writer: writer, unsentLimit: limits.unsentBytes, pause: pause)
        reference.set(self)
    }

    /// Reads until the input ends, the client asks to exit, or the stream cannot be followed any more; then waits for
    /// what was received to be answered.
    ///
    /// - Returns: The exit code: 0 after the end of input, 1 when the client could no longer be written to, 2 when the
    ///   stream was lost, or what `exit` asked for.
    public func run() -> Int32 {
        writer.start(watching: watched.map { watch in (watch.descriptor, { watch.handler(self) }) })
        if let framing { writer.use(framing) }
        var intake = Intake(
            connection: self, handler: handler, reader: MessageReader(framing: framing, limit: limits.messageBytes))
        let code = intake.run(from: input)
        mayNotify.withLock { $0 = false }
        // After the end of input the client may take its time; after an exit it has none.
        writer.drain(within: intake.wasAskedToExit ? 300_000_000 : .max / 2)
        writer.finish()
        return code == 0 && writer.isGone ? 1 : code
    }

    /// Answers everything open with −32802, writes what the client takes within `grace` nanoseconds, and takes
    /// nothing new.
    public func stop(grace: Int = 300_000_000) {
        mayNotify.withLock { $0 = false }
        let (calls, held) = shared.withLock { shared in
            shared.isStopping = true
            return (shared.calls.all, shared.held.removeAll())
        }
        // First the calls: what waits for an answer of the client on their behalf must not go on without it.
        for call in calls { call.cancel(.serverCancelled) }
        inquiries.end()
        for request in held { refuse(request) }
        let end = monotonicNanoseconds() + grace
        while shared.withLock({ $0.answering > 0 }), monotonicNanoseconds() < end { poll(nil, 0, 1) }
        writer.uncork()
        writer.drain(within: grace)
    }

    /// Answers a request that never began, or each of a batch.
    func refuse(_ held: HeldQueue.Request) {
        if let id = held.id { return writer.send(Response.error(id: id, .serverCancelled)) }
        guard let document = try? JSONDocument(parsing: held.text), document.root.kind == .array else { return }
        let root = document.root
        let batch = Batch(count: root.count) { [writer] in writer.send($0) }
        for index in 0..<root.count {
            var id: RequestID?
            if let member = root.element(index), !member.isResponse, let view = member.member("id") {
                id = RequestID(view)
            }
            batch.deliver(id.map { Response.error(id: $0, .serverCancelled) }, at: index)
        }
    }

    /// Sends a notification that belongs to no request, from any thread and without waiting.
    ///
    /// It is dropped when the connection is ending, or when the client does not read and has more than
    /// ``ConnectionLimits/unsentBytes`` to take already.
    ///
    /// - Returns: Whether it was sent.
    @discardableResult
    public func notify(_ method: StaticString, _ params: (inout JSONWriter) -> Void) -> Bool {
        mayNotify.withLock { mayNotify in
            guard mayNotify, !writer.isGone, writer.unsentBytes <= limits.unsentBytes else { return false }
            writer.send(Response.notification(method, params))
            return true
        }
    }

    /// Bytes of answers that the client has not taken yet.
    public var unsentBytes: Int { writer.unsentBytes }

    /// How many requests are being worked on.
    public var requestsInFlight: Int { shared.withLock { $0.calls.count + $0.answering } }

    /// Cancels every request in flight but those in `except`, each answered −32800.
    ///
    /// - Returns: How many were cancelled.
    public func cancelAll(except: RequestID? = nil) -> Int {
        let calls = shared.withLock { $0.calls.all }
        return calls.count { ($0.id == nil || $0.id != except) && $0.cancel(.requestCancelled) }
    }

    // MARK: Calls

    var isStopping: Bool { shared.withLock { $0.isStopping } }

    /// Whether a new request may begin now.
    var mayBegin: Bool {
        shared.withLock { $0.calls.count < limits.requestsInFlight } && writer.unsentBytes <= limits.unsentBytes
    }

    /// Registers a request whose answer will go to `sink`.
    func openCall(id: RequestID?, sink: Sink) -> Call {
        let wake = wake
        let serial = shared.withLock { $0.calls.nextSerial() }
        let call = Call(
            id: id, serial: serial,
            deliver: { [weak self] call, response in
                self?.shared.withLock { shared in
                    shared.calls.remove(call)
                    shared.answering += 1
                }
                sink.deliver(response)
                let isAwaited = self?.shared.withLock { shared in
                    shared.answering -= 1
                    return shared.isAwaited
                }
                if isAwaited != false { wake.signal() }
            },
            post: { [writer] message in writer.send(message) })
        let isStopping = shared.withLock { shared in
            shared.calls.insert(call)
            return shared.isStopping
        }
        if isStopping { call.cancel(.serverCancelled) }
        return call
    }

    /// Cancels the request with `id`, begun or held; answers it when `answers`.
    func cancel(_ id: RequestID, answers: Bool) {
        let error = answers ? RPCError.requestCancelled : nil
        if let call = shared.withLock({ $0.calls.call(id) }) {
            call.cancel(error)
            return
        }
        let response = error.map { Response.error(id: id, $0) }
        let wasHeld = shared.withLock { shared in
            guard shared.held.remove(id) else { return false }
            shared.cancelledBytes += response?.count ?? 0
            return true
        }
        if wasHeld, let response { writer.send(response) }
    }

    private func abandon() {
        let calls = shared.withLock { shared in
            shared.isStopping = true
            return shared.calls.all
        }
        for call in calls { call.cancel(nil) }
        inquiries.end()
        wake.signal()
    }
}

/// Where a response goes: to the client at once, or into its place in a batch.
enum Sink: Sendable {
    case direct(MessageWriter)
    case batch(Batch, index: Int)

    func deliver(_ response: [UInt8]?) {
        switch self {
        case .direct(let writer): if let response { writer.send(response) }
        case .batch(let batch, let index): batch.deliver(response, at: index)
        }
    }
}

/// Breaks the circle between a connection and the callbacks it is made with.
private final class WeakConnection: Sendable {
    private struct Reference { weak var connection: Connection? }
    private let reference = Mutex(Reference())

    var connection: Connection? { reference.withLock { $0.connection } }

    func set(_ connection: Connection) {
        reference.withLock { $0.connection = connection }
    }
}
