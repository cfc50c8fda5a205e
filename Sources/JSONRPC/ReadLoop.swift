internal import Glibc
internal import Platform

/// The reading side of a connection; used only by the reading thread.
struct ReadLoop {
    let connection: Connection
    let handler: any RequestHandler
    var reader: MessageReader
    /// A writer that is reused for every message, for its capacity.
    private var scratch = JSONWriter()
    private var burst: UInt64 = 0
    private var exitCode: Int32?
    private var isWide = false
    /// `true` once a read has said that there is nothing now: whoever shares the input has set `O_NONBLOCK`.
    private var mustPoll = false
    /// The number of bytes in one read, half of a pipe's initial capacity, above which the pipe is enlarged: the client
    /// may be waiting to write more.
    private static let wideningThreshold = 1 << 15

    init(connection: Connection, handler: any RequestHandler, reader: MessageReader) {
        self.connection = connection
        self.handler = handler
        self.reader = reader
    }

    /// `true` when the client sent `exit`; `false` when the session ended with the input.
    var receivedExit: Bool { exitCode != nil }

    // MARK: The loop

    /// Reads and dispatches until the stream ends; returns the exit code once everything is answered.
    mutating func run(from input: Int32) -> Int32 {
        var code: Int32 = 0
        var hasEnded = false
        while exitCode == nil, !hasEnded {
            connection.writer.cork()
            startQueued()
            while exitCode == nil, let event = reader.next() { handle(event, code: &code) }
            connection.writer.uncork()
            if code != 0 || exitCode != nil { break }
            if connection.isStopping { waitForProcessEnd() }
            if !waitForInput(input) { continue }
            hasEnded = !readMore(from: input, code: &code)
        }
        if exitCode == nil {
            if let event = reader.finish() { handle(event, code: &code, atEnd: true) }
            // The client can no longer answer the requests it received.
            connection.clientRequests.end()
            handler.inputEnded()
            finishAll()
        }
        if let exitCode {
            connection.stop()
            return exitCode
        }
        return code
    }

    /// Reads the available bytes; `false` at the end of input, and when nothing more can be read.
    private mutating func readMore(from input: Int32, code: inout Int32) -> Bool {
        let tap = connection.tap
        var error: Int32 = 0
        let count = reader.fill { space in
            while true {
                let count = read(input, space.baseAddress, space.count)
                if count > 0 { tap?.input(UnsafeRawBufferPointer(rebasing: space[..<count])) }
                error = count < 0 ? errno : 0
                if error != EINTR { return count }
            }
        }
        switch error {
        case 0: break
        case EAGAIN:
            mustPoll = true
            return true
        // The client is gone, with all that it had sent.
        case ECONNRESET: return false
        default:
            connection.onFailure("Standard input cannot be read: \(String(cString: strerror(error))).")
            code = 1
            return false
        }
        burst += 1
        if count >= Self.wideningThreshold, !isWide {
            isWide = true
            WidePipe.widen(input)
        }
        return count > 0
    }

    /// Waits until there may be input to read. While requests are queued it also returns when they may start.
    ///
    /// - Returns: `false` when the queued requests must be checked first.
    private func waitForInput(_ input: Int32) -> Bool {
        let limits = connection.limits
        let isDrained = connection.writer.unsentBytes <= limits.outputBytes / 2
        let (hasQueued, mayRead) = connection.shared.withLock { shared in
            if isDrained { shared.cancelledBytes = 0 }
            let mayRead = shared.held.bytes + shared.cancelledBytes <= limits.heldBytes
            shared.isAwaited = !shared.held.isEmpty || !mayRead
            return (!shared.held.isEmpty, mayRead)
        }
        if hasQueued, connection.mayStart { return false }
        guard hasQueued || !mayRead || mustPoll else { return true }
        var places = [
            connection.wake.place, pollfd(fd: mayRead ? input : -1, events: Int16(POLLIN), revents: 0),
        ]
        guard connection.wake.poll(&places) > 0 else { return false }
        return places[1].revents != 0
    }

    /// Starts queued requests, in order, as long as that is allowed.
    private mutating func startQueued() {
        while exitCode == nil, connection.mayStart {
            guard let next = connection.shared.withLock({ $0.held.popFirst() }) else { return }
            next.text.withUnsafeBytes { handle($0, next.sink) }
        }
    }

    /// Waits, after the end of input, until every received request is answered.
    private mutating func finishAll() {
        // Set before the check, so that every call that ends after it wakes this thread.
        connection.shared.withLock { $0.isAwaited = true }
        while true {
            connection.writer.cork()
            startQueued()
            connection.writer.uncork()
            let isDone = connection.shared.withLock { $0.calls.count == 0 && $0.answering == 0 && $0.held.isEmpty }
            if isDone || exitCode != nil { return }
            var places = [connection.wake.place]
            connection.wake.poll(&places)
        }
    }

