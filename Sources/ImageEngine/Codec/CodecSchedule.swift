internal import Platform

/// Decides which codec worker does what, when there is to be another one, and when one ends: a plain value.
///
/// Jobs are begun in the order they came, each as soon as there is a worker and memory for it: what is large waits until
/// it fits, and nothing overtakes it, so that nothing waits for ever. A job that needs more than there is at all runs
/// alone. Jobs on one source that wait together are one job: the source is decoded once, and steps that they begin with
/// alike are done once.
struct CodecSchedule: Sendable {
    typealias JobID = UInt64

    /// What may be used.
    struct Limits: Sendable, Equatable {
        /// How many workers there may be.
        var workers = 2
        /// Nanoseconds that a worker without work stays.
        var idle = 30_000_000_000
        /// Bytes of pixels that all workers together may hold, by estimate.
        var memory = 768 << 20
    }

    /// Something to be done.
    struct Job: Sendable, Equatable {
        let id: JobID
        /// Jobs of one group may be done together; nil for alone.
        var group: String?
        /// Bytes of pixels, by estimate.
        let cost: Int
    }

    /// What a worker is to do next.
    enum Step: Sendable, Equatable {
        case run([JobID])
        /// Nothing, for so many nanoseconds, or until it is woken.
        case wait(Int)
        /// Nothing any more: it is forgotten.
        case end
    }

    /// What is to be done for a change to take effect.
    enum Effect: Sendable, Equatable {
        case none
        /// Wakes a worker that waits.
        case wake(Int)
        /// Starts a worker of that number.
        case start(Int)
    }

    private struct Worker: Sendable {
        var jobs: Set<JobID> = []
        var cost = 0
        var idleSince: Int?
        /// Whether it has been woken and has not asked yet.
        var isWoken = false
    }

    let limits: Limits
    /// How many jobs of one group are done together.
    static let together = 8
    private var waiting: [Job] = []
    private var workers: [Int: Worker] = [:]
    private var lastNumber = 0

    init(_ limits: Limits = Limits()) { self.limits = limits }

    /// How many workers there are.
    var workerCount: Int { workers.count }
    /// How many jobs wait.
    var waitingCount: Int { waiting.count }
    private var spent: Int { workers.values.reduce(0) { $0 + $1.cost } }

    private func fits(_ job: Job) -> Bool { spent == 0 || spent + job.cost <= limits.memory }

    /// Adds a job behind the others.
    mutating func submit(_ job: Job) -> Effect {
        waiting.append(job)
        return hire()
    }

    /// Sees to it that somebody does the first of the jobs that wait, if it can be done.
    private mutating func hire() -> Effect {
        guard let first = waiting.first, fits(first) else { return .none }
        // Somebody is on the way already.
        if workers.values.contains(where: \.isWoken) { return .none }
        if let number = workers.filter({ $0.value.idleSince != nil }).keys.min() {
            workers[number]?.isWoken = true
            return .wake(number)
        }
        guard workers.count < limits.workers else { return .none }
        lastNumber += 1
        workers[lastNumber] = Worker(isWoken: true)
        return .start(lastNumber)
    }

    /// What the worker is to do, now that it has nothing to do.
    ///
    /// - Returns: The step, and what others are to do.
    mutating func next(_ number: Int, at now: Int) -> (step: Step, effect: Effect) {
        guard var worker = workers[number] else { return (.end, .none) }
        worker.isWoken = false
        worker.jobs = []
        worker.cost = 0
        workers[number] = worker
        if let first = waiting.first, fits(first) {
            var taken = [first]
            waiting.removeFirst()
            if let group = first.group {
                for job in waiting where job.group == group && job.cost <= first.cost && taken.count < Self.together {
                    taken.append(job)
                }
                let ids = Set(taken.map(\.id))
                waiting.removeAll { ids.contains($0.id) }
            }
            worker.jobs = Set(taken.map(\.id))
            worker.cost = max(1, taken.map(\.cost).max() ?? 0)
            worker.idleSince = nil
            workers[number] = worker
            return (.run(taken.map(\.id)), hire())
        }
        let since = worker.idleSince ?? now
        let rest = since &+ limits.idle &- now
        guard rest > 0 else {
            workers[number] = nil
            return (.end, .none)
        }
        worker.idleSince = since
        workers[number] = worker
        return (.wait(rest), .none)
    }

    /// What a cancelled job was.
    enum Cancelled: Sendable, Equatable {
        /// It is done, or was never there.
        case nothing
        /// It waited, and does not any more.
        case dropped
        /// The worker does nothing else: it is to give up.
        case abandon(Int)
        /// The worker does others along with it, and goes on.
        case shared
    }

    /// Nobody wants a job any more.
    mutating func cancel(_ id: JobID) -> Cancelled {
        if let place = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: place)
            return .dropped
        }
        guard let number = workers.first(where: { $0.value.jobs.contains(id) })?.key else { return .nothing }
        workers[number]?.jobs.remove(id)
        return workers[number]?.jobs.isEmpty == true ? .abandon(number) : .shared
    }
}
