internal import Glibc
internal import ImageRecipes
internal import Platform
internal import Synchronization

/// The codec workers: the only processes that decode pixels, so that no image can harm the server.
///
/// The first worker starts with the first job, another one when all are busy, and each ends after some time without
/// work. A worker that dies or hangs fails its jobs and is replaced. A thread of this process waits for each worker, so
/// that no thread of the concurrency runtime waits.
public final class CodecPool: Sendable {
    /// The settings of the workers.
    public struct Configuration: Sendable {
        /// The path of the program; `nil` when there is none.
        public var executable: String?
        /// The largest number of workers. Default: 2.
        public var maxWorkers = 2
        /// The time after which an idle worker ends, in seconds. Default: 30.
        public var idleSeconds = 30.0
        /// The largest estimated number of pixel bytes in all workers together. Default: 768 MiB.
        public var memoryBytes = 768 << 20
        /// The time to wait for a reply beyond the limit of the work itself, in seconds. Default: 5.
        public var graceSeconds = 5.0

        /// The defaults, with no program.
        public init(executable: String? = nil) { self.executable = executable }
    }

    private struct Job: Sendable {
        let request: RenderRequest
        let cost: Int
        let end: @Sendable (Result<RenderReply, any Error>) -> Void
    }

    private struct State: Sendable {
        var schedule: CodecSchedule
        var jobs: [CodecSchedule.JobID: Job] = [:]
        var wakes: [Int: WakeEvent] = [:]
        var abandoned: Set<Int> = []
        var lastID: CodecSchedule.JobID = 0
        var started = 0
        /// The report of the worker that started last.
        var facts: CodecFacts?
        /// The parts of the codec library that were needed so far: each new worker prepares them.
        var parts: Set<CodecPart> = []
    }

    private let configuration: Configuration
    private let now: @Sendable () -> Int
    private let state: Mutex<State>

    init(_ configuration: Configuration, now: @escaping @Sendable () -> Int) {
        self.configuration = configuration
        self.now = now
        state = Mutex(State(schedule: CodecSchedule(configuration)))
    }

    /// `true` when the program exists and can be executed. Makes one system call.
    public var isAvailable: Bool { configuration.executable.map { access($0, X_OK) == 0 } ?? false }

    /// The number of workers started so far.
    public var startedCount: Int { state.withLock { $0.started } }

    /// The formats that the worker that started last has reported; those of this build before any has started.
    public var formats: CodecFormats { state.withLock { $0.facts.map(CodecFormats.init) } ?? CodecFormats() }

    /// The number of workers.
    public var workerCount: Int { state.withLock { $0.schedule.workerCount } }

    /// The number of jobs that wait for a worker.
    public var waitingCount: Int { state.withLock { $0.schedule.waitingCount } }

    /// Renders images in a worker. A cancelled call returns at once, and its work is aborted.
    ///
    /// - Parameter cost: The estimated number of pixel bytes.
    /// - Throws: ``CodecFailure`` or `CancellationError`.
    func render(_ request: RenderRequest, cost: Int) async throws -> RenderReply {
        guard isAvailable else { throw CodecFailure.missing(path: configuration.executable) }
        return try await awaitResult { [self] end in
            submit(Job(request: request, cost: cost, end: end))
        } cancel: { [self] in
            cancel($0)
        }
    }

    private func submit(_ job: Job) -> CodecSchedule.JobID {
        let (id, effect) = state.withLock { state in
            state.lastID += 1
            let id = state.lastID
            state.jobs[id] = job
            return (id, state.schedule.submit(CodecSchedule.Job(id: id, group: .init(job.request), cost: job.cost)))
        }
        perform(effect)
        return id
    }

    private func cancel(_ id: CodecSchedule.JobID) {
        let (job, wake) = state.withLock { state -> (Job?, WakeEvent?) in
            guard let job = state.jobs.removeValue(forKey: id) else { return (nil, nil) }
            guard let number = state.schedule.cancel(id) else { return (job, nil) }
            state.abandoned.insert(number)
            return (job, state.wakes[number])
        }
        job?.end(.failure(CancellationError()))
        wake?.signal()
    }