    /// Blocks this thread for good: another thread is ending the process, and nothing more is read.
    private func waitForProcessEnd() -> Never {
        while true { pause() }
    }

    // MARK: Messages

    private mutating func handle(_ event: MessageReader.Event, code: inout Int32, atEnd: Bool = false) {
        if let framing = reader.framing { connection.writer.setFraming(framing) }
        switch event {
        case .message(let range):
            // A copy, because the reader must not be changed while its bytes are borrowed.
            let copy = reader
            let hasQueued = connection.shared.withLock { !$0.held.isEmpty || $0.isStopping }
            copy.bytes(in: range) { if !hasQueued, connection.mayStart { handle($0, direct) } else { enqueue($0) } }
        case .oversized(let beginning):
            let sender = reader.bytes(in: beginning) { IDSalvage.sender(of: $0) }
            refuse(
                .invalidRequest(
                    "The message is longer than \(connection.limits.messageBytes) bytes; pass large data by path.",
                    limit: "messageBytes"), id: sender.id ?? .null, direct)
        case .lost(let reason):
            refuse(.parseError(reason + " Nothing more can be read from this connection."), id: .null, direct)
            if !atEnd { code = 2 }
        }
    }

    /// Queues a message for later; what a cancellation or an answer of the client asks for is done at once.
    private func enqueue(_ text: UnsafeRawBufferPointer) {
        guard let document = try? JSONDocument(parsing: text) else {
            return enqueue(HeldQueue.Request(text: Array(text), id: IDSalvage.sender(of: text).id, sink: direct))
        }
        let root = document.root
        guard root.kind == .array, let batch = batch(of: root.count) else {
            return enqueue(root, text: Array(text), direct)
        }
        for index in 0..<root.count {
            if let member = root.element(index) { enqueue(member, .batch(batch, index: index)) }
        }
    }

    /// - Parameter text: The text of the message, where there is one.
    private func enqueue(_ root: JSONView, text: [UInt8]? = nil, _ sink: Sink) {
        if root.member("id") == nil, handlesAsCancellation(root) { return sink.deliver(nil, to: nil) }
        // At once, because requests in flight may be waiting for it.
        if handlesAsResponse(root) { return sink.deliver(nil, to: nil) }
        var writer = JSONWriter()
        if text == nil { writer.write(root) }
        var id: RequestID?
        if let view = root.member("id") { id = RequestID(view) }
        enqueue(HeldQueue.Request(text: text ?? writer.bytes, id: id, sink: sink))
    }

    private func enqueue(_ request: HeldQueue.Request) {
        let isStopping = connection.shared.withLock { shared in
            guard !shared.isStopping else { return true }
            shared.held.append(request)
            return false
        }
        if isStopping { connection.refuse(request) }
    }

    private mutating func handle(_ text: UnsafeRawBufferPointer, _ sink: Sink) {
        do {
            let document = try JSONDocument(parsing: text)
            let root = document.root
            if case .direct = sink, root.kind == .array { handleBatch(root) } else { handleMessage(root, sink: sink) }
        } catch {
            let sender = IDSalvage.sender(of: text)
            if sender != .notification { refuse(.parseError(error.description), id: sender.id ?? .null, sink) }
        }
    }

    private var direct: Sink { .direct(connection.writer) }

    /// `nil` when a batch must not have so many members.
    private func batch(of count: Int) -> Batch? {
        let limits = connection.limits
        guard 1...limits.batchCount ~= count else { return nil }
        return Batch(count: count, limit: limits.batchBytes, budget: connection.budget, writer: connection.writer)
    }

    /// Starts the members of a batch, and queues those that may not start yet.
    private mutating func handleBatch(_ root: borrowing JSONView) {
        let count = root.count
        guard count > 0 else { return refuse(.invalidRequest("A batch must not be empty."), id: .null, direct) }
        guard let batch = batch(of: count) else {
            return refuse(
                .invalidRequest(
                    "A batch may have \(connection.limits.batchCount) members, not \(count); send several.",
                    limit: "batchCount"), id: .null, direct)
        }
        for index in 0..<count {
            guard let member = root.element(index) else { continue }
            let hasQueued = connection.shared.withLock { !$0.held.isEmpty || $0.isStopping }
            if !hasQueued, connection.mayStart {
                handleMessage(member, sink: .batch(batch, index: index))
            } else {
                enqueue(member, .batch(batch, index: index))
            }
        }
    }

