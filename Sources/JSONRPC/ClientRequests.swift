internal import Platform
internal import Synchronization

/// Sends requests to the client and passes its answers to the waiting callers. Callable from any thread.
final class ClientRequests: Sendable {
    private struct Waiter: Sendable {
        let message: [UInt8]
        let timeout: Double
        /// Receives the client's response; the view is valid only during the call.
        let receive: @Sendable (JSONView) -> Void
        let fail: @Sendable (any Error) -> Void
    }

    private struct State: Sendable {
        var table = ClientRequestTable<Waiter>(capacity: 64)
        var timers: [UInt64: Task<Void, Never>] = [:]
    }

    private static let prefix = "halcyon-"

    private let state = Mutex(State())
    private let lastSerial = Atomic<UInt64>(0)
    private let writer: MessageWriter
    private let budget: OutputBudget
    private let pause: @Sendable (Double) async throws -> Void

    /// - Parameters:
    ///   - budget: While it is used up, no new request is sent to the client.
    ///   - pause: Waits the given number of seconds, or until the task is cancelled.
    init(writer: MessageWriter, budget: OutputBudget, pause: @escaping @Sendable (Double) async throws -> Void) {
        self.writer = writer
        self.budget = budget
        self.pause = pause
    }

    /// The number of requests that have no answer yet.
    var count: Int { state.withLock { $0.table.count } }

    func request<Value: Sendable>(
        _ method: StaticString, timeout: Double, params: (inout JSONWriter) -> Void,
        decode: @escaping @Sendable (JSONView) throws -> Value
    ) async throws -> Value {
        let serial = lastSerial.add(1, ordering: .relaxed).newValue
        let message = Self.message(serial, method, params)
        return try await awaitResult { (end: @escaping @Sendable (Result<Value, any Error>) -> Void) in
            let waiter = Waiter(
                message: message, timeout: timeout,
                receive: { response in end(Result { try Self.result(of: response, decode) }) },
                fail: { end(.failure($0)) })
            if state.withLock({ $0.table.ask(serial, waiter) }) {
                sendWaiting()
                startTimer(serial, timeout)
            } else {
                waiter.fail(ClientRequestError.ended)
            }
            return serial
        } cancel: { [self] in
            abandon($0)
        }
    }

    /// Sends the requests that may be sent now. Also called when the client has read.
    func sendWaiting() {
        state.withLock { state in
            while budget.hasRoom, let (serial, waiter) = state.table.sendNext() {
                // Under the lock, so that no cancellation is sent before the request that it cancels.
                writer.send(waiter.message)
                state.timers.removeValue(forKey: serial)?.cancel()
                state.timers[serial] = timer(serial, waiter.timeout)
            }
        }
    }

    /// Handles a message of the client that has no method; `false` when it answers no request that was sent.
    func handleResponse(_ message: JSONView) -> Bool {
        guard let serial = message.member("id")?.string.flatMap(Self.serial) else { return false }
        let waiter = state.withLock { state in
            let waiter = state.table.answer(serial)
            if waiter != nil { state.timers.removeValue(forKey: serial)?.cancel() }
            return waiter
        }
        guard let waiter else { return false }
        waiter.receive(message)
        sendWaiting()
        return true
    }

    /// Fails every request that has no answer, and every later one.
    func end() {
        let waiters = state.withLock { state in
            for timer in state.timers.values { timer.cancel() }
            state.timers = [:]
            return state.table.end()
        }
        for waiter in waiters { waiter.fail(ClientRequestError.ended) }
    }

    // MARK: Cancellation and timeouts

    private func abandon(_ serial: UInt64) {
        let waiter = state.withLock { state -> Waiter? in
            state.timers.removeValue(forKey: serial)?.cancel()
            guard let (waiter, wasSent) = state.table.abandon(serial) else { return nil }
            if wasSent { sendCancellation(serial) }
            return waiter
        }
        guard let waiter else { return }
        waiter.fail(CancellationError())
        sendWaiting()
    }

    /// Starts the timer of a request that is not sent yet; a request that was sent has a timer already.
    private func startTimer(_ serial: UInt64, _ timeout: Double) {
        state.withLock { state in
            guard state.timers[serial] == nil, state.table.progress(serial) != nil else { return }
            state.timers[serial] = timer(serial, timeout)
        }
    }

    private func timer(_ serial: UInt64, _ timeout: Double) -> Task<Void, Never> {
        Task { [weak self, pause] in
            while let progress = self?.state.withLock({ $0.table.progress(serial) }) {
                do { try await pause(timeout) } catch { return }
                guard !Task.isCancelled, self?.expire(serial, since: progress) == false else { return }
            }
        }
    }

    /// Fails a request whose timeout has expired; `false` when its timeout starts again.
    private func expire(_ serial: UInt64, since earlier: ClientRequestTable<Waiter>.Progress) -> Bool {
        let expiry = state.withLock { state in
            let expiry = state.table.expire(serial, since: earlier)
            if case .restarted = expiry { return expiry }
            state.timers[serial] = nil
            if case .expired(_, true) = expiry { sendCancellation(serial) }
            return expiry
        }
        switch expiry {
        case .restarted: return false
        case .ended: break
        // Its slot stays empty until the client answers a request or receives a new one: a client that never answers
        // does not delay the waiting requests longer than the sent ones.
        case .expired(let waiter, _): waiter.fail(ClientRequestError.timedOut)
        }
        return true
    }

    /// Tells the client that its answer is no longer wanted, unless the client does not read.
    private func sendCancellation(_ serial: UInt64) {
        guard budget.hasRoom else { return }
        writer.send(
            Response.notification("$/cancelRequest") { params in
                params.object { $0.field("id", Self.prefix + String(serial)) }
            })
    }

    // MARK: Messages

    private static func message(
        _ serial: UInt64, _ method: StaticString, _ params: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { message in
            Response.writeVersion(&message)
            message.field("id", prefix + String(serial))
            message.field("method", method.description)
            message.key("params")
            params(&message)
        }
        return writer.bytes
    }

    /// The serial number in an id that this side assigned; `nil` for any other id.
    private static func serial(_ id: String) -> UInt64? {
        guard id.utf8.starts(with: prefix.utf8), let serial = UInt64(id.dropFirst(prefix.count)) else { return nil }
        return (prefix + String(serial)).utf8.elementsEqual(id.utf8) ? serial : nil
    }

    private static func result<Value>(of response: JSONView, _ decode: (JSONView) throws -> Value) throws -> Value {
        if let error = response.member("error"), !error.isNull {
            if let result = response.member("result"), !result.isNull {
                throw ClientRequestError.malformed("it has both a result and an error")
            }
            guard let code = error.member("code")?.integer, let message = error.member("message")?.string else {
                throw ClientRequestError.malformed("its error has no code and message")
            }
            throw ClientRequestError.refused(code: code, message: message)
        }
        guard let result = response.member("result") else {
            throw ClientRequestError.malformed("it has neither a result nor an error")
        }
        return try decode(result)
    }
}
