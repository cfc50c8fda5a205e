internal import Platform

extension ImageManager {
    /// Who brings what a download would bring.
    private enum Holder: Sendable {
        case ownProcess, otherProcess
    }

    /// Why a download that had its slot was not begun.
    enum Interruption: Error {
        /// Another process is downloading the same, or this one is about to store it.
        case isBusy
        /// Another flight has brought the image.
        case isStored
    }

    /// What is needed to download an image.
    func claim(of plan: FetchPlan) -> DownloadClaim {
        let options = plan.outgoing.options
        // What is not to be found afterwards is not worth waiting for.
        let isAlone =
            options.lookup.forceRefresh || options.storage.fromMemoryCacheOrRefresh
            || options.storage.cacheMemoryOnly && !options.storage.keepsInMemory
        return DownloadClaim(
            identity: isAlone ? nil : plan.request.flight(to: plan.key, inMemory: options.storage.cacheMemoryOnly),
            isForOthers: !options.storage.cacheMemoryOnly,
            among: plan.cache.flights,
            merges: options.network.merges, from: plan.started, span: Int(plan.request.limits.timeoutSeconds * 1e9))
    }

    /// Loads an image and stores it.
    func download(
        _ plan: FetchPlan, _ claim: DownloadClaim, _ effort: Coalescer<JobKey, ImageResult>.Effort
    ) async throws -> ImageResult {
        defer { withExtendedLifetime(claim) {} }
        do {
            return try await downloadAndStore(plan, claim, effort)
        } catch {
            // What has come does not replace what is there.
            try? await forgetChanged(claim.end(), by: plan, keepsOwn: false)
            throw error
        }
    }

    private func downloadAndStore(
        _ plan: FetchPlan, _ claim: DownloadClaim, _ effort: Coalescer<JobKey, ImageResult>.Effort
    ) async throws -> ImageResult {
        // Another flight may land between the look into the cache and this one's start.
        let (hit, flown) = try await download(plan, claim, effort)
        guard let download = flown else {
            guard let hit else { throw CancellationError() }
            return result(hit, in: plan.cache, plan.outgoing.options)
        }
        claim.arrive()
        try Task.checkCancellation()
        let arrival = arrival(of: download, plan)
        if let revived = try await revive(plan.storedCandidate, arrival) { return revived }
        let whole = try await modified(wholeArrival(arrival, effort.priority, effort.report))
        // Whoever shares a download has not begun it.
        let own = plan.request.method == .get ? [] : [plan.request.url]
        try await forgetChanged(claim.changed + own, by: plan, keepsOwn: true)
        return held(try await storeLoaded(store(whole), claim), plan)
    }

    /// What a server has answered, and to whom.
    func arrival(of download: Download, _ plan: FetchPlan) -> Arrival {
        let options = plan.outgoing.options
        noteLogin(of: download, for: plan.request, options)
        return Arrival(
            download: download, request: plan.request, resource: plan.resource,
            scope: scope(of: plan.request.url, options, login: download.login), cache: plan.cache,
            options: plan.jobKey.options, needs: plan.needs)
    }

    /// Downloads, unless the image turns out to be there, or another process brings it.
    ///
    /// One that another process is downloading is waited for without a slot, as long as it gets on: one that hangs holds
    /// nobody up for more than the request's timeout. No thread waits, and a cancelled wait ends at once.
    ///
    /// - Returns: The image, if it has been found in the cache; otherwise the download.
    func download(
        _ plan: FetchPlan, _ claim: DownloadClaim, _ effort: Coalescer<JobKey, ImageResult>.Effort
    ) async throws -> (hit: ImageCache.Hit?, download: Download?) {
        while true {
            // The beginning without a task may have found it.
            if let hit = claim.use({ $0.hit }) { return (hit, nil) }
            do {
                let download = try await downloader.download(
                    plan.request, priority: effort.priority, report: effort.report,
                    hooks: hooks(plan, claim))
                return (nil, download)
            } catch Interruption.isStored {
                // It may have been somebody else's hooks that found another one's image.
            } catch Interruption.isBusy {
                try await waitForOthers(claim, in: plan.cache)
                // Then no slot is needed.
                if let hit = try await imageOfOthers(plan, claim) { return (hit, nil) }
            }
        }
    }

    /// What is done for the download of an image by the one who begins it.
    func hooks(_ plan: FetchPlan, _ claim: DownloadClaim) -> ImageDownloader.DownloadHooks {
        ImageDownloader.DownloadHooks(
            atOnce: { [self] in claimAtOnce(plan, claim) },
            later: { [self] in try await claimDownload(plan, claim) },
            // Those that wait for the flight know that it gets on.
            note: { [monotonic = configuration.clock.monotonic] _ in
                claim.flight?.noteProgress(at: monotonic(), since: claim.started, every: claim.interval)
            },
            arrived: { claim.arrive() },
            changed: { [self] in noteChange(at: $0, isAnswer: $1, plan, claim) })
    }

