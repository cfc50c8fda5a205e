internal import ImageRecipes
internal import Platform

/// Decides which codec worker runs which jobs, and when workers start and end: a plain value.
///
/// Jobs start in the order of arrival, each as soon as there is a worker and memory for it. Nothing overtakes a large
/// job that waits for memory, so that no job waits forever. A job that exceeds the whole memory limit runs alone. Jobs
/// of one group that wait at the same time run together: their source is decoded and their common first steps run once.
struct CodecSchedule: Sendable {
    typealias JobID = UInt64

    /// What jobs that may run together have in common.
    struct Group: Sendable, Equatable {
        let source: ExactText
        let format: String
        let originalFormat: String?
        let limits: RenderLimits

        init(_ request: RenderRequest) {
            (source, limits) = (ExactText(request.source), request.limits)
            (format, originalFormat) = (request.format, request.originalFormat)
        }
    }

    struct Job: Sendable, Equatable {
        let id: JobID
        /// The group of jobs that may run together; `nil` to run alone.
        var group: Group?
        /// The estimated number of pixel bytes.
        let cost: Int
    }

    enum Step: Sendable, Equatable {
        case run([JobID])
        /// Waits for that number of nanoseconds, or until it is woken.
        case wait(Int)
        /// Ends; the schedule has removed it.
        case end
    }

    /// An action that the caller must perform after a change.
    enum Effect: Sendable, Equatable {
        case none
        /// Wakes the waiting worker with that number.
        case wake(Int)
        /// Starts a worker with that number.
        case start(Int)
    }

    private struct Worker: Sendable {
        var jobs: Set<JobID> = []
        var cost = 0
        var idleSince: Int?
        /// `true` when the worker has been woken and has not asked for its next step yet.
        var isWoken = false
    }

    let limits: CodecPool.Configuration
    /// The largest number of jobs of one group that run together.
    static let together = 8
    private var waiting: [Job] = []
    private var workers: [Int: Worker] = [:]
    private var lastNumber = 0

    init(_ limits: CodecPool.Configuration) { self.limits = limits }

    var workerCount: Int { workers.count }
    var waitingCount: Int { waiting.count }
    private var spent: Int { workers.values.reduce(0) { $0 + $1.cost } }

    private func fits(_ job: Job) -> Bool { spent == 0 || spent + job.cost <= limits.memoryBytes }

    /// Adds a job to the end of the queue.
    mutating func submit(_ job: Job) -> Effect {
        waiting.append(job)
        return wakeOrStartWorker()
    }

    /// Wakes or starts a worker for the first waiting job, if there is memory for it.
    private mutating func wakeOrStartWorker() -> Effect {
        guard let first = waiting.first, fits(first) else { return .none }
        // A woken worker will take the job.
        if workers.values.contains(where: \.isWoken) { return .none }
        if let number = workers.filter({ $0.value.idleSince != nil }).keys.min() {
            workers[number]?.isWoken = true
            return .wake(number)
        }
        guard workers.count < max(1, limits.maxWorkers) else { return .none }
        lastNumber += 1
        workers[lastNumber] = Worker(isWoken: true)
        return .start(lastNumber)
    }

    /// Gives up a worker that could not be started; the others do its jobs.
    ///
    /// - Returns: The jobs that nobody does, for there is no other.
    mutating func giveUp(_ number: Int) -> [JobID] {
        workers[number] = nil
        guard workers.isEmpty else { return [] }
        defer { waiting = [] }
        return waiting.map(\.id)
    }

    /// The next step of a worker that has finished its jobs, and the effect on other workers.
    mutating func next(_ number: Int, at now: Int) -> (step: Step, effect: Effect) {
        guard var worker = workers[number] else { return (.end, .none) }
        worker.isWoken = false
        worker.jobs = []
        worker.cost = 0
        workers[number] = worker
        if let first = waiting.first, fits(first) {
            var batch = [first]
            waiting.removeFirst()
            if let group = first.group {
                for job in waiting where job.group == group && job.cost <= first.cost && batch.count < Self.together {
                    batch.append(job)
                }
                let ids = Set(batch.map(\.id))
                waiting.removeAll { ids.contains($0.id) }
            }
            worker.jobs = Set(batch.map(\.id))
            worker.cost = max(1, batch.map(\.cost).max() ?? 0)
            worker.idleSince = nil
            workers[number] = worker
            return (.run(batch.map(\.id)), wakeOrStartWorker())
        }
        let since = worker.idleSince ?? now
        let rest = since &+ Int(limits.idleSeconds * 1e9) &- now
        guard rest > 0 else {
            workers[number] = nil
            return (.end, .none)
        }
        worker.idleSince = since
        workers[number] = worker
        return (.wait(rest), .none)
    }

    /// Cancels a job, if it is not finished.
    ///
    /// - Returns: The number of the worker that must abort, because it runs this job alone; `nil` for none.
    mutating func cancel(_ id: JobID) -> Int? {
        waiting.removeAll { $0.id == id }
        guard let number = workers.first(where: { $0.value.jobs.contains(id) })?.key else { return nil }
        workers[number]?.jobs.remove(id)
        return workers[number]?.jobs.isEmpty == true ? number : nil
    }
}
