internal import Platform

/// The one that starts a download, with what it does around the transfer. It lives until the download has ended, also when
/// it has left and others still wait.
package protocol DownloadOwner: AnyObject, Sendable {
    /// Prepares the download with its slot in hand, if that takes no waiting.
    ///
    /// - Returns: `true` when the download may start; otherwise ``prepare()`` prepares it.
    func prepareAtOnce() -> Bool
    /// Prepares the download, waiting if necessary. An error ends the download before it started.
    func prepare() async throws
    /// Called for every received piece.
    func noteProgress()
    /// Called when the body is complete, before another caller could start the same download.
    func noteBody()
    /// Called with each URL at which a request that is no GET has changed something.
    ///
    /// - Parameter isAnswer: `true` when the answer replaces what is kept of that URL.
    func noteChange(at url: String, isAnswer: Bool)
}

/// Downloads from start to end: the work between two waits happens on the thread where the first wait ends. Redirects,
/// challenges and whatever else needs more than one request continue in a task.
extension ImageDownloader {
    /// Starts the download of a body, or joins a running one.
    ///
    /// - Parameter then: Receives the result, once, from any thread. After ``EndedForAnother`` the caller has to start
    ///   again.
    /// - Returns: The argument of ``leave(_:)``.
    package func start(
        _ request: DownloadRequest, isStrict: Bool = false, priority: CallPriority,
        report: (@Sendable (DownloadProgress) -> Void)?, owner: (any DownloadOwner)?,
        then: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) -> JobTable<Sharing, Download>.Ticket {
        let sharing = Sharing(request, isStrict: isStrict)
        let waiter = TransferWaiter(request)
        let ticket = jobs.join(sharing, priority: priority, report: report) { job in
            let slot = makeSlot(job.priority)
            queue(slot) {
                Self.enqueue(slot, request, in: &$0)
            } _: { [self] turn in
                switch turn {
                case .success:
                    // On the transport's thread: in the order of their turns, and never within the call that gave the
                    // turn.
                    transport.run { self.sendFirstRequest(sharing, slot, owner, job) }
                case .failure(let error):
                    slot.priority.forget(slot.token)
                    job.end(.failure(error))
                }
            }
            job.onCancel { self.leaveQueue(slot.id) }
        } end: { result in
            then(Result { try waiter.outcome(of: result) })
        }
        monitorLimits(ticket, for: waiter, report)
        return ticket
    }

    /// Ends a caller's wait for a download.
    package func leave(_ ticket: JobTable<Sharing, Download>.Ticket) { jobs.leave(ticket) }

    /// Sends the first request. Runs on the transport's thread.
    private func sendFirstRequest(
        _ sharing: Sharing, _ slot: Slot, _ owner: (any DownloadOwner)?, _ job: Job<Download>
    ) {
        if job.isCancelled {
            releaseSlot(slot)
            return job.end(.failure(CancellationError()))
        }
        var exchange = exchange(sharing, slot, owner, job)
        guard tape == nil, owner?.prepareAtOnce() ?? true, let prepared = exchange.prepareFirstRequest() else {
            return job.continueInTask { [self] in try await downloadInSlot(sharing, slot, owner, job) }
        }
        let id = transport.start(exchange, prepared) { [self, exchange] outcome in
            finishFirstRequest(exchange, prepared, outcome, slot, owner, job)
        }
        job.onCancel { [transport] in transport.cancel(id) }
    }

    /// Ends the download with the outcome of its first request if that is the body. Continues in a task otherwise.
    private func finishFirstRequest(
        _ exchange: Exchange, _ prepared: Exchange.PreparedRequest, _ outcome: HTTPOutcome, _ slot: Slot,
        _ owner: (any DownloadOwner)?, _ job: Job<Download>
    ) {
        var ended = exchange
        if let download = ended.download(from: outcome, of: prepared) {
            transport.report(ended.summary)
            count(download)
            owner?.noteBody()
            releaseSlot(slot)
            return job.end(.success(download))
        }
        job.continueInTask { [self] in
            defer { releaseSlot(slot) }
            let download = try await counted(within: exchange.request.limits) {
                try await transport.resume(exchange, after: prepared, outcome)
            }
            owner?.noteBody()
            return download
        }
    }
}
