internal import Glibc
internal import Platform
internal import Synchronization

/// JSON-RPC 2.0 over two descriptors: reads, hands requests to a handler, and ensures that each gets one response.
///
/// The thread that calls ``run()`` reads. It also answers the requests that can be answered at once, and all answers to
/// the messages of one `read` leave in one `write`. Reading never waits for writing: while the ``OutputBudget`` is used
/// up, requests are queued, and cancellations and answers of the client are still handled; above
/// ``ConnectionLimits/heldBytes`` of queued requests reading stops.
public final class Connection: Sendable {
    struct Shared {
        var calls = CallTable()
        /// The number of calls that are answered, so that their ids are free again, but whose answers have not reached
        /// the writer yet.
        var answering = 0
        var held = HeldQueue()
        /// The size of the answers to requests cancelled while queued. They are written regardless of the unsent limit,
        /// so they count as queued bytes until the client reads.
        var cancelledBytes = 0
        var isStopping = false
        /// `true` while the reading thread waits for answers to be delivered, or is about to. Otherwise it is not
        /// notified of them.
        var isAwaited = false
    }

    let limits: ConnectionLimits
    let writer: MessageWriter
    /// The room for what is made and not yet taken by the client.
    public let budget: OutputBudget
    let wake: WakeEvent
    let clientRequests: ClientRequests
    let shared = Mutex(Shared())
    /// `true` while notifications of the connection may be sent. The lock is held during a send, so that the end of the
    /// connection cuts none off.
    private let mayNotify = Mutex(true)
    let tap: ConnectionTap?
    let onFailure: @Sendable (String) -> Void
    private let input: Int32
    private let framing: MessageFraming?
    private let handler: any RequestHandler
    private let watched: [(descriptor: Int32, handler: @Sendable (Connection) -> Void)]

