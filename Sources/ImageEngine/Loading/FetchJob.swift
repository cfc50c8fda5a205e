internal import Platform
internal import RemoteStorage
internal import Synchronization

/// The job that fetches an image from the network and stores it, for all equal requests.
///
/// It waits for its slot, claims the download among processes, downloads, and passes the response to the pool, where it
/// is confirmed or stored. Each part runs on the thread where the previous one ended; a task is used only to wait for
/// other processes and for decoding.
final class FetchJob: DownloadOwner, DownloadCaller {
    /// The reason why a download with a slot was not started.
    enum Interruption: Error {
        /// Another process downloads the image, or another job of this one is about to store it.
        case isBusy
        /// Another job or process has stored the image.
        case isStored(ImageCache.Hit)
        /// Another machine downloads the image.
        case isClaimed
        /// Another machine has shared the image since it was looked for.
        case isShared(PendingStore)
    }

    private struct State {
        /// Created when the download gets its slot, because thousands may wait for one.
        var claim: DownloadClaim?
        /// The image that another job or process has stored, between the two looks for it.
        var hit: ImageCache.Hit?
        /// The URLs whose resources a request other than GET has changed; `nil` once the job has failed.
        var changedURLs: [String]? = []
        /// The place among those who wait for the download, and the number of the download.
        var (ticket, number): (ImageDownloader.Ticket?, Int32) = (nil, 0)
        /// The right to download the image among the machines of a remote tier; settled when it is not asked for any more.
        var (isSettled, remoteClaim): (Bool, RemoteClaim?) = (false, nil)
    }

    private let plan: FetchPlan
    private let engine: EngineServices
    private let job: Job
    /// The way to the remote tier; `nil` when it may neither give nor get the image.
    private let remote: RemoteAccess?
    private let state = Mutex(State())

    var request: DownloadRequest { plan.request }
    var owner: (any DownloadOwner)? { self }

    init(_ plan: FetchPlan, _ engine: EngineServices, _ job: Job) {
        (self.plan, self.engine, self.job) = (plan, engine, job)
        remote = RemoteAccess.loading(
            plan.resource, plan.outgoing, to: plan.key, in: plan.cache, needs: plan.needs, isRefresh: plan.isRefresh,
            engine)
    }

    private var claim: DownloadClaim {
        state.withLock { state in
            let claim = state.claim ?? DownloadClaim(plan)
            state.claim = claim
            return claim
        }
    }

    /// Starts the work, which ends the job.
    func start() {
        if plan.isHeldWhileUsed, let held = engine.jobs.held(plan) {
            return engine.pool.submit { [self] in job.end(.success(held)) }
        }
        if let remote, remote.mayRead {
            return run(on: InlineExecutor.shared) { [self] in try await answerRemotely(remote) }
        }
        download()
    }

    /// Answers with the image of the remote tier; downloads it when that has none.
    private func answerRemotely(_ remote: RemoteAccess) async throws {
        if let store = try await remote.image(plan.storedCandidate) { storeShared(store) } else { download() }
    }

    /// Stores an image of the remote tier on a thread of the pool, and answers with it.
    private func submitShared(_ store: PendingStore) {
        engine.pool.submit(isLong: store.isLong) { [self] in storeShared(store) }
    }

    private func storeShared(_ store: PendingStore) {
        ImageStorer(engine: engine).storeVerified(store, holding: self) { [self] result in
            switch result {
            case .success(let image): end(remote?.answer(with: image) ?? image)
            case .failure(let error): fail(error)
            }
        }
    }

    // MARK: Downloading

    private func download() { begin { engine.downloader.start(self, priority: job) } }

    /// Begins a download, which ends with the job. It may end, and the next one begin, before `start` returns.
    private func begin(_ start: () -> ImageDownloader.Ticket) {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let ticket = start()
        state.withLock { if $0.number == number { $0.ticket = ticket } }
        job.onCancel { [self] in
            if let ticket = state.withLock({ $0.ticket }) { engine.downloader.leave(ticket) }
        }
    }

    func jobReported(_ progress: DownloadProgress) { job.report(progress) }

    /// Receives what was downloaded.
    func downloadEnded(_ result: Result<Download, any Error>) {
        switch result {
        case .success(let download):
            claim.noteBody()
            RequestLog.downloaded(download, plan.request.url, nanoseconds: engine.now - plan.started)
            let isBrief = download.body.isInMemory && plan.storedCandidate == nil && plan.request.method == .get
            let isLong = download.body.count > BodySpool.memoryLimit
            engine.pool.submit(briefFor: isBrief ? plan.cache.ifBrief : nil, isLong: isLong) { [self] in
                accept(download)
            }
        // No caller waits any more; ends on this thread, because thousands may be cancelled at the same time.
        case .failure(let error) where job.isCancelled: fail(error)
        // In a task instead of on the reporting thread, because a waiting request may start again at once.
        case .failure(Interruption.isBusy): run { [self] in try await waitForOthers() }
        case .failure(Interruption.isStored(let hit)): run { [self] in answer(hit) }
        case .failure(Interruption.isClaimed): run { [self] in try await waitForMachines() }
        case .failure(Interruption.isShared(let store)): submitShared(store)
        case .failure(let error):
            RequestLog.failed(error, plan.request.url)
            run { throw error }
        }
    }

