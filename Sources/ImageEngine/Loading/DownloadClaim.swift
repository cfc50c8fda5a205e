internal import Platform
internal import Synchronization

/// The right of one job to download an image, among all jobs and processes on a cache folder.
///
/// It is asked for when the download gets its slot, so that no process keeps others waiting for a download that it has not
/// started. It ends with the last reference: when the download is over and its image stored.
final class DownloadClaim: Sendable {
    private struct State {
        var patience: LockPatience
        /// The lock among the processes, once it is taken.
        var lease: DownloadLease?
        var hasWaited = false
        var hasWaitedForOtherProcess = false
        /// `true` when the lock is not asked for any more.
        var isSettled = false
        var hasBody = false
        var hit: ImageCache.Hit?
        var changedURLs: [String] = []
        var isOver = false
    }

    /// Who downloads or stores the image at the moment.
    enum Holder: Sendable {
        case ownProcess, otherProcess
    }

    /// What processes tell the download by; `nil` when its image is not to be found by others.
    private let identity: Digest?
    /// `true` when other processes find the image that the download brings.
    private let isForOtherProcesses: Bool
    /// `true` when the images that other jobs of this process store are waited for.
    private let merges: Bool
    private let started: Int
    /// The nanoseconds from one note of progress to the next: fewer when others wait less long.
    private let interval: Int
    private let lock: DownloadLock
    private let state: Mutex<State>

    init(_ plan: FetchPlan) {
        let options = plan.outgoing.options
        // An image that is not to be found afterwards is not worth waiting for.
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

    /// Takes the lock if that takes no waiting.
    ///
    /// - Returns: `false` when somebody else brings the image, or may do so.
    func lockAtOnce() -> Bool {
        guard let identity, state.withLock({ !$0.isSettled }) else { return true }
        if isBeingStoredHere(identity) { return false }
        let attempt = isForOtherProcesses ? lock.lockAtOnce(identity) : .impossible
        return attempt.map(note) ?? false
    }

    /// Takes the lock; waits for the disk.
    ///
    /// - Returns: The one who has it instead.
    func lockOrHolder() -> Holder? {
        guard let identity, state.withLock({ !$0.isSettled }) else { return nil }
        if isBeingStoredHere(identity) { return .ownProcess }
        return note(isForOtherProcesses ? lock.take(identity) : .impossible) ? nil : .otherProcess
    }

    /// The one who has the lock, which is not kept: it is taken with the next slot. Waits for the disk.
    func holder() -> Holder? {
        guard let identity else { return nil }
        if state.withLock({ !$0.isSettled }), isBeingStoredHere(identity) { return .ownProcess }
        guard isForOtherProcesses, case .busy = lock.take(identity) else { return nil }
        return .otherProcess
    }

    /// - Returns: `false` when another process has the lock.
    private func note(_ attempt: DownloadLock.Attempt) -> Bool {
        if case .busy = attempt { return false }
        state.withLock { state in
            if case .taken(let lease) = attempt { state.lease = lease }
            state.isSettled = true
        }
        return true
    }

    // MARK: Waiting for others

    /// `true` once the image was waited for.
    var hasWaited: Bool { state.withLock { $0.hasWaited } }
    /// `true` once it was waited for another process.
    var hasWaitedForOtherProcess: Bool { state.withLock { $0.hasWaitedForOtherProcess } }

    /// The pause before the holder is looked for again.
    ///
    /// - Returns: `nil` when the image is waited for no more: there is no holder, or the holder makes no progress.
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

    /// The image that somebody else has brought.
    var hit: ImageCache.Hit? {
        get { state.withLock { $0.hit } }
        set { state.withLock { $0.hit = newValue } }
    }

    // MARK: What the download does

    /// Lets other processes that wait know that the download makes progress.
    func noteProgress(at now: Int) {
        state.withLock { $0.lease }?.noteProgress(at: now, since: started, every: interval)
    }

    /// Notes that the body has come: jobs that want the same wait until it is stored, which takes no longer.
    func noteBody() {
        guard let identity else { return }
        state.withLock { state in
            if !state.hasBody { lock.noteBodyArrived(identity) }
            state.hasBody = true
        }
    }

    /// The URLs at which a request that is no GET has changed something.
    var changedURLs: [String] { state.withLock { $0.changedURLs } }

    /// Adds a URL at which something was changed.
    ///
    /// - Returns: `false` when ``takeChangedURLs()`` was called before.
    func noteChange(at url: String) -> Bool {
        state.withLock { state in
            if !state.isOver { state.changedURLs.append(url) }
            return !state.isOver
        }
    }

    /// The changed URLs, for the last time: the job has failed.
    func takeChangedURLs() -> [String] {
        state.withLock { state in
            state.isOver = true
            return state.changedURLs
        }
    }
}
