internal import Glibc
internal import Platform
internal import Synchronization

/// The one writer of a connection: whole frames only, in the order given, one `write` for all that are ready.
///
/// Frames are appended by any thread. Whoever finds the writer idle writes at once and without waiting; what does not
/// fit is left to the writer's own thread, which also notices a client that hung up. Nobody but that thread ever
/// waits for the client to read, and ``unsentBytes`` tells how far behind it is.
///
/// The caller's thread and ours take turns under one flag, so that frames never interleave.
final class MessageWriter: Sendable {
    private struct State {
        var framing = MessageFraming.lines
        /// Being written: the bytes from `offset` on are unsent. Empty while somebody has them in hand.
        var current: [UInt8] = []
        var offset = 0
        var inHand = 0
        /// Gathered since; written when `current` is done.
        var pending: [UInt8] = []
        var isWriting = false
        /// Whether the last write found no room for all.
        var isFull = false
        var isCorked = false
        var isGone = false
        var isAnnounced = false
        var isFinished = false
        var unsent: Int { current.count - offset + inHand + pending.count }
    }

    /// So often a client must have made room before it is given more: it reads, and still there is more than fits.
    private static let manyReliefs = 8

    private let output: OutputDescriptor
    private let wake = WakeEvent()
    private let state = Mutex(State())
    private let onGone: @Sendable () -> Void
    private let onDrain: @Sendable () -> Void
    private let lowWater: Int

    /// A writer to `descriptor`, which it takes over.
    ///
    /// - Parameters:
    ///   - tap: Hears of what is written.
    ///   - lowWater: `onDrain` is called each time the unsent bytes fall to this many.
    ///   - onGone: Called once, from the writer's own thread, when the client can no longer be written to.
    init(
        descriptor: Int32, lowWater: Int, tap: ConnectionTap? = nil, onDrain: @escaping @Sendable () -> Void,
        onGone: @escaping @Sendable () -> Void
    ) {
        output = OutputDescriptor(descriptor, tap: tap)
        self.lowWater = lowWater
        self.onDrain = onDrain
        self.onGone = onGone
    }

    /// Bytes that the client has not taken yet.
    var unsentBytes: Int { state.withLock { $0.unsent } }

    /// Whether the client can no longer be written to.
    var isGone: Bool { state.withLock { $0.isGone } }

    /// Sets how frames are told apart; lines until then.
    func use(_ framing: MessageFraming) {
        state.withLock { $0.framing = framing }
    }

    /// While corked, frames only gather; ``uncork()`` writes them together.
    func cork() {
        state.withLock { $0.isCorked = true }
    }

    /// Ends ``cork()`` and writes what has gathered.
    func uncork() {
        let isReady = state.withLock { state in
            state.isCorked = false
            return state.unsent > 0
        }
        if isReady { flush() }
    }

    /// Appends one message and writes it unless corked or somebody is writing already. What a thread sends while it
    /// gathers (``Afterwards``) is written together at the end.
    func send(_ message: [UInt8]) {
        let (mayWrite, mayWait) = state.withLock { state in
            guard !state.isGone else { return (false, true) }
            switch state.framing {
            case .lines:
                state.pending.append(contentsOf: message)
                state.pending.append(UInt8(ascii: "\n"))
            case .contentLength:
                state.pending.append(contentsOf: "Content-Length: \(message.count)\r\n\r\n".utf8)
                state.pending.append(contentsOf: message)
            }
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
            var place = pollfd(fd: output.descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&place, 1, 10)
            flush()
        }
    }

    /// Ends the writer's thread; what is sent from now on is written only as far as it fits at once.
    func finish() {
        state.withLock { $0.isFinished = true }
        wake.signal()
    }

    deinit { close(output.descriptor) }

    /// Starts the thread that writes what does not fit and watches for a client that hangs up, and for `watched`
    /// descriptors to become readable.
    func start(watching watched: [(descriptor: Int32, handler: @Sendable () -> Void)]) {
        startThread { [self] in run(watching: watched) }
    }

    private func run(watching watched: [(descriptor: Int32, handler: @Sendable () -> Void)]) {
        var places = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
        places.append(pollfd(fd: output.descriptor, events: 0, revents: 0))
        var reliefs = 0
        places += watched.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        while true {
            let isBehind = state.withLock { $0.unsent > 0 && !$0.isWriting }
            places[1].events = isBehind ? Int16(POLLOUT) : 0
            guard poll(&places, nfds_t(places.count), -1) > 0 else { continue }
            if places[0].revents != 0 { wake.clear() }
            if state.withLock({ $0.isFinished }) { return }
            announceIfGone(&places[1])
            if Int32(places[1].revents) & (POLLERR | POLLHUP | POLLNVAL) != 0 {
                markGone()
                announceIfGone(&places[1])
            } else if places[1].revents != 0 {
                // There may be room because nobody has got to filling it yet: that is not the client's doing.
                if state.withLock({ $0.isFull }) {
                    reliefs += 1
                    if reliefs == Self.manyReliefs { output.widen() }
                }
                flush()
            }
            for (index, watch) in watched.enumerated() where places[2 + index].revents != 0 {
                places[2 + index].fd = -1
                watch.handler()
            }
        }
    }

    /// Gives up on the client. Whoever finds out may hold locks, so only the writer's own thread tells the others.
    private func markGone() {
        state.withLock { state in
            state.isGone = true
            state.pending = []
            state.current = []
            state.offset = 0
        }
        wake.signal()
    }

    private func announceIfGone(_ place: inout pollfd) {
        let isNews = state.withLock { state in
            guard state.isGone, !state.isAnnounced else { return false }
            state.isAnnounced = true
            return true
        }
        guard isNews else { return }
        place.fd = -1
        onGone()
    }

    // MARK: Writing

    private func flush() {
        while true {
            var bytes: [UInt8] = []
            let start: Int? = state.withLock { state in
                guard !state.isWriting, !state.isGone, state.unsent > 0 else { return nil }
                state.isWriting = true
                if state.current.isEmpty { swap(&state.current, &state.pending) }
                swap(&state.current, &bytes)
                let start = state.offset
                state.inHand = bytes.count - start
                state.offset = 0
                return start
            }
            guard let start else { return }
            switch write(&bytes, from: start) {
            case .wrote: continue
            case .wouldBlock: return wake.signal()
            case .gone: return markGone()
            }
        }
    }

    /// Writes what fits and hands back the rest; the flag is ours and is given up here.
    private func write(_ bytes: inout [UInt8], from start: Int) -> OutputDescriptor.Outcome {
        var offset = start
        var outcome = OutputDescriptor.Outcome.wrote(0)
        bytes.withUnsafeBytes { bytes in
            while offset < bytes.count, outcome != .wouldBlock, outcome != .gone {
                outcome = output.write(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                if case .wrote(let count) = outcome { offset += count }
            }
        }
        if offset == bytes.count {
            // Kept for its capacity: a busy connection writes without allocating. Nobody else may have a copy then.
            if bytes.capacity <= 1 << 18 { bytes.removeAll(keepingCapacity: true) } else { bytes = [] }
            offset = 0
        }
        let hasDrained = state.withLock { state in
            let before = state.unsent
            state.isWriting = false
            state.inHand = 0
            state.isFull = outcome == .wouldBlock
            swap(&state.current, &bytes)
            state.offset = offset
            return before > lowWater && state.unsent <= lowWater
        }
        if hasDrained { onDrain() }
        return outcome
    }
}