    // MARK: Claiming

    /// Claims the download, now that it has a slot, if that is possible without waiting.
    ///
    /// - Returns: `false` when another job or process downloads the image, or may do so; ``prepare()`` finds out.
    func prepareAtOnce() -> Bool {
        guard claim.lockAtOnce() else { return false }
        do {
            switch try lookAgain(mayWait: false) {
            case .found(let hit): state.withLock { $0.hit = hit }
            case .missing: return claimableAccess == nil
            case .unsettled: break
            }
        } catch { /* The same error ends prepare(). */  }
        return false
    }

    /// Claims the download, now that it has a slot, and looks into the cache again: another job may have stored it.
    ///
    /// - Throws: ``Interruption``.
    func prepare() async throws {
        if let hit = state.withLock({ $0.hit.take() }) { throw Interruption.isStored(hit) }
        if !claim.lockAtOnce(), try await engine.pool.run({ [claim] in claim.lockOrHolder() }) != nil {
            throw Interruption.isBusy
        }
        if let hit = try await imageOfOthers() { throw Interruption.isStored(hit) }
        try await claimAmongMachines()
    }

    /// The way to the remote tier when the download is yet to be claimed there.
    private var claimableAccess: RemoteAccess? {
        guard let remote, remote.mayClaim, state.withLock({ !$0.isSettled }) else { return nil }
        return remote
    }

    /// Claims the download among machines, if they do so, and looks into the remote tier again: another one may have been quicker.
    ///
    /// - Throws: ``Interruption``.
    private func claimAmongMachines() async throws {
        guard let remote = claimableAccess else { return }
        let (held, isTaken) = await remote.claim()
        if isTaken { throw Interruption.isClaimed }
        if held != nil, let store = try await remote.image(plan.storedCandidate, isCounted: false) {
            throw Interruption.isShared(store)
        }
        state.withLock { ($0.remoteClaim, $0.isSettled) = (held, true) }
    }

    /// Waits without a slot until no other machine downloads the image, once.
    private func waitForMachines() async throws {
        state.withLock { $0.isSettled = true }
        guard let remote else { return download() }
        let store = try await remote.imageOfOthers(plan.storedCandidate) { [claim, engine] in
            claim.noteProgress(at: engine.now)
        }
        if let store { submitShared(store) } else { download() }
    }

    /// Waits without a slot until no other job or process downloads the image, or the holder makes no progress.
    private func waitForOthers() async throws {
        if let pause = try await pauseForHolder() { try await waitForHolder(pause) }
        // An image that is stored now needs no slot.
        if let hit = try await imageOfOthers() { answer(hit) } else { download() }
    }

    /// Waits and looks again. Whoever is counted as waiting has looked once.
    private func waitForHolder(_ first: Duration) async throws {
        engine.counts.waitingClaims.add(1, ordering: .relaxed)
        defer { engine.counts.waitingClaims.subtract(1, ordering: .relaxed) }
        var pause: Duration? = first
        while let span = pause {
            try await Task.sleep(for: span)
            pause = try await pauseForHolder()
        }
    }

    private func pauseForHolder() async throws -> Duration? {
        let holder = try await engine.pool.run { [claim] in claim.holder() }
        let waiters = engine.counts.waitingClaims.load(ordering: .relaxed)
        return claim.pause(for: holder, at: engine.now, waiters: waiters)
    }

    private func answer(_ hit: ImageCache.Hit) { end(ImageResult(hit, in: plan.cache, plan.options)) }

    /// The image, when another job or process has stored it since the last look-up.
    private func imageOfOthers() async throws -> ImageCache.Hit? {
        if !claim.hasWaited {
            switch try lookAgain(mayWait: false) {
            case .found(let hit): return hit
            case .missing: return nil
            case .unsettled: break
            }
        }
        guard let hit = try await engine.pool.run({ [self] in try lookAgain(mayWait: true) }).value else {
            return nil
        }
        if claim.hasWaitedForOtherProcess { engine.counts.sharedDownloads.add(1, ordering: .relaxed) }
        return hit
    }

    private func lookAgain(mayWait: Bool) throws -> Lookup<ImageCache.Hit> {
        let (cache, options) = (plan.cache, plan.options)
        let patience = mayWait ? options.patience : 0
        if options.lookup.forceRefresh || !mayWait && cache.isStillMissing(plan.key) { return .missing }
        do throws(ImageError) {
            let seen = try cache.look(
                for: plan.key, options: options.storage, burst: 0, mayWait: mayWait, patience: patience)
            guard case .found(let found) = seen else { return seen }
            var hit = cache.used(found, options.storage)
            // Another process may have revalidated it since the last look-up.
            if mayWait || plan.storedCandidate != nil {
                hit = cache.renewed(hit, options: options.storage, patience: patience)
            }
            guard !plan.needs.wantsFile || !hit.lacksFile(for: options.storage),
                engine.lookup.satisfies(
                    hit, in: cache, plan.resource, plan.outgoing, plan.storedCandidate, mayWait: mayWait)
            else { return .missing }
            return .found(hit)
        } catch {
            if !mayWait, case .storageFailed(_, _, .busy) = error { return .unsettled }
            if error.leavesStorageUnused { return .missing }
            throw error
        }
    }

