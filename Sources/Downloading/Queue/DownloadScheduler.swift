internal import Glibc
internal import Platform
internal import Synchronization

/// Gives downloads their slots: by priority, within the limits of a ``DownloadQueue``.
final class DownloadScheduler: PriorityObserver {
    /// The name of a download's place in the queue, and of its slot when it runs.
    typealias Slot = UInt64

    private struct State {
        var queue = DownloadQueue()
        /// `true` while a client is left who can resume paused downloads.
        var mayPause = true
        var timeout = DownloadLimits.defaultTimeout
        /// The timer for the next start that the rate allows.
        var alarm = EarliestAlarm()

        mutating func apply(_ configuration: ImageDownloader.Configuration, at now: Int) {
            timeout = configuration.timeout
            queue.limits = DownloadQueue.Limits(
                perHost: configuration.maxDownloadsPerHost, total: configuration.maxConcurrentDownloads,
                connections: DescriptorBudget.ofProcess.downloads)
            queue.reorder(configuration.order)
            let bucket = TokenBucket(rate: configuration.startsPerSecond, burst: configuration.burst, at: now)
            if !queue.bucket.hasLimits(of: bucket) { queue.bucket = bucket }
            let hostRate = HostRate(rate: configuration.startsPerSecondPerHost, burst: configuration.burst)
            if !queue.hostRate.hasLimits(of: hostRate) { queue.hostRate = hostRate }
        }
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Int
    private let memory: BodyMemory
    private let activity: @Sendable (_ running: Int) -> Void

    /// - Parameters:
    ///   - memory: The bodies that wait to be stored.
    ///   - activity: Receives the number of running downloads after each change, in order.
    init(
        _ configuration: ImageDownloader.Configuration, now: @escaping @Sendable () -> Int, memory: BodyMemory,
        activity: @escaping @Sendable (_ running: Int) -> Void
    ) {
        (self.now, self.memory, self.activity) = (now, memory, activity)
        state.withLock { $0.apply(configuration, at: now()) }
    }

    /// The longest wait for the next bytes, in seconds, of downloads whose options name none.
    var timeout: Double { state.withLock { $0.timeout } }

    /// The numbers of running downloads, of those among them whose servers are silent, and of waiting downloads.
    var load: (running: Int, stalled: Int, waiting: Int) {
        state.withLock { ($0.queue.runningCount, $0.queue.stalledCount, $0.queue.waitingCount) }
    }

    /// Changes limits, order, rates and timeout from now on.
    func configure(_ configuration: ImageDownloader.Configuration) {
        state.withLock { $0.apply(configuration, at: now()) }
        startWaiting()
    }

    /// Pauses the start of downloads; `isForGood` when they are not paused again. Returns those that are paused now.
    func pause(_ pause: DownloadPause, isForGood: Bool = false) -> DownloadPause {
        let paused = state.withLock { state in
            if isForGood { state.mayPause = false }
            state.queue.pause = state.mayPause ? pause : .none
            return state.queue.pause
        }
        startWaiting()
        return paused
    }

    // MARK: Slots

    /// Adds a download to the queue.
    ///
    /// - Parameter receiver: Makes the one that receives its turn, perhaps before this returns. Called under the lock.
    func enqueue(host: String, _ priority: any ChangingPriority, _ receiver: (Slot) -> DownloadQueue.Receiver) {
        // Startable with its receiver; otherwise another thread could start a download without one.
        let slot = state.withLock { state in
            let slot = state.queue.enqueue(host: host, priority: priority.currentPriority, arrival: priority.arrival)
            state.queue[slot] = receiver(slot)
            // For good: it is that of a job, which ends with the download.
            priority.add(self, slot)
            return slot
        }
        // The priority may have changed before it was observed.
        priorityChanged(priority, slot)
    }

    /// Waits for a slot at the host that a running download was redirected to. Its own slot is free meanwhile.
    func move(_ slot: Slot, to host: String) async throws {
        try await awaitResult { [self] end in
            state.withLock { state in
                state.queue[slot] = end
                state.queue.move(slot, to: host)
                activity(state.queue.runningCount)
            }
            startWaiting()
        } cancel: { [self] in
            cancel(slot)
        }
    }

    /// Removes a waiting download from the queue; its receiver is told. Without effect on a running one.
    func cancel(_ slot: Slot) {
        let receiver = state.withLock { state -> DownloadQueue.Receiver? in
            guard let receiver = state.queue[slot].take() else { return nil }
            state.queue.remove(slot)
            return receiver
        }
        receiver?(.failure(CancellationError()))
    }

    /// Gives back the slot of a download that has ended or left the queue.
    func release(_ slot: Slot) {
        state.withLock { state in
            let running = state.queue.runningCount
            state.queue.remove(slot)
            if state.queue.runningCount != running { activity(state.queue.runningCount) }
        }
        startWaiting()
    }

    /// Frees the slot of a download whose server is silent, or counts the download again.
    func setStalled(_ slot: Slot, _ isStalled: Bool) {
        state.withLock { $0.queue.setStalled(slot, isStalled) }
        if isStalled { startWaiting() }
    }

    /// Moves a download to the position of its current priority, and starts the downloads that may start.
    func priorityChanged(_ priority: any ChangingPriority, _ id: UInt64) {
        state.withLock { $0.queue.setPriority(id, to: priority.currentPriority) }
        startWaiting()
    }

    private func startWaiting() {
        while true {
            let (isStarted, receiver) = state.withLock { state -> (Bool, DownloadQueue.Receiver?) in
                let now = now()
                switch state.queue.start(at: now, isHeldBack: memory.isUsedUp) {
                case .download(let id):
                    activity(state.queue.runningCount)
                    return (true, state.queue[id].take())
                case .wait(let nanoseconds):
                    if state.alarm.set(now + nanoseconds) { wake(at: now + nanoseconds, in: nanoseconds) }
                case .none: break
                }
                return (false, nil)
            }
            guard isStarted else { return }
            receiver?(.success(()))
        }
    }

    /// Starts downloads again when the rate allows the next start, or they may not be held back any more.
    private func wake(at moment: Int, in nanoseconds: Int) {
        Task { [weak self] in
            try? await Task.sleep(for: .nanoseconds(nanoseconds))
            guard let self, state.withLock({ $0.alarm.ring(at: moment) }) else { return }
            startWaiting()
        }
    }
}

/// The downloads that are not started for now.
public enum DownloadPause: String, Sendable, Hashable, CaseIterable {
    /// None: all are started in their turn.
    case none
    /// Those that nobody waits for.
    case prefetch
    /// All.
    case all
}

/// The division of the process's file descriptors among downloads, idle connections and files, so that none is missing
/// for a file.
struct DescriptorBudget: Sendable, Equatable {
    /// The number of downloads that may run at once. Each has a connection, at times two while addresses are tried, and
    /// the file of its body.
    let downloads: Int
    let idleConnections: Int

    /// - Parameter limit: The number of descriptors that the process may have.
    init(limit: Int) {
        // For the protocol, the index, the locks, and files being read and written.
        let own = 32
        idleConnections = min(max((limit - own) / 4, 1), 64)
        downloads = max((limit - own - idleConnections) / 3, 1)
    }

    static var ofProcess: DescriptorBudget {
        var limit = rlimit()
        let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
        return DescriptorBudget(limit: isKnown ? Int(clamping: limit.rlim_cur) : 1024)
    }
}
