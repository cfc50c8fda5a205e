internal import Platform
internal import Synchronization

/// The job that fetches an image from the network and stores it, for all requests that want the same.
///
/// It waits for its slot, claims the download among the processes, downloads, and hands the answer to the pool, where it is
/// confirmed or stored. Each part runs where the one before it ended; a task is used only to wait for other processes and
/// to have the image decoded.
final class FetchJob: DownloadOwner {
    /// The reason why a download that had its slot was not started.
    enum Interruption: Error {
        /// Another process downloads the image, or this one is about to store it.
        case isBusy
        /// Somebody else has brought the image.
        case isStored
    }

    private let plan: FetchPlan
    private let engine: EngineServices
    private let job: Job<JobValue>
    /// Made when the download gets its slot: thousands may wait for theirs.
    private let firstClaim = Mutex<DownloadClaim?>(nil)

    init(_ plan: FetchPlan, _ engine: EngineServices, _ job: Job<JobValue>) {
        (self.plan, self.engine, self.job) = (plan, engine, job)
    }

    private var claim: DownloadClaim {
        firstClaim.withLock { claim in
            if let claim { return claim }
            let made = DownloadClaim(plan)
            claim = made
            return made
        }
    }

    /// Starts the work, which ends the job.
    func start() {
        if plan.isHeldWhileUsed, let held = engine.jobs.held(plan.jobKey) {
            return engine.pool.submit { [self] in job.end(.success(held)) }
        }
        download()
    }

    // MARK: Downloading

    private func download() {
        fetch(plan.request, for: self) { [self] result in
            switch result {
            case .success(let download):
                claim.noteBody()
                let isBrief = download.body.isInMemory && plan.storedCandidate == nil && plan.request.method == .get
                engine.pool.submit(briefFor: isBrief ? plan.cache.ifBrief : nil) { [self] in accept(download) }
            // Nobody waits any more, and thousands may have left at once.
            case .failure(let error) where job.isCancelled: fail(error)
            // Not on the thread that tells: a request that waits may begin anew at once.
            case .failure(Interruption.isBusy): run { [self] in try await waitForOthers() }
            case .failure(Interruption.isStored): run { [self] in answerOrDownload() }
            case .failure(let error): run { throw error }
            }
        }
    }

    /// Downloads what `request` asks for; once more within the limits of this request when a shared download failed only by
    /// the limits of another one.
    private func fetch(
        _ request: DownloadRequest, for owner: FetchJob?, isStrict: Bool = false,
        then: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) {
        let ticket = engine.downloader.start(
            request, isStrict: isStrict, priority: job.priority, report: { [job] in job.report($0) },
            owner: owner
        ) { [self] result in
            guard case .failure(is ImageDownloader.EndedForAnother) = result else { return then(result) }
            run { [self] in fetch(request, for: owner, isStrict: true, then: then) }
        }
        job.onCancel { [downloader = engine.downloader] in downloader.leave(ticket) }
    }

    // MARK: Claiming

    /// Claims the download with the slot in hand, if that takes no waiting.
    ///
    /// - Returns: `false` when somebody else brings the image, or may do so; ``prepare()`` tells.
    func prepareAtOnce() -> Bool {
        guard claim.lockAtOnce() else { return false }
        do {
            guard let hit = try imageOfOthers(mayWait: false) else { return true }
            claim.hit = hit
        } catch { /* The same error ends prepare(). */  }
        return false
    }

    /// Claims the download with the slot in hand, and looks into the cache once more: another job may have stored the image
    /// since it was looked for.
    ///
    /// - Throws: ``Interruption``.
    func prepare() async throws {
        if claim.hit == nil {
            if !claim.lockAtOnce(), try await engine.pool.run({ [claim] in claim.lockOrHolder() }) != nil {
                throw Interruption.isBusy
            }
            guard let hit = try await imageOfOthers() else { return }
            claim.hit = hit
        }
        throw Interruption.isStored
    }

    /// Waits without a slot until nobody else downloads the image, or the one who does makes no progress.
    private func waitForOthers() async throws {
        engine.counts.waitingClaims.add(1, ordering: .relaxed)
        defer { engine.counts.waitingClaims.subtract(1, ordering: .relaxed) }
        var pause: Duration?
        repeat {
            if let pause { try await Task.sleep(for: pause) }
            let holder = try await engine.pool.run { [claim] in claim.holder() }
            pause = claim.pause(
                for: holder, at: engine.now,
                waiters: engine.counts.waitingClaims.load(ordering: .relaxed))
        } while pause != nil
        // An image that is there now needs no slot.
        claim.hit = try await imageOfOthers()
        answerOrDownload()
    }

