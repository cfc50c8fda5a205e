/// Decides what each thread of a pool does: a plain value, used under a lock.
///
/// As many threads work as there are processors; more would only take turns with them. They need not be enough, for work
/// may wait for the disk: so when work waits for a thread, one more comes to watch, and stays as long as work is begun
/// between two of its looks, for calling it anew each time costs more than its looks. When none was begun and some waits,
/// it works too until there is nothing to do, and the next thread watches. So however many threads are stuck, the next
/// work is begun after two looks, up to the limit; as long as one of them gets on, the others are left alone. A thread
/// that announces a wait for the disk (``beginWait(isWaiting:)``) is not counted meanwhile, and another works in its stead
/// at once.
struct PoolSchedule: Sendable {
    enum Call: Sendable { case nobody, sleeper, newThread }

    /// The next action of a thread; `watch` is to look again in a while.
    enum Duty: Sendable { case work, watch, sleep }

    private enum Watch: Sendable { case nobody, called, onDuty }

    /// The most threads.
    let limit: Int
    /// The number of threads that work without delay.
    let workers: Int
    private var threads = 0
    private var sleeping = 0
    /// The number of threads that have announced a wait for the disk.
    private(set) var stuck = 0
    /// `true` while a called thread has not arrived: one comes after the other, and each calls the next.
    private var isComing = false
    private var watch = Watch.nobody
    /// The number of jobs that were begun, and that number at the last look.
    private var begun = 0
    private var seen = 0

    init(limit: Int, workers: Int) {
        self.limit = limit
        self.workers = min(workers, limit)
    }

    private var working: Int { threads - sleeping - stuck - (watch == .onDuty ? 1 : 0) }

    /// Calls a thread, when work waits that none is about to begin.
    mutating func call(isWaiting: Bool) -> Call {
        guard isWaiting, !isComing else { return .nobody }
        if working >= workers {
            guard watch == .nobody, sleeping > 0 || threads < limit else { return .nobody }
            watch = .called
        }
        guard sleeping > 0 || threads < limit else { return .nobody }
        isComing = true
        if sleeping > 0 {
            sleeping -= 1
            return .sleeper
        }
        threads += 1
        return .newThread
    }

    /// A new thread that was called could not be started.
    ///
    /// - Returns: `false` when there is no other.
    mutating func remove() -> Bool {
        threads -= 1
        isComing = false
        if watch == .called { watch = .nobody }
        return threads > 0
    }

    /// The duty of a called thread that has arrived.
    mutating func arrive() -> Duty {
        isComing = false
        guard watch == .called else { return .work }
        guard working > workers else {
            watch = .nobody
            return .work
        }
        watch = .onDuty
        seen = begun
        return .watch
    }

    /// The duty of the watching thread, after a while.
    mutating func look(isWaiting: Bool) -> Duty {
        if begun != seen, !isWaiting || working >= workers {
            seen = begun
            return .watch
        }
        watch = .nobody
        if isWaiting { return .work }
        sleeping += 1
        return .sleep
    }

    /// A working thread is about to wait for the disk.
    mutating func beginWait(isWaiting: Bool) -> Call {
        stuck += 1
        return call(isWaiting: isWaiting)
    }

    /// It has waited and works again.
    mutating func endWait() { stuck -= 1 }

    mutating func begin() { begun &+= 1 }

    /// A thread found no job and sleeps until it is called.
    mutating func rest() { sleeping += 1 }
}