    /// A connection that takes ownership of `output`.
    ///
    /// - Parameters:
    ///   - input: A pipe, socket, terminal or file; read with plain `read`, which may block.
    ///   - framing: The separation of messages; detected from the first bytes when `nil`.
    ///   - tap: Receives a copy of every byte that is read or written.
    ///   - watched: Descriptors that call back once, from another thread, when they become readable.
    ///   - pause: The clock for the timeouts of requests to the client: waits the given number of seconds.
    ///   - onFailure: Called, from a thread of the connection, with a sentence for the log when the input cannot be read or the
    ///     output not be written, and the client is not known to be gone.
    ///   - onGone: Called once, from a thread of the connection, when the client can no longer be written to; running
    ///     work has been cancelled by then.
    public init(
        input: Int32, output: Int32, framing: MessageFraming? = nil, limits: ConnectionLimits = ConnectionLimits(),
        handler: any RequestHandler, tap: ConnectionTap? = nil,
        watching watched: [(descriptor: Int32, handler: @Sendable (Connection) -> Void)] = [],
        pause: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) },
        onFailure: @escaping @Sendable (String) -> Void = { _ in }, onGone: @escaping @Sendable () -> Void
    ) {
        let wake = WakeEvent()
        let reference = WeakConnection()
        self.wake = wake
        self.input = input
        self.framing = framing
        self.limits = limits
        self.handler = handler
        self.tap = tap
        self.onFailure = onFailure
        self.watched = watched
        writer = MessageWriter(
            descriptor: output, lowWater: limits.outputBytes / 2, tap: tap,
            onDrain: {
                wake.signal()
                reference.connection?.budget.admit()
                // In a task of its own, because the thread that drains may hold locks.
                Task { reference.connection?.clientRequests.sendWaiting() }
            },
            onFailure: onFailure,
            onGone: {
                reference.connection?.abandon()
                onGone()
            })
        budget = OutputBudget(
            limit: limits.outputBytes, unsentBytes: { [writer] in writer.unsentBytes }, onRoom: { wake.signal() })
        clientRequests = ClientRequests(writer: writer, budget: budget, pause: pause)
        reference.set(self)
    }

    /// Reads until the input ends, the client asks to exit, or the stream becomes unreadable; then waits until all
    /// received requests are answered.
    ///
    /// - Returns: The exit code: 0 after the end of input, 1 when the input could not be read or the client no longer be written
    ///   to, 2 when the stream made no sense any more, or the code that `exit` requested.
    public func run() -> Int32 {
        writer.start(watching: watched.map { watch in (watch.descriptor, { watch.handler(self) }) })
        if let framing { writer.setFraming(framing) }
        var loop = ReadLoop(
            connection: self, handler: handler, reader: MessageReader(framing: framing, limit: limits.messageBytes))
        let code = loop.run(from: input)
        mayNotify.withLock { $0 = false }
        // After the end of input the client may read slowly; after an exit request the time is limited.
        writer.drain(within: loop.receivedExit ? 300_000_000 : .max / 2)
        writer.finish()
        return code == 0 && writer.isGone ? 1 : code
    }

    /// Answers every open request with −32802, writes as much as the client reads within `grace` nanoseconds, and
    /// accepts no new requests.
    public func stop(grace: Int = 300_000_000) {
        mayNotify.withLock { $0 = false }
        let (calls, held) = shared.withLock { shared in
            shared.isStopping = true
            return (shared.calls.all, shared.held.removeAll())
        }
        // Calls first: work that waits for an answer of the client must be cancelled before that wait fails.
        for call in calls { call.cancel(.serverCancelled) }
        clientRequests.end()
        for request in held { refuse(request) }
        let end = monotonicNanoseconds() + grace
        while shared.withLock({ $0.answering > 0 }), monotonicNanoseconds() < end { poll(nil, 0, 1) }
        writer.uncork()
        writer.drain(within: grace)
    }

    /// Answers a request that never started with −32802.
    func refuse(_ held: HeldQueue.Request) {
        let id = held.id == .null && !handler.answersNull ? nil : held.id
        held.sink.deliver(id.map { Response.error(id: $0, .serverCancelled) }, to: id)
    }

    /// Sends a notification that belongs to no request, from any thread and without waiting.
    ///
    /// It is dropped when the connection is ending, or when more than ``ConnectionLimits/outputBytes`` already wait for
    /// the client to read.
    ///
    /// - Returns: `true` if it was sent.
    @discardableResult
    public func notify(_ method: StaticString, _ params: (inout JSONWriter) -> Void) -> Bool {
        mayNotify.withLock { mayNotify in
            guard mayNotify, !writer.isGone, budget.hasRoom else { return false }
            writer.send(Response.notification(method, params))
            return true
        }
    }

    /// The number of requests that are being worked on.
    public var requestsInFlight: Int { shared.withLock { $0.calls.count + $0.answering } }

    /// Cancels every request in flight except `except`, each answered with −32800.
    ///
    /// - Returns: The number of cancelled requests.
    public func cancelAll(except: RequestID? = nil) -> Int {
        return openCalls.count { ($0.id == nil || $0.id != except) && $0.cancel(.requestCancelled) }
    }

    // MARK: Calls

    var isStopping: Bool { shared.withLock { $0.isStopping } }

    /// `true` when a new request may start now.
    var mayStart: Bool {
        shared.withLock { $0.calls.count < limits.requestsInFlight } && budget.mayStart()
    }

    /// The open request that a client names by its id.
    public func openCall(_ id: RequestID) -> Call? {
        shared.withLock { shared in shared.calls.call(id) ?? id.twin.flatMap { shared.calls.call($0) } }
    }

    /// The requests that are being worked on.
    public var openCalls: [Call] { shared.withLock { $0.calls.all } }

    /// Registers a request whose answer will go to `sink`.
    func openCall(id: RequestID?, sink: Sink, timing: CallTiming) -> Call {
        let call = Call(id: id, sink: sink, owner: self, timing: timing)
        let isStopping = shared.withLock { shared in
            shared.calls.insert(call)
            return shared.isStopping
        }
        if isStopping { call.cancel(.serverCancelled) }
        return call
    }

    /// Cancels the request with `id`, running or queued; answers it when `answers` is `true`.
    func cancel(_ id: RequestID, answers: Bool) {
        let error = answers ? RPCError.requestCancelled : nil
        if let call = openCall(id) {
            call.cancel(error)
            return
        }
        guard
            let held = shared.withLock({ shared in
                shared.held.remove(id) ?? id.twin.flatMap { shared.held.remove($0) }
            })
        else { return }
        let response = error.flatMap { error in held.id.map { Response.error(id: $0, error) } }
        shared.withLock { $0.cancelledBytes += response?.count ?? 0 }
        held.sink.deliver(response, to: held.id)
    }

    private func abandon() {
        let calls = shared.withLock { shared in
            shared.isStopping = true
            return shared.calls.all
        }
        for call in calls { call.cancel(nil) }
        clientRequests.end()
        wake.signal()
    }
}

extension Connection: CallOwner {
    func deliver(_ response: [UInt8]?, of call: Call) {
        shared.withLock { shared in
            shared.calls.remove(call)
            shared.answering += 1
        }
        if let (batch, index) = call.place {
            batch.deliver(response, to: call.id, at: index)
        } else if let response {
            writer.send(response)
        }
        handler.ended(call.timing)
        let isAwaited = shared.withLock { shared in
            shared.answering -= 1
            return shared.isAwaited
        }
        if isAwaited { wake.signal() }
    }

    func post(_ message: [UInt8]) { writer.send(message) }
}

/// The destination of a response: the client, or a position in a batch.
enum Sink: Sendable {
    case direct(MessageWriter)
    case batch(Batch, index: Int)

    func deliver(_ response: [UInt8]?, to id: RequestID?) {
        switch self {
        case .direct(let writer): if let response { writer.send(response) }
        case .batch(let batch, let index): batch.deliver(response, to: id, at: index)
        }
    }
}

/// Breaks the reference cycle between a connection and its callbacks.
private final class WeakConnection: Sendable {
    private struct Reference { weak var connection: Connection? }
    private let reference = Mutex(Reference())

    var connection: Connection? { reference.withLock { $0.connection } }

    func set(_ connection: Connection) {
        reference.withLock { $0.connection = connection }
    }
}
