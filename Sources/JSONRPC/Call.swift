internal import Platform
internal import Synchronization

/// The work that answers a call.
public protocol CallWork: AnyObject, Sendable {
    /// The URL that the error of a cancellation contains.
    var url: String? { get }
    /// Stops the work, because the call is cancelled.
    func stop()
    /// Called once, when the call has been answered or cancelled.
    func callEnded()
}

/// The receiver of what a call sends.
protocol CallOwner: AnyObject, Sendable {
    /// Sends the response of a call that has just ended; `nil` when there is none to send.
    func deliver(_ response: [UInt8]?, of call: Call)
    /// Sends a notification that belongs to a call.
    func post(_ message: [UInt8])
    /// The room for answers.
    var budget: OutputBudget { get }
}

/// One request in flight. It alone records whether the request has been answered.
///
/// Exactly one of ``respond(_:)``, ``fail(_:)`` and a cancellation takes effect; later calls are ignored. Callable from
/// any thread. Thousands of calls may wait at a time, so what few of them have is in a list.
public final class Call: Sendable {
    private enum Handler: Sendable {
        case cancel(@Sendable () -> Void)
        case beforeEnd(@Sendable (Ending) -> Void)
        case end(@Sendable () -> Void)
    }

    private struct OpenState {
        var work: (any CallWork)?
        var handlers: [Handler] = []

        var beforeEnd: (@Sendable (Ending) -> Void)? {
            for case .beforeEnd(let handler) in handlers { return handler }
            return nil
        }

        /// The closure that stops the work.
        var stop: @Sendable () -> Void {
            { [work, handlers] in
                work?.stop()
                for case .cancel(let cancel) in handlers { cancel() }
            }
        }
    }

    /// The ways in which a call ends.
    public enum Ending: Sendable {
        /// The work is done or has failed.
        case answered
        /// The call is cancelled or superseded by another one; an answer may still follow.
        case cancelled
    }

    private let owner: any CallOwner
    private let batch: Batch?
    private let start: Int
    /// The id of the request; `nil` for a notification, which is never answered.
    public let id: RequestID?
    private let method: UInt16
    private let position: Int32
    /// `nil` once the call has ended.
    private let state = Mutex<OpenState?>(OpenState())

    init(id: RequestID?, sink: Sink? = nil, owner: any CallOwner, timing: CallTiming = CallTiming()) {
        (self.id, self.owner, start, method) = (id, owner, timing.start, timing.method)
        if case .batch(let batch, let index) = sink {
            (self.batch, position) = (batch, Int32(index))
        } else {
            (batch, position) = (nil, 0)
        }
    }

    var timing: CallTiming { CallTiming(method: Int(method), start: start) }

    /// The place of the response in a batch; `nil` when it is sent by itself.
    var place: (batch: Batch, index: Int)? { batch.map { ($0, Int(position)) } }

    /// `true` until the call is answered or cancelled. Long work can check it to stop early.
    public var isOpen: Bool { state.withLock { $0 != nil } }

    /// The work that answers the call; `nil` when it is none of ``CallWork``, or the call has ended.
    public var work: (any CallWork)? { state.withLock { $0?.work } }

    /// Sets the work that answers the call. If the call has ended, the work is stopped at once.
    public func begin(_ work: any CallWork) {
        let isOpen = state.withLock { state in
            state?.work = work
            return state != nil
        }
        guard !isOpen else { return }
        work.stop()
        work.callEnded()
    }

    /// Answers with the result that `write` writes as one JSON value.
    public func respond(_ write: (inout JSONWriter) -> Void) {
        guard isOpen else { return }
        close(with: id.map { Response.result(id: $0, write) })
    }

    /// Answers with an error.
    public func fail(_ error: RPCError) {
        close(with: id.map { Response.error(id: $0, error) })
    }

    /// Sends a notification unless the call has been answered: no progress follows a response.
    ///
    /// - Parameter isNeeded: `false` when it is dropped while the client does not read.
    public func notify(
        _ method: StaticString, isNeeded: Bool = true, _ params: (inout JSONWriter) -> Void
    ) {
        guard isNeeded || owner.budget.hasRoom else { return }
        let message = Response.notification(method, params)
        state.withLock { state in
            if state != nil { owner.post(message) }
        }
    }

    /// Runs `make`, which makes the answer, when there is room for it; see ``OutputBudget``.
    ///
    /// - Parameters:
    ///   - bytes: The size of the answer with what it is made from; `nil` when that shows only when it is made.
    ///   - make: Called once, with `false` when the call ended before there was room; it must not block.
    public func whenRoom(for bytes: Int? = nil, _ make: @escaping @Sendable (Bool) -> Void) {
        owner.budget.enter(bytes, for: self, make)
    }

    /// `true` when an answer of that size could be made at once.
    public func hasRoom(for bytes: Int) -> Bool { owner.budget.hasRoom(for: bytes) }

