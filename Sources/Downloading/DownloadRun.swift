internal import Platform

/// The one that starts a download, with what it does around the transfer. It lives until the download has ended, also when
/// it has left and others still wait.
package protocol DownloadOwner: AnyObject, Sendable {
    /// Prepares the download with its slot in hand, if that takes no waiting. Returns `true` when the download may
    /// start; otherwise ``prepare()`` prepares it.
    func prepareAtOnce() -> Bool
    /// Prepares the download, waiting if necessary. An error ends the wait of this owner's caller; another caller who
    /// shares the download starts it then.
    func prepare() async throws
    /// Called for every received piece.
    func noteProgress()
    /// Called when the body is complete, before another caller could start the same download; perhaps again at the end.
    func noteBody()
    /// Called with each URL at which a request that is no GET has changed something.
    ///
    /// - Parameter isAnswer: `true` when the answer replaces what is kept of that URL.
    func noteChange(at url: String, isAnswer: Bool)
}

/// One caller of a download: what it asks for, within its own limits, and what it does around the transfer if it starts it.
package protocol DownloadCaller: JobSubscriber {
    /// What it asks for.
    var request: DownloadRequest { get }
    /// What it does around the transfer; `nil` when that is nothing.
    var owner: (any DownloadOwner)? { get }
    /// Receives what was downloaded, as ``jobEnded(_:)``.
    func downloadEnded(_ result: Result<Download, any Error>)
}

extension DownloadCaller {
    /// This one.
    package var caller: (any DownloadCaller)? { self }
    /// Receives the result.
    package func jobEnded(_ result: JobResult) { downloadEnded(result.of(Download.self)) }
}

extension DownloadCaller {
    /// `true` when a server that has been silent since that moment has been so for longer than this caller waits; see
    /// ``Job/silentSince``.
    func isTooImpatient(_ since: Int) -> Bool {
        Double(monotonicNanoseconds() - since) >= request.limits.timeoutSeconds * 1e9
    }
}

/// A caller with functions for what it receives.
final class CallbackDownloadCaller: DownloadCaller {
    let request: DownloadRequest
    let owner: (any DownloadOwner)?
    private let report: (@Sendable (DownloadProgress) -> Void)?
    private let end: @Sendable (Result<Download, any Error>) -> Void

    init(
        _ request: DownloadRequest, _ owner: (any DownloadOwner)?, report: (@Sendable (DownloadProgress) -> Void)?,
        end: @escaping @Sendable (Result<Download, any Error>) -> Void
    ) {
        (self.request, self.owner, self.report, self.end) = (request, owner, report, end)
    }

    func jobReported(_ progress: DownloadProgress) { report?(progress) }

    func downloadEnded(_ result: Result<Download, any Error>) { end(result) }
}

/// One download from its turn to its end, for all callers who share it.
///
/// The work between two waits happens on the thread where the first wait ends. Redirects, challenges and whatever else needs
/// more than one request continue in a task.
final class DownloadRun: Sendable {
    let job: Job
    let downloader: ImageDownloader
    /// The one that starts the download. What it sends is what all send.
    private let caller: any DownloadCaller
    private let slot: DownloadScheduler.Slot
    var request: DownloadRequest { caller.request }
    private var owner: (any DownloadOwner)? { caller.owner }

    init(
        by caller: any DownloadCaller, _ job: Job, in slot: DownloadScheduler.Slot,
        of downloader: ImageDownloader
    ) {
        (self.caller, self.job, self.downloader, self.slot) = (caller, job, downloader, slot)
    }

    /// Sends the first request. Runs on the transport's thread.
    func start() {
        if job.isCancelled { return giveUp(CancellationError()) }
        var exchange = Exchange(self)
        guard downloader.recorder == nil, owner?.prepareAtOnce() ?? true, let first = exchange.prepareFirst() else {
            return continueInTask { try await self.prepareAndDownload() }
        }
        let id = downloader.transport.start(first) { [self, exchange] outcome in
            var exchange = exchange
            if let download = exchange.download(from: outcome, of: first) { return end(.success(download)) }
            continueInTask { [exchange] in
                var exchange = exchange
                return try await exchange.perform(after: (first, outcome))
            }
        }
        job.onCancel { [downloader] in downloader.transport.cancel(id) }
    }

    /// Returns `nil` when there is nothing to end: another caller starts the download instead, or nobody is left.
    private func prepareAndDownload() async throws -> Download? {
        do { try await owner?.prepare() } catch {
            prepareAnother(after: error)
            return nil
        }
        var exchange = Exchange(self)
        guard let recorder = downloader.recorder else { return try await exchange.perform() }
        return try await recorder.download(request, downloader.transport.spool) { try await exchange.perform() }
    }

    /// Ends the wait of the caller whose preparation failed, and starts the download for another one.
    private func prepareAnother(after error: any Error) {
        if let last = job.dismiss({ [caller] in $0 === caller ? error : nil }) { return giveUp(last) }
        guard let next = job.anyCaller else { return giveUp(error) }
        let run = DownloadRun(by: next, job, in: slot, of: downloader)
        downloader.transport.run { run.start() }
    }

    /// Leaves the queue; a running transfer is stopped by its own part.
    func stop() { downloader.scheduler.cancel(slot) }

    func receive(_ turn: Result<Void, any Error>) {
        switch turn {
        // On the transport's thread: in the order of their turns, and never within the call that gave the turn.
        case .success: downloader.transport.run { [self] in start() }
        case .failure(let error): giveUp(error)
        }
    }

    /// Ends a download that was not started.
    private func giveUp(_ error: any Error) {
        downloader.scheduler.release(slot)
        job.end(.failure(error))
    }

    private func continueInTask(_ work: @escaping @Sendable () async throws -> Download?) {
        let task = Task {
            do {
                if let download = try await work() { end(.success(download)) }
            } catch { end(.failure(error)) }
        }
        job.onCancel { task.cancel() }
    }

    private func end(_ result: Result<Download, any Error>) {
        downloader.count(result)
        // Of a body that no transfer has brought.
        if case .success = result { noteBody() }
        downloader.scheduler.release(slot)
        job.end(result.map { $0 })
    }

    // MARK: Events

    /// Waits for a slot at the host that the download was redirected to.
    func moveSlot(to host: String) async throws { try await downloader.scheduler.move(slot, to: host) }

    /// Called in order when the server becomes silent, and when it sends again or the request has ended.
    func setStalled(_ isStalled: Bool) { downloader.scheduler.setStalled(slot, isStalled) }

    /// Asks a delegate. Meanwhile other downloads may run, as beside one whose server is silent.
    func whileStalled<Value>(_ ask: () async throws -> Value) async rethrows -> Value {
        setStalled(true)
        defer { setStalled(false) }
        return try await ask()
    }

    func report(_ progress: DownloadProgress) {
        owner?.noteProgress()
        job.report(progress)
    }

    /// Called when the body is complete.
    func noteBody() { owner?.noteBody() }

    /// Called with each URL where a request that is not a GET was accepted, whatever its outcome: stored responses of that
    /// URL are invalid (RFC 9111, 4.4).
    func noteChange(at url: String, isAnswer: Bool) { owner?.noteChange(at: url, isAnswer: isAnswer) }
}
