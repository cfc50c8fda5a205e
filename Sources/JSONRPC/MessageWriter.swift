internal import Glibc
internal import Platform
internal import Synchronization

/// The only writer of a connection. It writes whole frames, in order, with one `write` for all frames that are ready.
///
/// Any thread appends frames. A thread that finds the writer idle writes at once without waiting; the writer's own
/// thread writes the remainder and also detects a client that closed its end. Only that thread waits for the client to
/// read, and ``unsentBytes`` is the size of the backlog.
///
/// The caller's thread and the writer's own thread exclude each other with one flag, so that frames never interleave.
final class MessageWriter: Sendable {
    private struct State {
        var framing = MessageFraming.lines
        /// The bytes being written: those from `offset` on are unsent. Empty while a thread has taken them to write.
        var current: [UInt8] = []
        var offset = 0
        var beingWritten = 0
        /// Long messages, each as it was made, and what was appended before them; written after `current`.
        var queue: [OutputPiece] = []
        var queuedBytes = 0
        /// The bytes appended since; written after `queue`.
        var pending: [UInt8] = []
        var isWriting = false
        /// `true` when the last write could not write everything.
        var isFull = false
        /// `true` when the system was short of memory for the last write.
        var isShort = false
        var isCorked = false
        var isGone = false
        var isAnnounced = false
        /// Why nothing more can be written, as a sentence, unless the client is gone; `nil` also once it has been told.
        var failure: String?
        var isFinished = false
        var unsent: Int { current.count - offset + beingWritten + queuedBytes + pending.count }

        /// Appends a piece: a copy of a short one, and a long one as it is, so that it exists once.
        mutating func append(_ piece: OutputPiece) {
            if case .bytes(let bytes) = piece, bytes.count < MessageWriter.pieceSize {
                pending.append(contentsOf: bytes)
                // A buffer that grew further would be copied again and again.
                if pending.count >= MessageWriter.pieceSize { queuePending() }
                return
            }
            if !pending.isEmpty { queuePending() }
            enqueue(piece)
        }

        private mutating func queuePending() {
            enqueue(.bytes(pending))
            pending = []
        }

        private mutating func enqueue(_ piece: OutputPiece) {
            queue.append(piece)
            queuedBytes += piece.count
        }

        /// Takes what is to be written next out of the queue, or a part of it.
        mutating func takePiece() -> OutputPiece? {
            guard let first = queue.first else {
                if pending.isEmpty { return nil }
                swap(&current, &pending)
                defer { current = [] }
                return .bytes(current)
            }
            guard case .spooled(let part) = first, part.range.count > MessageWriter.pieceSize else {
                queue.removeFirst()
                queuedBytes -= first.count
                return first
            }
            let (file, range) = (part.file, part.range)
            let end = range.lowerBound + MessageWriter.pieceSize
            queue[0] = .spooled(ByteSpool.Part(file: file, range: end..<range.upperBound))
            queuedBytes -= MessageWriter.pieceSize
            return .spooled(ByteSpool.Part(file: file, range: range.lowerBound..<end))
        }
    }

    /// The number of bytes that are copied, read from a file or collected at most.
    private static let pieceSize = 1 << 18

    /// The number of times that a pipe must have become writable again before it is enlarged: the client reads, but
    /// more output arrives than fits.
    private static let wideningThreshold = 8

    private let output: OutputDescriptor
    private let wake = WakeEvent()
    private let state = Mutex(State())
    /// Held while a failure is told.
    private let telling = Mutex(())
    private let onFailure: @Sendable (String) -> Void
    private let onGone: @Sendable () -> Void
    private let onDrain: @Sendable () -> Void
    private let lowWater: Int