    /// Waits until there is room for the answer; see ``whenRoom(for:_:)``.
    ///
    /// - Throws: `CancellationError` when the call ended before there was room.
    public func waitForRoom(for bytes: Int? = nil) async throws {
        try await withCheckedThrowingContinuation { continuation in
            whenRoom(for: bytes) { hasRoom in
                if hasRoom { continuation.resume() } else { continuation.resume(throwing: CancellationError()) }
            }
        }
    }

    /// Adds a closure that stops the work when the call is cancelled; runs it at once if the call has ended.
    public func onCancel(_ cancel: @escaping @Sendable () -> Void) {
        if !add(.cancel(cancel)) { cancel() }
    }

    /// Sets a closure that runs just before the call is answered or cancelled. It has no effect if the call has ended.
    ///
    /// - Parameter handler: May call ``notify(_:_:)``. It can run twice when two threads end the call at the same moment:
    ///   it must send its message only once, and return only when that message has been sent.
    public func beforeEnd(_ handler: @escaping @Sendable (Ending) -> Void) { _ = add(.beforeEnd(handler)) }

    /// Runs `work` once the call has ended; at once if it has ended already.
    public func onEnd(_ work: @escaping @Sendable () -> Void) {
        if !add(.end(work)) { work() }
    }

    /// - Returns: `false` if the call has ended.
    private func add(_ handler: Handler) -> Bool {
        state.withLock { state in
            state?.handlers.append(handler)
            return state != nil
        }
    }

    private func response(to error: RPCError) -> [UInt8]? {
        guard let id else { return nil }
        var error = error
        if let url = work?.url, !error.details.contains(where: { $0.name == "url" }) {
            error.details.append(("url", .string(url.shortened)))
        }
        return Response.error(id: id, error)
    }

    /// Answers with `error`, or not at all when it is `nil`, and stops the work.
    ///
    /// - Returns: `false` if the call had ended already.
    @discardableResult
    func cancel(_ error: RPCError?) -> Bool {
        let response = error.flatMap { self.response(to: $0) }
        return close(with: response, as: .cancelled) { $0.stop() }
    }

    /// Answers with `error` and lets the work go on.
    ///
    /// - Returns: The closure that stops the work; `nil` if the call had ended already.
    public func supersede(_ error: RPCError) -> (@Sendable () -> Void)? {
        let response = self.response(to: error)
        var stop: (@Sendable () -> Void)?
        close(with: response, as: .cancelled) { stop = $0.stop }
        return stop
    }

    /// Ends the call without an answer and stops the work.
    public func abandon() { cancel(nil) }

    /// Answers with `error` and stops the work.
    ///
    /// - Returns: `false` if the call had ended already.
    @discardableResult
    public func end(_ error: RPCError) -> Bool { cancel(error) }

    private enum Step {
        case ended
        case callHandler(@Sendable (Ending) -> Void)
        case closed(OpenState)
    }

    @discardableResult
    private func close(
        with response: [UInt8]?, as ending: Ending = .answered, _ stop: (OpenState) -> Void = { _ in }
    ) -> Bool {
        var hasCalledHandler = false
        while true {
            switch state.withLock({ state in step(&state, hasCalledHandler: hasCalledHandler, response) }) {
            case .ended: return false
            case .callHandler(let handler):
                // Runs outside the lock: the closure may call `notify`, which takes the lock.
                handler(ending)
                hasCalledHandler = true
            case .closed(let last):
                stop(last)
                last.work?.callEnded()
                for case .end(let work) in last.handlers { work() }
                return true
            }
        }
    }

    private func step(_ state: inout OpenState?, hasCalledHandler: Bool, _ response: [UInt8]?) -> Step {
        guard let open = state else { return .ended }
        if !hasCalledHandler, let handler = open.beforeEnd { return .callHandler(handler) }
        state = nil
        owner.deliver(response, of: self)
        return .closed(open)
    }
}

/// The message envelopes of JSON-RPC.
enum Response {
    static func writeVersion(_ writer: inout JSONWriter) {
        writer.key("jsonrpc")
        writer.write("2.0")
    }

    static func result(id: RequestID, _ write: (inout JSONWriter) -> Void) -> [UInt8] {
        // The result for an image is about one kilobyte.
        var writer = JSONWriter(capacity: 960)
        writer.object { response in
            writeVersion(&response)
            response.key("id")
            id.write(to: &response)
            response.key("result")
            write(&response)
        }
        return writer.bytes
    }

    static func error(id: RequestID, _ error: RPCError) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { response in
            writeVersion(&response)
            response.key("id")
            id.write(to: &response)
            response.key("error")
            error.write(to: &response)
        }
        return writer.bytes
    }

    static func notification(_ method: StaticString, _ params: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { message in
            writeVersion(&message)
            message.key("method")
            message.write(method.description)
            message.key("params")
            params(&message)
        }
        return writer.bytes
    }
}