    // MARK: Storing, on a thread of the pool

    /// Answers with the stored image when its server has confirmed it; otherwise stores the downloaded one.
    private func accept(_ download: Download) {
        if job.isCancelled { return fail(CancellationError()) }
        do {
            let fetched = FetchedImage(download, plan, engine.scopes, remote: remote?.policy)
            guard download.response.isConfirmation else { return try store(fetched) }
            if let confirmed = try fetched.confirmed(engine.lookup) { return end(confirmed, download) }
            // The confirmed image is gone: it is downloaded without conditions.
            begin {
                engine.downloader.start(
                    plan.request.unconditional, priority: job, report: { [job] in job.report($0) }, owner: nil
                ) { [self] result in
                    engine.pool.submit { [self] in
                        do { try store(fetched.replaced(by: result.get())) } catch { fail(error) }
                    }
                }
            }
        } catch { fail(error) }
    }

    private func store(_ fetched: FetchedImage) throws {
        var fetched = fetched
        if let modifier = plan.request.dataModifier {
            fetched.download.body = try modifier.modified(
                fetched.download.body, of: plan.request.url, in: engine.downloader.transport.spool)
        }
        // A job that shares a download has not sent the request itself.
        let own = plan.request.method == .get ? [] : [plan.request.url]
        try plan.forget(state.withLock { $0.changedURLs ?? [] } + own, keepsOwn: true)
        let store = fetched.pendingStore
        let download = fetched.download
        guard store.options.lookup.verifyDecode == true else { return storeVerified(store, download) }
        run { [self] in
            let verified = try await DecodeVerifier(engine: engine).verified(store)
            engine.pool.submit(isLong: verified.isLong) { [self] in storeVerified(verified, download) }
        }
    }

    private func storeVerified(_ store: PendingStore, _ download: Download) {
        ImageStorer(engine: engine).storeVerified(store, holding: self, isAwaited: !plan.isRefresh) { [self] result in
            switch result {
            case .success(let image):
                upload(image, download)
                end(image, download)
            case .failure(let error): fail(error)
            }
        }
    }

    private func upload(_ image: ImageResult, _ download: Download) {
        guard let remote else { return }
        let bytes: [UInt8]? = if case .memory(let bytes) = download.body.storage { bytes } else { nil }
        remote.upload(image, bytes, state.withLock { $0.remoteClaim.take() })
    }

    // MARK: The end

    private func end(_ image: ImageResult, _ download: Download? = nil) {
        var image = image
        image.report = download?.report
        // Equal requests find it as long as a copy of this result exists.
        if plan.isHeldWhileUsed { image.hold = engine.jobs.hold(image, for: plan) }
        job.end(.success(image))
    }

    private func fail(_ error: any Error) {
        let changed = state.withLock { $0.changedURLs.take() } ?? []
        if changed.isEmpty { return job.end(.failure(error)) }
        engine.pool.submit { [self] in
            // The response does not replace the stored entry.
            try? plan.forget(changed, keepsOwn: false)
            job.end(.failure(error))
        }
    }

    func noteProgress() { claim.noteProgress(at: engine.now) }

    func noteBody() { claim.noteBody() }

    /// Notes a URL whose resource was changed; when the job has ended, removes its entries at once.
    func noteChange(at url: String, isAnswer: Bool) {
        let isNoted = state.withLock { state in
            state.changedURLs?.append(url)
            return state.changedURLs != nil
        }
        if isNoted { return }
        engine.unawaited.begin()
        engine.pool.submit { [self] in
            // Other jobs may wait for the response, which replaces the entry.
            try? plan.forget([url], keepsOwn: isAnswer)
            engine.unawaited.end()
        }
    }

    /// Continues in a task, which is cancelled with the job; an error ends the job.
    private func run(on executor: InlineExecutor? = nil, _ work: @escaping @Sendable () async throws -> Void) {
        let running = RunningTask()
        running.begin(on: executor) { [self] in do { try await work() } catch { fail(error) } }
        job.onCancel { running.stop() }
    }
}

/// A task that is cancelled with its job, and holds no memory after its end: thousands may wait for what comes then.
private final class RunningTask: Sendable {
    private let state = Mutex<(task: Task<Void, Never>?, hasEnded: Bool)>((nil, false))

    func begin(on executor: InlineExecutor?, _ work: @escaping @Sendable () async -> Void) {
        let task = Task(executorPreference: executor) { [self] in
            await work()
            state.withLock { $0 = (nil, true) }
        }
        state.withLock { if !$0.hasEnded { $0.task = task } }
    }

    func stop() { state.withLock { $0.task }?.cancel() }
}
