internal import Platform
internal import Synchronization

/// The exclusive right of one job to download an image, among all jobs and processes that use a cache folder.
///
/// A job claims it when the download gets its slot, so that no process blocks others for a download that has not
/// started. It ends with the last reference: when the download has ended and its image is stored.
final class DownloadClaim: Sendable {
    private struct State {
        var patience: LockPatience
        /// The lock between processes, once it is taken.
        var hold: DownloadLockHold?
        var hasWaited = false
        var hasWaitedForOtherProcess = false
        /// `true` when the lock is not requested any more.
        var isSettled = false
        var hasBody = false
    }

    /// The process that downloads or stores the image at the moment.
    enum Holder: Sendable {
        case ownProcess, otherProcess
    }

    /// The identity of the download among processes; `nil` when others cannot find its image.
    private let identity: Digest?
    /// `true` when other processes can find the downloaded image.
    private let isForOtherProcesses: Bool
    /// `true` when the job waits for images that other jobs of this process store.
    private let merges: Bool
    private let started: Int
    /// The time between reports of progress to other processes, in nanoseconds; shorter for shorter timeouts.
    private let interval: Int
    private let lock: DownloadLock
    private let state: Mutex<State>

    init(_ plan: FetchPlan) {
        let options = plan.options
        // Waiting is useless for an image that cannot be found afterwards.
        let isAlone =
            options.lookup.forceRefresh || options.storage.fromMemoryCacheOrRefresh || options.storage.keepsNothing
        identity = isAlone ? nil : plan.request.flight(to: plan.key, inMemory: options.storage.cacheMemoryOnly)
        isForOtherProcesses = !options.storage.cacheMemoryOnly
        merges = options.network.merges
        lock = plan.cache.flights
        let span = Int(plan.request.limits.timeoutSeconds * 1e9)
        (started, interval) = (plan.started, min(1_000_000_000, span / 4))
        state = Mutex(State(patience: LockPatience(from: plan.started, span: span), isSettled: identity == nil))
    }

    deinit {
        if let identity, state.withLock({ $0.hasBody }) { lock.noteStored(identity) }
    }

    // MARK: The lock

    /// `true` when another job of this process is about to store the image.
    private func isBeingStoredHere(_ identity: Digest) -> Bool { merges && lock.isBeingStored(identity) }

    /// Takes the lock if that is possible without waiting.
    ///
    /// - Returns: `false` when another job or process downloads the image, or may do so.
    func lockAtOnce() -> Bool {
        guard let identity, state.withLock({ !$0.isSettled }) else { return true }
        if isBeingStoredHere(identity) { return false }
        let attempt = isForOtherProcesses ? lock.lockAtOnce(identity) : .impossible
        return attempt.map(apply) ?? false
    }

    /// Takes the lock. Waits for the disk.
    ///
    /// - Returns: The holder when the lock is not free.
    func lockOrHolder() -> Holder? {
        guard let identity, state.withLock({ !$0.isSettled }) else { return nil }
        if isBeingStoredHere(identity) { return .ownProcess }
        return apply(isForOtherProcesses ? lock.take(identity) : .impossible) ? nil : .otherProcess
    }

    /// The holder of the lock. A free lock is released again, and taken with the next slot. Waits for the disk.
    func holder() -> Holder? {
        guard let identity else { return nil }
        if state.withLock({ !$0.isSettled }), isBeingStoredHere(identity) { return .ownProcess }
        guard isForOtherProcesses, case .busy = lock.take(identity) else { return nil }
        return .otherProcess
    }

    /// - Returns: `false` when another process has the lock.
    private func apply(_ attempt: DownloadLock.Attempt) -> Bool {
        if case .busy = attempt { return false }
        state.withLock { state in
            if case .taken(let hold) = attempt { state.hold = hold }
            state.isSettled = true
        }
        return true
    }

    // MARK: Waiting

    var hasWaited: Bool { state.withLock { $0.hasWaited } }
    var hasWaitedForOtherProcess: Bool { state.withLock { $0.hasWaitedForOtherProcess } }

    /// The pause before the next check for a holder.
    ///
    /// - Returns: `nil` when the wait is over: there is no holder, or it makes no progress.
    func pause(for holder: Holder?, at now: Int, waiters: Int) -> Duration? {
        let progress = identity.map(lock.progress) ?? 0
        return state.withLock { state in
            state.hasWaited = true
            if holder == .otherProcess { state.hasWaitedForOtherProcess = true }
            guard holder != nil else { return nil }
            let pause = state.patience.next(at: now, progress: progress, waiters: waiters)
            if pause == nil { state.isSettled = true }
            return pause
        }
    }

    // MARK: Progress of the download

    /// Reports progress to other processes that wait.
    func noteProgress(at now: Int) {
        state.withLock { $0.hold }?.noteProgress(at: now, since: started, every: interval)
    }

    /// Notes that the body is complete: other jobs for the image then wait for the store, which takes no longer.
    ///
    /// A job that has shared another's download takes the lock here, while the other still has it: that one may have left,
    /// and the lock lasts until the image is stored.
    func noteBody() {
        guard let identity else { return }
        if isForOtherProcesses, state.withLock({ !$0.isSettled }) { _ = lock.lockAtOnce(identity).map(apply) }
        state.withLock { state in
            if !state.hasBody { lock.noteBodyArrived(identity) }
            state.hasBody = true
        }
    }
}
