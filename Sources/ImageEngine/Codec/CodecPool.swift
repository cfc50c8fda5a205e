internal import Glibc
internal import ImageRecipes
internal import Platform
internal import Synchronization

/// The codec workers: processes that alone decode pixels, so that no picture harms the server.
///
/// The first is started when the first picture is to be made, a second one when the first is busy, and each ends when it
/// has had nothing to do for a while. One that dies or hangs fails what it was doing, and is replaced. Each has a thread
/// here that waits for it: no wait is on the threads of the concurrency runtime.
public final class CodecPool: Sendable {
    /// The settings of the workers.
    public struct Configuration: Sendable {
        /// The program; nil when there is none.
        public var executable: String?
        /// How many workers there may be; 2 by default.
        public var maxWorkers = 2
        /// Seconds that a worker without work stays; 30 by default.
        public var idleSeconds = 30.0
        /// Bytes of pixels that all workers together may hold, by estimate; 768 MiB by default.
        public var memoryBytes = 768 << 20
        /// Seconds of waiting for a worker beyond what the work may take; 5 by default.
        public var graceSeconds = 5.0

        /// The defaults, with no program.
        public init(executable: String? = nil) { self.executable = executable }
    }

    private struct Job: Sendable {
        let request: RenderRequest
        let continuation: CheckedContinuation<RenderReply, any Error>
        let cost: Int
    }

    private struct State: Sendable {
        var schedule: CodecSchedule
        var jobs: [CodecSchedule.JobID: Job] = [:]
        var wakes: [Int: WakeEvent] = [:]
        var abandoned: Set<Int> = []
        var lastID: CodecSchedule.JobID = 0
        /// Those cancelled before they were there.
        var cancelled: Set<CodecSchedule.JobID> = []
        var started = 0
        /// What the last worker that started has said of itself.
        var facts: CodecFacts?
    }

    private let configuration: Configuration
    private let now: @Sendable () -> Int
    private let state: Mutex<State>

    init(_ configuration: Configuration, now: @escaping @Sendable () -> Int) {
        self.configuration = configuration
        self.now = now
        var limits = CodecSchedule.Limits()
        limits.workers = max(1, configuration.maxWorkers)
        limits.idle = Int(configuration.idleSeconds * 1e9)
        limits.memory = configuration.memoryBytes
        state = Mutex(State(schedule: CodecSchedule(limits)))
    }

    /// Whether there is a program that could be started. One system call.
    public var isAvailable: Bool { configuration.executable.map { access($0, X_OK) == 0 } ?? false }

    /// How many workers have been started so far.
    public var startedCount: Int { state.withLock { $0.started } }

    /// What workers read and write: what the last one that started has said, and until one has, what those of this build
    /// do.
    public var formats: CodecFormats { state.withLock { $0.facts.map(CodecFormats.init) } ?? CodecFormats() }

    /// How many workers there are.
    public var workerCount: Int { state.withLock { $0.schedule.workerCount } }

    /// How much work waits for a worker.
    public var waitingCount: Int { state.withLock { $0.schedule.waitingCount } }

