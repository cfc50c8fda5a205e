/// Which waiting download may start: a plain value.
///
/// Per host and in all only so many run at once. Among those that may start the highest priority goes first, and
/// within one priority the first come.
struct DownloadQueue: Sendable {
    struct Limits: Sendable {
        var perHost = 4
        var total = 64
    }

    private struct Waiting {
        let id: UInt64
        let host: String
        var priority: Double
    }

    private let limits: Limits
    /// Sorted: the next to start is the first whose host has room.
    private var waiting: [Waiting] = []
    private var running: [UInt64: String] = [:]
    private var runningPerHost: [String: Int] = [:]

    init(limits: Limits = Limits()) { self.limits = limits }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.count }

    /// Puts a download in its place in the queue.
    mutating func enqueue(_ id: UInt64, host: String, priority: Double) {
        var low = 0
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].priority >= priority { low = middle + 1 } else { high = middle }
        }
        waiting.insert(Waiting(id: id, host: host, priority: priority), at: low)
    }

    /// Moves a waiting download to where a higher priority puts it; a running one is not affected.
    mutating func raise(_ id: UInt64, to priority: Double) {
        guard let index = waiting.firstIndex(where: { $0.id == id }), waiting[index].priority < priority else { return }
        let moved = waiting.remove(at: index)
        enqueue(moved.id, host: moved.host, priority: priority)
    }

    /// Takes the next download that may start, and counts it as running.
    mutating func start() -> UInt64? {
        guard running.count < limits.total else { return nil }
        guard let index = waiting.firstIndex(where: { runningPerHost[$0.host, default: 0] < limits.perHost }) else {
            return nil
        }
        let next = waiting.remove(at: index)
        running[next.id] = next.host
        runningPerHost[next.host, default: 0] += 1
        return next.id
    }

    /// Forgets a download that has ended or was cancelled, waiting or running.
    ///
    /// What it held is freed by what it is, never by a count: cancelling a queued download frees no slot.
    mutating func remove(_ id: UInt64) {
        if let host = running.removeValue(forKey: id) {
            let left = runningPerHost[host, default: 1] - 1
            runningPerHost[host] = left > 0 ? left : nil
        } else if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index)
        }
    }
}
