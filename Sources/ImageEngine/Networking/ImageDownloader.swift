internal import Synchronization

/// Downloads bodies over HTTP: merged by request identity, started by priority within limits, cancelled with the last
/// caller. It knows no cache.
public final class ImageDownloader: Sendable {
    /// The settings of a downloader.
    public struct Configuration: Sendable {
        /// Downloads at once from one host; 4 by default, as in AFNetworking.
        public var maxDownloadsPerHost = 4
        /// Downloads at once in all; 64 by default.
        public var maxConcurrentDownloads = 64
        /// The User-Agent header.
        public var userAgent = "halcyon"

        /// The default settings.
        public init() {}
    }

    private struct Scheduler {
        var queue: DownloadQueue
        var lastID: UInt64 = 0
        /// The slot of each request that waits for its turn.
        var slots: [DownloadRequest: UInt64] = [:]
        var starters: [UInt64: CheckedContinuation<Void, any Error>] = [:]
    }

    private let transport: CurlTransport
    private let finishHook: FinishHook
    private let coalescer = Coalescer<DownloadRequest, Download>()
    private let scheduler: Mutex<Scheduler>
    private let finished = Atomic(0)
    private let failed = Atomic(0)
    private let receivedBytes = Atomic(0)

    /// - Parameter spoolPath: Gives a new path for each body too large for memory.
    init(_ configuration: Configuration, spoolPath: @escaping @Sendable () throws -> String) {
        let hook = FinishHook()
        finishHook = hook
        transport = CurlTransport(userAgent: configuration.userAgent, spoolPath: spoolPath) { hook.call($0) }
        let limits = DownloadQueue.Limits(
            perHost: configuration.maxDownloadsPerHost, total: configuration.maxConcurrentDownloads)
        scheduler = Mutex(Scheduler(queue: DownloadQueue(limits: limits)))
    }

    /// Downloads so far: how many ended well, how many failed, callers that joined one under way, bytes received.
    public var counts: (finished: Int, failed: Int, merged: Int, bytes: Int) {
        (
            finished.load(ordering: .relaxed), failed.load(ordering: .relaxed), coalescer.mergedCount,
            receivedBytes.load(ordering: .relaxed)
        )
    }

    /// Sets who hears, from any thread, of every transfer that has ended, well or not; nil for nobody.
    public func onFinish(_ receiver: (@Sendable (DownloadReport) -> Void)?) { finishHook.set(receiver) }

    /// Downloads under way and waiting for their turn.
    public var load: (running: Int, waiting: Int) {
        scheduler.withLock { ($0.queue.runningCount, $0.queue.waitingCount) }
    }

    /// The body of `request`, downloaded once however many callers overlap.
    func download(
        _ request: DownloadRequest, priority: Double, report: (@Sendable (DownloadProgress) -> Void)?
    ) async throws -> Download {
        try await coalescer.value(for: request, report: report) { report in
            let slot = try await self.takeSlot(request, priority: priority)
            defer { self.giveBack(slot) }
            do {
                let download = try await self.transport.perform(request, report: report)
                self.finished.add(1, ordering: .relaxed)
                self.receivedBytes.add(download.body.count, ordering: .relaxed)
                return download
            } catch {
                self.failed.add(1, ordering: .relaxed)
                throw error
            }
        }
    }

    /// Moves a download that waits for its turn to where another caller's higher priority puts it.
    func raise(_ request: DownloadRequest, to priority: Double) {
        scheduler.withLock { scheduler in
            if let id = scheduler.slots[request] { scheduler.queue.raise(id, to: priority) }
        }
    }

    // MARK: Slots

    /// Waits for a turn.
    private func takeSlot(_ request: DownloadRequest, priority: Double) async throws -> UInt64 {
        let id = scheduler.withLock { scheduler in
            scheduler.lastID += 1
            scheduler.slots[request] = scheduler.lastID
            return scheduler.lastID
        }
        defer { scheduler.withLock { if $0.slots[request] == id { $0.slots[request] = nil } } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Queued and startable in one step, or another thread could start what nobody waits for yet.
                scheduler.withLock { scheduler in
                    scheduler.starters[id] = continuation
                    scheduler.queue.enqueue(id, host: request.host, priority: priority)
                }
                startWaiting()
                if Task.isCancelled { abandon(id) }
            }
        } onCancel: {
            abandon(id)
        }
        return id
    }

    private func giveBack(_ id: UInt64) {
        scheduler.withLock { $0.queue.remove(id) }
        startWaiting()
    }

    private func abandon(_ id: UInt64) {
        let starter = scheduler.withLock { scheduler -> CheckedContinuation<Void, any Error>? in
            guard let starter = scheduler.starters.removeValue(forKey: id) else { return nil }
            scheduler.queue.remove(id)
            return starter
        }
        starter?.resume(throwing: CancellationError())
    }

    private func startWaiting() {
        while true {
            let (isOver, starter) = scheduler.withLock { scheduler -> (Bool, CheckedContinuation<Void, any Error>?) in
                guard let id = scheduler.queue.start() else { return (true, nil) }
                return (false, scheduler.starters.removeValue(forKey: id))
            }
            if isOver { return }
            starter?.resume()
        }
    }
}

/// Who hears of finished transfers.
private final class FinishHook: Sendable {
    private let receiver = Mutex<(@Sendable (DownloadReport) -> Void)?>(nil)

    func set(_ receiver: (@Sendable (DownloadReport) -> Void)?) { self.receiver.withLock { $0 = receiver } }

    func call(_ report: DownloadReport) {
        let receiver = receiver.withLock { $0 }
        receiver?(report)
    }
}
