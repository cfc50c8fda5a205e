internal import Platform

/// Downloads without a task in the usual case: the work between two waits happens on the thread where the first wait
/// ends. Every other case continues in a task.
extension ImageDownloader {
    /// The actions of the caller that starts a download, around the transfer. They also run when that caller has left
    /// and others still wait. The value lives until the download has ended.
    package struct DownloadHooks: Sendable {
        /// Prepares the download, if that takes no waiting.
        ///
        /// - Returns: `true` when the download may start; otherwise ``later`` prepares it.
        package var atOnce: @Sendable () -> Bool = { true }
        /// Prepares the download, waiting if necessary. An error ends the download before it started.
        package var later: @Sendable () async throws -> Void = {}
        /// Receives the progress of the download.
        package var note: @Sendable (DownloadProgress) -> Void = { _ in }
        /// Called when the body is complete, before another caller could start the same download.
        package var arrived: @Sendable () -> Void = {}

        /// Receives each URL whose content a request that is not a GET has changed.
        package var changed: @Sendable (_ url: String, _ isAnswer: Bool) -> Void = { _, _ in }

        /// Creates hooks that do nothing unless given.
        package init(
            atOnce: @escaping @Sendable () -> Bool = { true }, later: @escaping @Sendable () async throws -> Void = {},
            note: @escaping @Sendable (DownloadProgress) -> Void = { _ in },
            arrived: @escaping @Sendable () -> Void = {},
            changed: @escaping @Sendable (_ url: String, _ isAnswer: Bool) -> Void = { _, _ in }
        ) {
            self.atOnce = atOnce
            self.later = later
            self.note = note
            self.arrived = arrived
            self.changed = changed
        }

        /// Returns a progress receiver that also calls ``note``.
        package func noting(_ report: @escaping @Sendable (DownloadProgress) -> Void)
            -> @Sendable (DownloadProgress) -> Void
        {
            { [note] progress in
                note(progress)
                report(progress)
            }
        }
    }

    /// Starts the download of a body, or joins a running one.
    ///
    /// - Parameter then: Receives the result, once, from any thread. After ``EndedForAnother`` the caller has to start
    ///   again.
    /// - Returns: The argument of ``leave(_:)``.
    package func start(
        _ request: DownloadRequest, isStrict: Bool = false, priority: CallPriority,
        report: (@Sendable (DownloadProgress) -> Void)?, hooks: DownloadHooks,
        then: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) -> Coalescer<Sharing, Download>.Ticket {
        let sharing = Sharing(request, isStrict: isStrict)
        let waiter = TransferWaiter(request)
        let place = coalescer.join(sharing, priority: priority, report: report) { [self] effort, promise in
            let slot = makeSlot(effort.priority)
            queue(slot) {
                Self.enqueue(slot, request, in: &$0)
            } _: { [self] turn in
                switch turn {
                case .success:
                    // On the transport's thread: in the order of their turns, and never within the call that gave the
                    // turn.
                    transport.run { self.sendFirstRequest(sharing, slot, effort.report, hooks, promise) }
                case .failure(let error):
                    slot.priority.forget(slot.token)
                    promise.end(.failure(error))
                }
            }
            promise.onCancel { self.leaveQueue(slot.id) }
        } resume: { result in
            then(Result { try waiter.outcome(of: result) })
        }
        monitorLimits(place, for: waiter, report)
        return place.ticket
    }

    /// Ends a caller's wait for a download.
    package func leave(_ ticket: Coalescer<Sharing, Download>.Ticket) { coalescer.leave(ticket) }

    /// Sends the first request. Runs on the transport's thread.
    private func sendFirstRequest(
        _ sharing: Sharing, _ slot: Slot, _ report: @escaping @Sendable (DownloadProgress) -> Void,
        _ hooks: DownloadHooks, _ promise: Promise<Download>
    ) {
        if promise.isCancelled {
            releaseSlot(slot)
            return promise.end(.failure(CancellationError()))
        }
        var exchange = exchange(sharing, slot, hooks.noting(report), hooks.changed)
        guard tape == nil, hooks.atOnce(), let prepared = exchange.prepareFirstRequest() else {
            return promise.continueInTask { [self] in try await downloadInSlot(sharing, slot, report, hooks) }
        }
        let id = transport.start(exchange, prepared) { [self, exchange] outcome in
            finishFirstRequest(exchange, prepared, outcome, slot, hooks, promise)
            // Keeps the hooks alive until here, even when all callers have left.
            withExtendedLifetime(hooks) {}
        }
        promise.onCancel { [transport] in transport.cancel(id) }
    }

    /// Ends the download with the outcome of its first request if that is the body. Continues in a task otherwise.
    private func finishFirstRequest(
        _ exchange: Exchange, _ prepared: Exchange.PreparedRequest, _ outcome: HTTPOutcome, _ slot: Slot,
        _ hooks: DownloadHooks,
        _ promise: Promise<Download>
    ) {
        var ended = exchange
        if let download = ended.download(from: outcome, of: prepared) {
            transport.report(ended.summary)
            count(download)
            hooks.arrived()
            releaseSlot(slot)
            return promise.end(.success(download))
        }
        promise.continueInTask { [self] in
            defer { releaseSlot(slot) }
            let download = try await counted(within: exchange.request.limits) {
                try await transport.resume(exchange, after: prepared, outcome)
            }
            hooks.arrived()
            return download
        }
    }
}