    /// A writer to `descriptor`, which it takes ownership of.
    ///
    /// - Parameters:
    ///   - tap: Receives a copy of the bytes that are written.
    ///   - lowWater: The number of unsent bytes at which `onDrain` is called, each time they fall to it.
    ///   - onFailure: Called, before `onGone`, with a sentence for the log when it is not the client that is gone.
    ///   - onGone: Called once, from the writer's own thread, when the client can no longer be written to.
    init(
        descriptor: Int32, lowWater: Int, tap: ConnectionTap? = nil, onDrain: @escaping @Sendable () -> Void,
        onFailure: @escaping @Sendable (String) -> Void = { _ in }, onGone: @escaping @Sendable () -> Void
    ) {
        output = OutputDescriptor(descriptor, tap: tap)
        self.lowWater = lowWater
        self.onDrain = onDrain
        self.onFailure = onFailure
        self.onGone = onGone
    }

    /// The number of bytes that the client has not read yet.
    var unsentBytes: Int { state.withLock { $0.unsent } }

    /// `true` when the client can no longer be written to.
    var isGone: Bool { state.withLock { $0.isGone } }

    /// Sets the framing of messages. Default: lines.
    func setFraming(_ framing: MessageFraming) {
        state.withLock { $0.framing = framing }
    }

    /// Only collects frames until ``uncork()`` writes them together.
    func cork() {
        state.withLock { $0.isCorked = true }
    }

    /// Ends ``cork()`` and writes the collected frames.
    func uncork() {
        let isReady = state.withLock { state in
            state.isCorked = false
            return state.unsent > 0
        }
        if isReady { flush() }
    }

    /// Appends one message and writes it, unless the writer is corked or another thread is writing. Messages that a
    /// thread sends while it defers work (``Afterwards``) are written together at the end.
    func send(_ message: [UInt8]) { send(CollectionOfOne(.bytes(message))) }

    /// Appends one message that consists of pieces.
    func send(_ message: some Collection<OutputPiece>) {
        let (mayWrite, mayWait) = state.withLock { state in
            guard !state.isGone else { return (false, true) }
            if state.framing == .contentLength {
                let count = message.reduce(0) { $0 + $1.count }
                state.pending.append(contentsOf: "Content-Length: \(count)\r\n\r\n".utf8)
            }
            for piece in message { state.append(piece) }
            if state.framing == .lines { state.pending.append(UInt8(ascii: "\n")) }
            let isSmall = state.unsent < 1 << 16
            return (!state.isCorked || !isSmall, isSmall)
        }
        guard mayWrite else { return }
        if mayWait, Afterwards.put(off: { [self] in flush() }, for: self) { return }
        flush()
    }

    /// Waits until everything is sent, the client is gone, or `deadline` nanoseconds have passed.
    func drain(within deadline: Int) {
        flush()
        let end = monotonicNanoseconds() + deadline
        while state.withLock({ $0.unsent > 0 && !$0.isGone }), monotonicNanoseconds() < end {
            let events = state.withLock { $0.isShort } ? 0 : Int16(POLLOUT)
            var place = pollfd(fd: output.descriptor, events: events, revents: 0)
            poll(&place, 1, 10)
            flush()
        }
        tellFailure()
    }

    /// Ends the writer's thread; later messages are written only as far as they fit at once.
    func finish() {
        state.withLock { $0.isFinished = true }
        wake.signal()
    }

    deinit { close(output.descriptor) }

    /// Starts the thread that writes the remainder of messages and waits for the client to close its end and for
    /// `watched` descriptors to become readable.
    func start(watching watched: [(descriptor: Int32, handler: @Sendable () -> Void)]) {
        startThread { [self] in run(watching: watched) }
    }