    /// Has pictures made. A cancelled caller leaves at once, and its work is given up.
    ///
    /// - Parameter cost: Bytes of pixels that it takes, by estimate.
    /// - Throws: ``CodecFailure`` or `CancellationError`.
    func render(_ request: RenderRequest, cost: Int) async throws -> RenderReply {
        guard isAvailable else { throw CodecFailure.missing(path: configuration.executable) }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                submit(id, Job(request: request, continuation: continuation, cost: cost))
            }
        } onCancel: {
            cancel(id)
        }
    }

    private func submit(_ id: CodecSchedule.JobID, _ job: Job) {
        let effect = state.withLock { state -> CodecSchedule.Effect? in
            if state.cancelled.remove(id) != nil { return nil }
            state.jobs[id] = job
            return state.schedule.submit(CodecSchedule.Job(id: id, group: Self.group(job.request), cost: job.cost))
        }
        guard let effect else { return job.continuation.resume(throwing: CancellationError()) }
        perform(effect)
    }

    /// What jobs have in common that can be done together.
    private static func group(_ request: RenderRequest) -> String {
        "\(request.source)\n\(request.format)\n\(request.originalFormat ?? "")\n\(request.limits)"
    }

    private func cancel(_ id: CodecSchedule.JobID) {
        let (job, wake) = state.withLock { state -> (Job?, WakeEvent?) in
            guard let job = state.jobs.removeValue(forKey: id) else {
                if id > 0, id <= state.lastID { state.cancelled.insert(id) }
                return (nil, nil)
            }
            guard case .abandon(let number) = state.schedule.cancel(id) else { return (job, nil) }
            state.abandoned.insert(number)
            return (job, state.wakes[number])
        }
        job?.continuation.resume(throwing: CancellationError())
        wake?.signal()
    }

    private func perform(_ effect: CodecSchedule.Effect) {
        switch effect {
        case .none: break
        case .wake(let number): state.withLock { $0.wakes[number] }?.signal()
        case .start(let number):
            let wake = WakeEvent()
            state.withLock { $0.wakes[number] = wake }
            startThread { [self] in work(number, wake) }
        }
    }

    // MARK: On the thread of a worker

    private func work(_ number: Int, _ wake: WakeEvent) {
        var process: CodecProcess?
        while true {
            let (step, effect) = state.withLock { $0.schedule.next(number, at: now()) }
            perform(effect)
            switch step {
            case .run(let ids):
                let jobs = state.withLock { state in ids.compactMap { id in state.jobs[id].map { (id, $0) } } }
                if jobs.isEmpty { continue }
                run(jobs, number, wake, &process)
            case .wait(let nanoseconds):
                let descriptor = process?.descriptor ?? -1
                var places = [
                    pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                ]
                _ = poll(&places, 2, Int32(clamping: min(nanoseconds / 1_000_000 + 1, 3_600_000)))
                if places[0].revents != 0 { wake.clear() }
                // It ended, or speaks without being asked.
                if process?.isSilent == false { process = nil }
            case .end:
                state.withLock { state in
                    state.wakes[number] = nil
                    state.abandoned.remove(number)
                }
                return
            }
        }
    }

    private func run(
        _ jobs: [(id: CodecSchedule.JobID, job: Job)], _ number: Int, _ wake: WakeEvent,
        _ process: inout CodecProcess?
    ) {
        // What was abandoned before is over.
        state.withLock { _ = $0.abandoned.remove(number) }
        let attention = CodecProcess.Attention(event: wake) { [self] in
            state.withLock { $0.abandoned.contains(number) }
        }
        var request = jobs[0].job.request
        request.outputs = jobs.flatMap(\.job.request.outputs)
        request.wantsPlaceholder = jobs.contains { $0.job.request.wantsPlaceholder }
        do throws(CodecFailure) {
            let reply = try attempt(request, attention, &process)
            var rest = reply.outcomes[...]
            for (id, job) in jobs {
                let count = job.request.outputs.count
                finish(
                    id, .success(RenderReply(outcomes: Array(rest.prefix(count)), placeholder: reply.placeholder)))
                rest = rest.dropFirst(count)
            }
        } catch {
            process = nil
            if jobs.count > 1, error.isOfTheWork {
                for (id, job) in jobs { again(id, job) }
            } else {
                for (id, _) in jobs { finish(id, .failure(error)) }
            }
        }
    }

    private func attempt(
        _ request: RenderRequest, _ attention: CodecProcess.Attention, _ process: inout CodecProcess?
    ) throws(CodecFailure) -> RenderReply {
        // One that has ended meanwhile fails nobody.
        if process?.isSilent == false { process = nil }
        if process == nil {
            guard let path = configuration.executable else { throw .missing(path: nil) }
            var started = try CodecProcess(path)
            state.withLock { $0.started += 1 }
            let facts = try started.greeting(path, deadline: monotonicNanoseconds() + 10_000_000_000, attention)
            state.withLock { $0.facts = facts }
            process = consume started
        }
        let seconds = request.limits.decodeSeconds + configuration.graceSeconds
        guard let reply = try process?.reply(to: request, within: seconds, attention) else {
            throw .garbled(reason: "there is none")
        }
        return reply
    }

    private func finish(_ id: CodecSchedule.JobID, _ result: Result<RenderReply, CodecFailure>) {
        let job = state.withLock { $0.jobs.removeValue(forKey: id) }
        job?.continuation.resume(with: result.mapError { $0 })
    }

    /// Has a job done once more, alone.
    private func again(_ id: CodecSchedule.JobID, _ job: Job) {
        let effect = state.withLock { state in
            state.jobs[id] == nil
                ? CodecSchedule.Effect.none
                : state.schedule.submit(CodecSchedule.Job(id: id, group: nil, cost: job.cost))
        }
        perform(effect)
    }
}
