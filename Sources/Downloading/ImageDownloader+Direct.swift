internal import Platform

/// Downloads without a task, as long as nothing out of the ordinary happens: what is done between two waits is done where
/// the first of them ends. Whatever else comes of one goes on in a task.
extension ImageDownloader {
    /// What the one who begins a download does for it with the slot in hand, before anything is sent and meanwhile; also
    /// when it has left and others still wait. It is held until the download has ended.
    package struct DownloadHooks: Sendable {
        /// Does what comes before, if that takes no waiting.
        ///
        /// - Returns: Whether the download may begin; ``later`` tells why not.
        package var atOnce: @Sendable () -> Bool = { true }
        /// Does it whatever it takes; what it throws ends the download before it began.
        package var later: @Sendable () async throws -> Void = {}
        /// Hears how far the download is.
        package var note: @Sendable (DownloadProgress) -> Void = { _ in }
        /// Hears that the body has come, before anybody could begin to download it again.
        package var arrived: @Sendable () -> Void = {}

        /// Hears of each URL where something has been changed by a request that is no GET.
        package var changed: @Sendable (_ url: String, _ isAnswer: Bool) -> Void = { _, _ in }

        /// What is done for a download; nothing by default.
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

        /// A report that this hears too.
        package func noting(_ report: @escaping @Sendable (DownloadProgress) -> Void)
            -> @Sendable (DownloadProgress) -> Void
        {
            { [note] progress in
                note(progress)
                report(progress)
            }
        }
    }

    /// Begins the download of a body, or joins one under way.
    ///
    /// - Parameter then: Hears of the end, once and from any thread; ``EndedForAnother`` has the caller begin anew.
    /// - Returns: What ``leave(_:)`` needs.
    package func begin(
        _ request: DownloadRequest, isStrict: Bool = false, priority: CallPriority,
        report: (@Sendable (DownloadProgress) -> Void)?, hooks: DownloadHooks,
        then: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) -> Coalescer<Sharing, Download>.Ticket {
        let sharing = Sharing(request, isStrict: isStrict)
        let seat = TransferWaiter(request)
        let place = coalescer.join(sharing, priority: priority, report: report) { [self] effort, promise in
            let slot = makeSlot(effort.priority)
            queue(slot) {
                Self.enqueue(slot, request, in: &$0)
            } _: { [self] turn in
                switch turn {
                case .success:
                    // In the order in which they were let in, and never within what let them in.
                    transport.run { self.depart(sharing, slot, effort.report, hooks, promise) }
                case .failure(let error):
                    slot.priority.forget(slot.token)
                    promise.end(.failure(error))
                }
            }
            promise.onCancel { self.abandon(slot.id) }
        } resume: { result in
            then(Result { try seat.settle(result) })
        }
        watch(place, from: seat, report)
        return place.ticket
    }

    /// Wants a download no more.
    package func leave(_ ticket: Coalescer<Sharing, Download>.Ticket) { coalescer.leave(ticket) }

    /// Sends the first request, on the transport's thread.
    private func depart(
        _ sharing: Sharing, _ slot: Slot, _ report: @escaping @Sendable (DownloadProgress) -> Void,
        _ hooks: DownloadHooks, _ promise: Promise<Download>
    ) {
        if promise.isCancelled {
            giveBack(slot)
            return promise.end(.failure(CancellationError()))
        }
        var exchange = exchange(sharing, slot, hooks.noting(report), hooks.changed)
        guard tape == nil, hooks.atOnce(), let prepared = exchange.opening() else {
            return promise.goOn { [self] in try await ride(sharing, slot, report, hooks) }
        }
        let id = transport.begin(exchange, prepared) { [self, exchange] outcome in
            arrive(exchange, prepared, outcome, slot, hooks, promise)
            // What it holds is not given back before that, whoever has left meanwhile.
            withExtendedLifetime(hooks) {}
        }
        promise.onCancel { [transport] in transport.cancel(id) }
    }

    /// Ends the download with what came of its first request, if that was the body.
    private func arrive(
        _ exchange: Exchange, _ prepared: Exchange.PreparedRequest, _ outcome: HTTPOutcome, _ slot: Slot,
        _ hooks: DownloadHooks,
        _ promise: Promise<Download>
    ) {
        var ended = exchange
        if let download = ended.answer(outcome, to: prepared) {
            transport.tell(ended.ending)
            count(download)
            hooks.arrived()
            giveBack(slot)
            return promise.end(.success(download))
        }
        promise.goOn { [self] in
            defer { giveBack(slot) }
            let download = try await counted(within: exchange.request.limits) {
                try await transport.goOn(exchange, after: prepared, outcome)
            }
            hooks.arrived()
            return download
        }
    }
}