    /// Takes note of a URL where something has been changed; forgets what is kept of it when the one has left who began that.
    private func noteChange(at url: String, isAnswer: Bool, _ plan: FetchPlan, _ claim: DownloadClaim) {
        let isOver = claim.use { state in
            if !state.isOver { state.changed.append(url) }
            return state.isOver
        }
        guard isOver else { return }
        unawaited.begin()
        pool.submit { [self] in
            // Others may wait for the answer, which replaces it.
            try? forget([url], changedBy: plan, keepsOwn: isAnswer)
            unawaited.end()
        }
    }

    /// Sees to it, with the slot in hand, that nobody else brings the image.
    ///
    /// - Throws: ``Interruption``.
    private func claimDownload(_ plan: FetchPlan, _ claim: DownloadClaim) async throws {
        if claim.use({ $0.hit == nil }) {
            try await lockAcrossProcesses(claim, in: plan.cache)
            guard let hit = try await imageOfOthers(plan, claim) else { return }
            claim.use { $0.hit = hit }
        }
        throw Interruption.isStored
    }

    /// The same, if that takes no waiting.
    ///
    /// - Returns: false if somebody else brings the image, or may do so.
    private func claimAtOnce(_ plan: FetchPlan, _ claim: DownloadClaim) -> Bool {
        if claim.isBeingStoredHere { return false }
        if let identity = claim.identity, claim.use({ !$0.isSettled }) {
            guard let attempt = claim.lockAtOnce(identity), claim.settle(attempt) else {
                return false
            }
        }
        // What is wrong with the cache is told by the other way.
        do {
            guard let hit = try imageOfOthersAtOnce(plan) else { return true }
            claim.use { $0.hit = hit }
        } catch {}
        return false
    }

    /// Takes the flight, with the slot in hand.
    ///
    /// - Throws: ``Interruption/isBusy`` when another process has it.
    private func lockAcrossProcesses(_ claim: DownloadClaim, in cache: ImageCache) async throws {
        guard let identity = claim.identity, claim.use({ !$0.isSettled }) else { return }
        if claim.isBeingStoredHere { throw Interruption.isBusy }
        let atOnce = claim.lockAtOnce(identity)
        let attempt = if let atOnce { atOnce } else { try await pool.run { claim.take(identity) } }
        if !claim.settle(attempt) { throw Interruption.isBusy }
    }

    /// Waits until no other process has the flight, or does not get on with it.
    private func waitForOthers(_ claim: DownloadClaim, in cache: ImageCache) async throws {
        guard let identity = claim.identity else { return }
        waitingClaims.add(1, ordering: .relaxed)
        defer { waitingClaims.subtract(1, ordering: .relaxed) }
        while true {
            let holder = try await pool.run { () -> Holder? in
                if claim.isBeingStoredHere { return .ownProcess }
                // Given back at once: it is taken anew with the next slot.
                if case .busy = claim.take(identity) { return .otherProcess }
                return nil
            }
            claim.use { state in
                state.hasWaited = true
                if holder == .otherProcess { state.hasWaitedForOthers = true }
            }
            if holder == nil { return }
            let progress = cache.flights.progress(of: identity)
            let (now, waiters) = (configuration.clock.monotonic(), waitingClaims.load(ordering: .relaxed))
            let pause = claim.use { $0.patience.next(at: now, progress: progress, waiters: waiters) }
            guard let pause else { return claim.use { $0.isSettled = true } }
            try await Task.sleep(for: pause)
        }
    }

    /// The image, when another flight has brought it since the cache was last looked at.
    private func imageOfOthers(_ plan: FetchPlan, _ claim: DownloadClaim) async throws -> ImageCache.Hit? {
        guard claim.use({ $0.hasWaited }) else { return try imageOfOthersAtOnce(plan) }
        guard let hit = try await pool.run({ [self] in try imageOfOthers(plan, mayWait: true) }) else { return nil }
        if claim.use({ $0.hasWaitedForOthers }) { sharedDownloads.add(1, ordering: .relaxed) }
        return hit
    }

    private func imageOfOthersAtOnce(_ plan: FetchPlan) throws -> ImageCache.Hit? {
        try imageOfOthers(plan, mayWait: false)
    }

    private func imageOfOthers(_ plan: FetchPlan, mayWait: Bool) throws -> ImageCache.Hit? {
        let (cache, outgoing, options) = (plan.cache, plan.outgoing, plan.outgoing.options)
        guard !options.lookup.forceRefresh else { return nil }
        // Nobody has brought it since the look that sent it on its way.
        if !mayWait, cache.isStillMissing(plan.key) { return nil }
        var found = try cache.hit(for: plan.key, options: options.storage, burst: 0, mayWait: mayWait)
        if mayWait, let hit = found { found = try cache.renewed(hit, options: options.storage) }
        guard let hit = found, hit.record.path != nil || options.storage.cacheMemoryOnly,
            satisfies(hit, in: cache, plan.resource, outgoing, plan.storedCandidate, mayWait: mayWait)
        else { return nil }
        return hit
    }
}
