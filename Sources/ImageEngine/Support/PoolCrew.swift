/// What each of a pool's threads does: a plain value, for those who decide under a lock.
///
/// As many threads work as there are processors; more would only take turns with them. They need not be enough, for work
/// may wait for the disk: so as long as some waits for a thread, one more keeps watch. When nothing has been begun between
/// two of its looks, it works too, and the next one keeps watch.
struct PoolCrew: Sendable {
    /// Who is to be called.
    enum Call: Sendable {
        case nobody
        /// One that sleeps.
        case sleeper
        /// The one that keeps watch: it is to work.
        case watcher
        /// A new thread.
        case recruit
    }

    /// What a thread does next.
    enum Duty: Sendable {
        case work
        /// Look again in a while.
        case watch
        case sleep
        /// It has been called to work, and the signal is on its way.
        case obey
    }

    private enum Watch: Sendable { case nobody, called, onDuty }

    /// How many threads there may be.
    let limit: Int
    /// How many work without delay.
    let workers: Int
    private var threads = 0
    private var sleeping = 0
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

    private var working: Int { threads - sleeping - (watch == .onDuty ? 1 : 0) }

    /// Who is to be called, when work waits that nobody is about to begin.
    mutating func call(isWaiting: Bool) -> Call {
        guard isWaiting, !isComing else { return .nobody }
        if working >= workers {
            guard watch == .nobody, sleeping > 0 || threads < limit else { return .nobody }
            watch = .called
        }
        if sleeping > 0 {
            sleeping -= 1
        } else if watch == .onDuty {
            watch = .nobody
            isComing = true
            return .watcher
        } else if threads < limit {
            threads += 1
            isComing = true
            return .recruit
        } else {
            return .nobody
        }
        isComing = true
        return .sleeper
    }

    /// What a thread does that was called and is here.
    mutating func arrive(isWaiting: Bool) -> Duty {
        isComing = false
        guard watch == .called else { return .work }
        guard isWaiting, working > workers else {
            watch = .nobody
            return .work
        }
        watch = .onDuty
        seen = begun
        return .watch
    }

    /// What the thread does that keeps watch, after a while without a signal.
    mutating func look(isWaiting: Bool) -> Duty {
        guard watch == .onDuty else { return .obey }
        if isWaiting, begun != seen {
            seen = begun
            return .watch
        }
        watch = .nobody
        if isWaiting { return .work }
        sleeping += 1
        return .sleep
    }

    /// A thread begins some work.
    mutating func begin() { begun &+= 1 }

    /// A thread found no work and sleeps until it is called.
    mutating func rest() { sleeping += 1 }
}
