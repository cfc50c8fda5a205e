/// What each of a pool's threads does: a plain value, for those who decide under a lock.
///
/// As many threads work as there are processors; more would only take turns with them. They need not be enough, for work
/// may wait for the disk: so when some waits for a thread, one more comes to keep watch, as long as work is begun between
/// two of its looks, for calling it anew each time that a job has to wait a moment costs more than its looks. When none
/// was begun and some waits, it works too until there is nothing to do, and the next one keeps watch. So however many
/// threads are stuck, the next work is begun after two looks, up to the limit; as long as one of them gets on, the others
/// are left alone. One that says that it will wait for the disk (``beginWait(isWaiting:)``) counts for nothing as long as
/// it does, and another works in its stead at once.
struct PoolSchedule: Sendable {
    /// Who is to be called.
    enum Call: Sendable {
        case nobody
        /// One that sleeps.
        case sleeper
        /// A new thread.
        case recruit
    }

    /// What a thread does next.
    enum Duty: Sendable {
        case work
        /// Look again in a while.
        case watch
        case sleep
    }

    private enum Watch: Sendable { case nobody, called, onDuty }

    /// How many threads there may be.
    let limit: Int
    /// How many work without delay.
    let workers: Int
    private var threads = 0
    private var sleeping = 0
    /// How many wait for the disk and have said so.
    private(set) var stuck = 0
    /// Whether one has been called and is not here yet; one comes after the other, and each sees to the next.
    private var isComing = false
    private var watch = Watch.nobody
    /// How much work was begun, and how much at the last look.
    private var begun = 0
    private var seen = 0

    /// A crew without threads.
    init(limit: Int, workers: Int) {
        self.limit = limit
        self.workers = min(workers, limit)
    }

    private var working: Int { threads - sleeping - stuck - (watch == .onDuty ? 1 : 0) }

    /// Who is to be called, when work waits that nobody is about to begin.
    mutating func call(isWaiting: Bool) -> Call {
        guard isWaiting, !isComing else { return .nobody }
        if working >= workers {
            guard watch == .nobody, sleeping > 0 || threads < limit else { return .nobody }
            watch = .called
        }
        if sleeping > 0 {
            sleeping -= 1
            isComing = true
            return .sleeper
        }
        guard threads < limit else { return .nobody }
        threads += 1
        isComing = true
        return .recruit
    }

    /// What a thread does that was called and is here.
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

    /// What the thread does that keeps watch, after a while.
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

    /// A thread that works is about to wait for the disk.
    mutating func beginWait(isWaiting: Bool) -> Call {
        stuck += 1
        return call(isWaiting: isWaiting)
    }

    /// It has waited and works again.
    mutating func endWait() { stuck -= 1 }

    /// A thread begins some work.
    mutating func begin() { begun &+= 1 }

    /// A thread found no work and sleeps until it is called.
    mutating func rest() { sleeping += 1 }
}