    private func perform(_ effect: CodecSchedule.Effect) {
        switch effect {
        case .none: break
        case .wake(let number): state.withLock { $0.wakes[number] }?.signal()
        case .start(let number):
            let wake = WakeEvent()
            state.withLock { $0.wakes[number] = wake }
            if startOptionalThread({ [self] in work(number, wake) }) { return }
            let lost = state.withLock { state in
                state.wakes[number] = nil
                return state.schedule.giveUp(number)
            }
            let reason = "there can be no further thread."
            for id in lost { finish(id, .failure(.notStarted(path: configuration.executable ?? "", reason: reason))) }
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
                    wake.place, pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                ]
                wake.poll(&places, Int32(clamping: min(nanoseconds / 1_000_000 + 1, 3_600_000)))
                // It has ended, or sends something without a request.
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
        // An abandonment of earlier jobs does not apply to these.
        state.withLock { _ = $0.abandoned.remove(number) }
        let attention = CodecProcess.Attention(event: wake) { [self] in
            state.withLock { $0.abandoned.contains(number) }
        }
        do throws(CodecFailure) {
            try attempt(jobs, attention, &process)
        } catch let first where first.isWorthAnotherTry(of: jobs.count) {
            for (id, job) in jobs where state.withLock({ $0.jobs[id] != nil }) {
                do throws(CodecFailure) { try attempt([(id, job)], attention, &process) } catch {
                    finish(id, .failure(error))
                }
            }
        } catch {
            for (id, _) in jobs { finish(id, .failure(error)) }
        }
    }

    /// Has a worker do the jobs, whose source is the same, as one request. A worker that fails is ended.
    private func attempt(
        _ jobs: [(id: CodecSchedule.JobID, job: Job)], _ attention: CodecProcess.Attention,
        _ process: inout CodecProcess?
    ) throws(CodecFailure) {
        var request = jobs[0].job.request
        request.outputs = jobs.flatMap(\.job.request.outputs)
        request.wantsPlaceholder = jobs.contains { $0.job.request.wantsPlaceholder }
        let reply: RenderReply
        do throws(CodecFailure) { reply = try self.reply(request, attention, &process) } catch {
            process = nil
            throw error
        }
        if reply.isLast { process = nil }
        var rest = reply.outcomes[...]
        for (id, job) in jobs {
            let count = job.request.outputs.count
            finish(id, .success(RenderReply(outcomes: Array(rest.prefix(count)), placeholder: reply.placeholder)))
            rest = rest.dropFirst(count)
        }
    }

    private func reply(
        _ request: RenderRequest, _ attention: CodecProcess.Attention, _ process: inout CodecProcess?
    ) throws(CodecFailure) -> RenderReply {
        let files: RenderFiles
        do throws(RenderFailure) { files = try RenderFiles(request) } catch {
            return RenderReply(outcomes: request.outputs.map { _ in .failed(error) })
        }
        do throws(CodecFailure) {
            try prepare(request.parts, attention, &process)
            let seconds = request.limits.decodeSeconds + configuration.graceSeconds
            guard
                var reply = try process?.reply(
                    to: files.request, files.descriptors, within: seconds, attention)
            else { throw .garbled(reason: "there is none") }
            reply.outcomes = files.outcomes(reply.outcomes)
            return reply
        } catch {
            files.remove()
            throw error
        }
    }

    /// Starts a worker, unless there is one that has prepared the parts of the library.
    private func prepare(
        _ parts: Set<CodecPart>, _ attention: CodecProcess.Attention, _ process: inout CodecProcess?
    ) throws(CodecFailure) {
        // A worker that has ended while idle fails no job.
        if process?.isSilent == false || process?.parts.isSuperset(of: parts) == false { process = nil }
        if process != nil { return }
        guard let path = configuration.executable else { throw .missing(path: nil) }
        let all = state.withLock { state in
            state.parts.formUnion(parts)
            return state.parts
        }
        var started = try CodecProcess(path, preparing: all)
        state.withLock { $0.started += 1 }
        let facts = try started.greeting(path, deadline: monotonicNanoseconds() + 10_000_000_000, attention)
        state.withLock { $0.facts = facts }
        process = consume started
    }

    private func finish(_ id: CodecSchedule.JobID, _ result: Result<RenderReply, CodecFailure>) {
        let job = state.withLock { $0.jobs.removeValue(forKey: id) }
        job?.end(result.mapError { $0 })
    }
}