    private func run(watching watched: [(descriptor: Int32, handler: @Sendable () -> Void)]) {
        var places = [wake.place, pollfd(fd: output.descriptor, events: 0, revents: 0)]
        var writableEvents = 0
        places += watched.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while true {
            let (isBehind, isShort) = state.withLock { ($0.unsent > 0 && !$0.isWriting, $0.isShort) }
            // The descriptor is writable all the same.
            if isShort { poll(nil, 0, 10) }
            places[1].events = isBehind ? Int16(POLLOUT) : 0
            guard wake.poll(&places) >= 0 else { continue }
            if state.withLock({ $0.isFinished }) { return }
            announceIfGone(&places[1])
            if Int32(places[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
                markGone()
                announceIfGone(&places[1])
            } else if places[1].revents != 0 {
                // The descriptor can also be writable because no thread has filled it yet; only a full one counts as an
                // event of the client.
                if state.withLock({ $0.isFull }) {
                    writableEvents += 1
                    if writableEvents == Self.wideningThreshold { output.widen() }
                }
                flush()
            }
            for (index, watch) in watched.enumerated() where places[2 + index].revents != 0 {
                places[2 + index].fd = -1
                watch.handler()
            }
        }
    }

    /// Marks the client as gone. The calling thread may hold locks, so only the writer's own thread calls `onGone`.
    private func markGone(because failure: String? = nil) {
        state.withLock { state in
            if !state.isGone { state.failure = failure }
            state.isGone = true
            state.pending = []
            (state.queue, state.queuedBytes) = ([], 0)
            state.current = []
            state.offset = 0
        }
        wake.signal()
    }

    private func announceIfGone(_ place: inout pollfd) {
        let isNew = state.withLock { state in
            guard state.isGone, !state.isAnnounced else { return false }
            state.isAnnounced = true
            return true
        }
        guard isNew else { return }
        place.fd = -1
        tellFailure()
        onGone()
    }

    /// Tells the failure that nobody has been told of yet; when this returns, it has been told. The calling thread holds no
    /// locks.
    private func tellFailure() {
        telling.withLock { _ in
            let failure = state.withLock { state in
                defer { state.failure = nil }
                return state.failure
            }
            if let failure { onFailure(failure) }
        }
    }

    // MARK: Writing

    /// Writes what fits, up to a size: then the writer's own thread goes on, because the calling thread has other work.
    private func flush() {
        var written = 0
        while written < 1 << 22 {
            var bytes: [UInt8] = []
            let next: (start: Int, part: ByteSpool.Part?)? = state.withLock { state in
                guard !state.isWriting, !state.isGone, state.unsent > 0 else { return nil }
                state.isWriting = true
                let start = state.offset
                state.offset = 0
                guard state.current.isEmpty else {
                    swap(&state.current, &bytes)
                    state.beingWritten = bytes.count - start
                    return (start, nil)
                }
                switch state.takePiece() {
                case .bytes(let piece): bytes = piece
                case .spooled(let part):
                    state.beingWritten = part.range.count
                    return (0, part)
                case nil: break
                }
                state.beingWritten = bytes.count
                return (0, nil)
            }
            guard let next else { return }
            if let part = next.part {
                // What cannot be read any more cannot be answered any more.
                do { bytes = try part.bytes() } catch {
                    let reason = String(cString: strerror((error as? SystemError)?.code ?? EIO))
                    return markGone(because: "An answer that was put aside cannot be read back: \(reason).")
                }
            }
            let count = bytes.count - next.start
            switch write(&bytes, from: next.start) {
            case .wrote: written += count
            case .wouldBlock, .isShort: return wake.signal()
            case .gone: return markGone()
            case .failed(let code):
                return markGone(because: "Standard output cannot be written: \(String(cString: strerror(code))).")
            }
        }
        wake.signal()
    }

    /// Writes as much as fits and stores the rest. The caller has set `isWriting`; this method clears it.
    private func write(_ bytes: inout [UInt8], from start: Int) -> OutputDescriptor.Outcome {
        var offset = start
        var outcome = OutputDescriptor.Outcome.wrote(0)
        bytes.withUnsafeBytes { bytes in
            while offset < bytes.count {
                outcome = output.write(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                guard case .wrote(let count) = outcome else { break }
                offset += count
            }
        }
        if offset == bytes.count {
            // The buffer is reused for its capacity, so that a busy connection writes without allocating. No other copy
            // of it may exist then.
            if bytes.capacity <= 1 << 18 { bytes.removeAll(keepingCapacity: true) } else { bytes = [] }
            offset = 0
        }
        let hasDrained = state.withLock { state in
            let before = state.unsent
            state.isWriting = false
            state.beingWritten = 0
            state.isFull = outcome == .wouldBlock
            state.isShort = outcome == .isShort
            swap(&state.current, &bytes)
            state.offset = offset
            return before > lowWater && state.unsent <= lowWater
        }
        if hasDrained { onDrain() }
        return outcome
    }
}
