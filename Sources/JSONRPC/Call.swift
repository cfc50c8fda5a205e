internal import Synchronization

/// One request in flight. It alone records whether the request has been answered.
///
/// Exactly one of ``respond(_:)``, ``fail(_:)`` and a cancellation takes effect; later calls are ignored. Callable from
/// any thread.
public final class Call: Sendable {
    private struct State {
        var isOpen = true
        var cancel: (@Sendable () -> Void)?
        var endHandler: (@Sendable (Ending) -> Void)?
        var url: String?
        var endActions: [@Sendable () -> Void] = []
    }

    /// The ways in which a call ends.
    public enum Ending: Sendable {
        /// The work is done or has failed.
        case answered
        /// The call is cancelled or superseded by another one; an answer may still follow.
        case cancelled
    }

    /// The id of the request; nil for a notification, which is never answered.
    public let id: RequestID?
    let serial: UInt64
    private let state = Mutex(State())
    private let deliver: @Sendable (Call, [UInt8]?) -> Void
    private let post: @Sendable ([UInt8]) -> Void

    /// - Parameters:
    ///   - deliver: Receives the finished response, or nil when there is none to send.
    ///   - post: Receives a notification that belongs to the call.
    init(
        id: RequestID?, serial: UInt64, deliver: @escaping @Sendable (Call, [UInt8]?) -> Void,
        post: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.id = id
        self.serial = serial
        self.deliver = deliver
        self.post = post
    }

    /// `true` until the call is answered or cancelled. Long work can check it to stop early.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

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
    public func notify(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
        let message = Response.notification(method, params)
        state.withLock { state in
            if state.isOpen { post(message) }
        }
    }

    /// Sets the closure that stops the work when the call is cancelled; runs it at once if the call has ended.
    public func onCancel(_ cancel: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if state.isOpen { state.cancel = cancel }
            return state.isOpen
        }
        if !isOpen { cancel() }
    }

    /// Sets a closure that runs just before the call is answered or cancelled. It has no effect if the call has ended.
    ///
    /// - Parameter handler: May call ``notify(_:_:)``. It can run twice when two threads end the call at the same moment:
    ///   it must send its message only once, and return only when that message has been sent.
    public func beforeEnd(_ handler: @escaping @Sendable (Ending) -> Void) {
        state.withLock { state in
            if state.isOpen { state.endHandler = handler }
        }
    }

    /// Sets the URL that the error of a cancellation contains.
    public func setURL(_ url: String) { state.withLock { $0.url = url } }

    private func response(to error: RPCError) -> [UInt8]? {
        guard let id else { return nil }
        var error = error
        if let url = state.withLock({ $0.url }), !error.details.contains(where: { $0.name == "url" }) {
            error.details.append(("url", .string(url)))
        }
        return Response.error(id: id, error)
    }

    /// Runs `work` once the call has ended; at once if it has ended already.
    public func onEnd(_ work: @escaping @Sendable () -> Void) {
        let isOpen = state.withLock { state in
            if state.isOpen { state.endActions.append(work) }
            return state.isOpen
        }
        if !isOpen { work() }
    }

    /// Answers with `error`, or not at all when it is nil, and stops the work.
    ///
    /// - Returns: `false` if the call had ended already.
    @discardableResult
    func cancel(_ error: RPCError?) -> Bool {
        let response = error.flatMap { self.response(to: $0) }
        return close(with: response, as: .cancelled, stopsWork: true)
    }

    /// Answers with `error` and lets the work go on.
    ///
    /// - Returns: The closure that stops the work; nil if the call had ended already or has no such closure.
    public func supersede(_ error: RPCError) -> (@Sendable () -> Void)? {
        let response = self.response(to: error)
        var stop: (@Sendable () -> Void)?
        close(with: response, as: .cancelled) { stop = $0 }
        return stop
    }

    /// Answers with `error` and stops the work.
    ///
    /// - Returns: `false` if the call had ended already.
    @discardableResult
    public func end(_ error: RPCError) -> Bool { cancel(error) }

    private enum Step {
        case ended
        case callHandler(@Sendable (Ending) -> Void)
        case closed(cancel: (@Sendable () -> Void)?, endActions: [@Sendable () -> Void])
    }

    @discardableResult
    private func close(
        with response: [UInt8]?, as ending: Ending = .answered, stopsWork: Bool = false,
        _ receiveStop: ((@Sendable () -> Void)?) -> Void = { _ in }
    ) -> Bool {
        var hasCalledHandler = false
        while true {
            switch state.withLock({ state in step(&state, hasCalledHandler: hasCalledHandler, response) }) {
            case .ended: return false
            case .callHandler(let handler):
                // Runs outside the lock: the closure may call `notify`, which takes the lock.
                handler(ending)
                hasCalledHandler = true
            case .closed(let cancel, let endActions):
                receiveStop(cancel)
                if stopsWork { cancel?() }
                for work in endActions { work() }
                return true
            }
        }
    }

    private func step(_ state: inout State, hasCalledHandler: Bool, _ response: [UInt8]?) -> Step {
        guard state.isOpen else { return .ended }
        if !hasCalledHandler, let handler = state.endHandler { return .callHandler(handler) }
        state.isOpen = false
        deliver(self, response)
        defer { (state.cancel, state.endHandler, state.endActions) = (nil, nil, []) }
        return .closed(cancel: state.cancel, endActions: state.endActions)
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