    private func answerOrDownload() {
        guard let hit = claim.hit else { return download() }
        end(ImageResult(hit, in: plan.cache, plan.outgoing.options))
    }

    /// The image, when somebody else has stored it since the cache was last looked at.
    private func imageOfOthers() async throws -> ImageCache.Hit? {
        guard claim.hasWaited else { return try imageOfOthers(mayWait: false) }
        guard let hit = try await engine.pool.run({ [self] in try imageOfOthers(mayWait: true) }) else { return nil }
        if claim.hasWaitedForOtherProcess { engine.counts.sharedDownloads.add(1, ordering: .relaxed) }
        return hit
    }

    private func imageOfOthers(mayWait: Bool) throws -> ImageCache.Hit? {
        let (cache, options) = (plan.cache, plan.outgoing.options)
        guard !options.lookup.forceRefresh else { return nil }
        if !mayWait, cache.isStillMissing(plan.key) { return nil }
        var found = try cache.hit(for: plan.key, options: options.storage, burst: 0, mayWait: mayWait)
        // Another process may have heard of its server since it was looked for.
        if mayWait || plan.storedCandidate != nil, let hit = found {
            found = try cache.renewed(hit, options: options.storage)
        }
        guard let hit = found, hit.record.path != nil || options.storage.cacheMemoryOnly,
            engine.lookup.satisfies(
                hit, in: cache, plan.resource, plan.outgoing, plan.storedCandidate, mayWait: mayWait)
        else { return nil }
        return hit
    }

    // MARK: Storing, on a thread of the pool

    /// Answers with the stored image when its server has confirmed it, and stores what came otherwise.
    private func accept(_ download: Download) {
        if job.isCancelled { return fail(CancellationError()) }
        do {
            let fetched = FetchedImage(download, plan, engine.scopes)
            guard download.response.isConfirmation else { return try store(fetched) }
            if let confirmed = try fetched.confirmed(engine.lookup) { return end(confirmed) }
            // What was confirmed is not there any more: it is downloaded without conditions.
            fetch(plan.request.unconditional, for: nil) { [self] result in
                engine.pool.submit { [self] in
                    do { try store(fetched.replaced(by: result.get())) } catch { fail(error) }
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
        // One who shares a download has not sent it.
        let own = plan.request.method == .get ? [] : [plan.request.url]
        try plan.forget(claim.changedURLs + own, keepsOwn: true)
        if plan.isRefresh, let old = plan.storedCandidate, !plan.cache.holds(old.hit) {
            return fail(CancellationError())
        }
        let store = fetched.pendingStore
        guard store.options.lookup.verifyDecode == true else { return keep(store) }
        run { [self] in
            let verified = try await DecodeVerifier(engine: engine).verified(store)
            engine.pool.submit { [self] in keep(verified) }
        }
    }

    private func keep(_ store: PendingStore) {
        ImageStorer(engine: engine).storeVerified(store, holding: self, isAwaited: !plan.isRefresh) { [self] result in
            switch result {
            case .success(let image): end(image)
            case .failure(let error): fail(error)
            }
        }
    }

    // MARK: The end

    private func end(_ image: ImageResult) {
        job.end(.success(.image(plan.isHeldWhileUsed ? engine.jobs.holding(image, for: plan.jobKey) : image)))
    }

    private func fail(_ error: any Error) {
        let changed = firstClaim.withLock { $0 }?.takeChangedURLs() ?? []
        if changed.isEmpty { return job.end(.failure(error)) }
        engine.pool.submit { [self] in
            // What has come does not replace what is there.
            try? plan.forget(changed, keepsOwn: false)
            job.end(.failure(error))
        }
    }

    func noteProgress() { claim.noteProgress(at: engine.now) }

    func noteBody() { claim.noteBody() }

    /// Notes a URL at which something was changed; forgets what is kept of it when the job is over.
    func noteChange(at url: String, isAnswer: Bool) {
        if claim.noteChange(at: url) { return }
        engine.unawaited.begin()
        engine.pool.submit { [self] in
            // Others may wait for the answer, which replaces it.
            try? plan.forget([url], keepsOwn: isAnswer)
            engine.unawaited.end()
        }
    }

    /// Goes on in a task, which is cancelled with the job; an error ends the job.
    private func run(_ work: @escaping @Sendable () async throws -> Void) {
        let task = Task { do { try await work() } catch { fail(error) } }
        job.onCancel { task.cancel() }
    }
}