    /// A notification, a message with a method and without an id, is never answered, whatever is wrong with it.
    private mutating func handleMessage(_ root: JSONView, sink: Sink) {
        guard root.kind == .object else {
            return refuse(.invalidRequest("A request must be an object, not \(root.kind.article)."), id: .null, sink)
        }
        if handlesAsResponse(root) { return sink.deliver(nil, to: nil) }
        var id: RequestID?
        if let view = root.member("id") {
            guard let valid = RequestID(view) else {
                let message = "The id must be a string, a number or null, not \(view.kind.article)."
                return refuse(.invalidRequest(message), id: .null, sink)
            }
            id = valid
            if valid == .null, !handler.answersNull { return sink.deliver(nil, to: nil) }
        }
        guard let method = root.member("method")?.string else {
            return refuse(.invalidRequest("A request must have a \"method\" that is a string."), id: id ?? .null, sink)
        }
        let isSilent = id == nil
        guard root.member("jsonrpc")?.string == "2.0" else {
            return isSilent
                ? sink.deliver(nil, to: nil)
                : refuse(.invalidRequest("A request must have \"jsonrpc\": \"2.0\"."), id: id ?? .null, sink)
        }
        let params = root.member("params")
        if let params, ![.object, .array, .null].contains(params.kind) {
            let message = "The params must be an object or an array, not \(params.kind.article)."
            return isSilent ? sink.deliver(nil, to: nil) : refuse(.invalidRequest(message), id: id ?? .null, sink)
        }
        if id == nil, handlesAsCancellation(root) { return sink.deliver(nil, to: nil) }
        if let id, connection.shared.withLock({ $0.calls.count > 0 && $0.calls.contains(id) }) {
            let message = "A request with this id is still in flight; every request needs an id of its own."
            return refuse(.invalidRequest(message), id: id, sink)
        }
        var writer = JSONWriter()
        swap(&writer, &scratch)
        defer { swap(&writer, &scratch) }
        writer.reset()
        var disposition = Disposition.answered
        let context = MessageContext(id: id, burst: burst)
        var arguments: JSONView?
        if let params, params.count > 0 { arguments = params }
        writer.object { response in
            Response.writeVersion(&response)
            response.key("id")
            (id ?? .null).write(to: &response)
            response.key("result")
            disposition = handler.handle(method, params: arguments, message: context, result: &response)
        }
        switch disposition {
        case .answered: sink.deliver(id == nil ? nil : writer.bytes, to: id)
        case .failed(let error): sink.deliver(id.map { Response.error(id: $0, error) }, to: id)
        case .deferred(let timing, let begin): begin(connection.openCall(id: id, sink: sink, timing: timing))
        case .exit(let code):
            sink.deliver(id.map { id in Response.result(id: id) { $0.writeNull() } }, to: id)
            exitCode = code
        }
    }

    /// Handles a response, also one that answers no open request; a response is never answered itself, whatever its id.
    /// `false` if the message is something else.
    private func handlesAsResponse(_ root: JSONView) -> Bool {
        guard root.member("method") == nil else { return false }
        let isExpected = connection.clientRequests.handleResponse(root)
        return isExpected || root.isResponse
    }

    /// Executes a cancellation of either protocol, `$/cancelRequest` or `notifications/cancelled`; `false` if the
    /// message is something else.
    private func handlesAsCancellation(_ root: borrowing JSONView) -> Bool {
        guard let method = root.member("method")?.string else { return false }
        switch method {
        case "$/cancelRequest":
            if let id = root.member("params")?.member("id"), let id = RequestID(id) {
                connection.cancel(id, answers: true)
            }
            return true
        case "notifications/cancelled":
            if let id = root.member("params")?.member("requestId"), let id = RequestID(id) {
                connection.cancel(id, answers: false)
            }
            return true
        default: return false
        }
    }

    private func refuse(_ error: RPCError, id: RequestID, _ sink: Sink) {
        if id == .null, !handler.answersNull { return sink.deliver(nil, to: nil) }
        sink.deliver(Response.error(id: id, error), to: id)
    }
}

extension JSONView {
    /// `true` when the message is a response, which is never answered itself.
    var isResponse: Bool { member("method") == nil && (member("result") != nil || member("error") != nil) }
}

extension JSONView.Kind {
    /// The kind with its article, for use in a sentence.
    public var article: String {
        switch self {
        case .object, .array, .integer: "an \(rawValue)"
        case .string, .real, .boolean: "a \(rawValue)"
        case .null: "null"
        }
    }
}
