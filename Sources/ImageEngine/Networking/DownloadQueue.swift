/// Which waiting download may start: a plain value.
///
/// Per host and in all only so many run at once. Among those that may start the highest priority goes first, and
/// within one priority the first or the last come. What nobody waits for (a priority below 0) takes at most half of the
/// slots, so that the other half is there for whoever comes (B-003).
struct DownloadQueue: Sendable {
    struct Limits: Sendable, Equatable {
        var perHost = 4
        var total = 64

        /// How many of `count` slots downloads may take that nobody waits for.
        static func background(of count: Int) -> Int { max(1, count - count / 2) }
    }

    /// What comes of asking for the next download.
    enum Start: Sendable, Equatable {
        /// This one starts.
        case download(UInt64)
        /// One could, but for the rate; ask again in so many nanoseconds.
        case wait(Int)
        /// None can.
        case none
    }

    private struct Waiting {
        let id: UInt64
        let host: String
        var priority: Double
        /// The order of arrival.
        let number: UInt64
    }

    private struct Running {
        let host: String
        var isBackground: Bool
    }

    private struct Count {
        var all = 0
        var background = 0

        func hasRoom(of limit: Int, background isBackground: Bool) -> Bool {
            all < limit && (!isBackground || background < Limits.background(of: limit))
        }

        mutating func add(_ difference: Int, background isBackground: Bool) {
            all += difference
            if isBackground { background += difference }
        }
    }

    /// How many run at once; those that run go on when it is lowered.
    var limits: Limits
    /// Which of equal priority goes first.
    var order: DownloadOrder
    /// How many start in a time.
    var bucket: TokenBucket
    private var lastNumber: UInt64 = 0
    /// Sorted: the next to start is the first whose host has room.
    private var waiting: [Waiting] = []
    private var running: [UInt64: Running] = [:]
    private var total = Count()
    private var perHost: [String: Count] = [:]

    init(
        limits: Limits = Limits(), order: DownloadOrder = .fifo,
        bucket: TokenBucket = TokenBucket(rate: 0, burst: 1, at: 0)
    ) {
        self.limits = limits
        self.order = order
        self.bucket = bucket
    }

    var runningCount: Int { running.count }
    var waitingCount: Int { waiting.count }

    /// Puts a download in its place in the queue.
    mutating func enqueue(_ id: UInt64, host: String, priority: Double) {
        lastNumber += 1
        insert(Waiting(id: id, host: host, priority: priority, number: lastNumber))
    }

    private mutating func insert(_ download: Waiting) {
        var low = 0
        var high = waiting.count
        while low < high {
            let middle = (low + high) / 2
            if Self.precedes(waiting[middle], download, order) { low = middle + 1 } else { high = middle }
        }
        waiting.insert(download, at: low)
    }

    private static func precedes(_ one: Waiting, _ other: Waiting, _ order: DownloadOrder) -> Bool {
        if one.priority != other.priority { return one.priority > other.priority }
        return order == .fifo ? one.number < other.number : one.number > other.number
    }

    /// Sorts the waiting anew, for another order.
    mutating func reorder(_ order: DownloadOrder) {
        self.order = order
        waiting.sort { Self.precedes($0, $1, order) }
    }

    /// Moves a download to where another priority puts it. One that runs goes on, and counts as what it is now.
    mutating func setPriority(_ id: UInt64, to priority: Double) {
        if let run = running[id] {
            let isBackground = priority < 0
            guard run.isBackground != isBackground else { return }
            running[id]?.isBackground = isBackground
            let difference = isBackground ? 1 : -1
            total.background += difference
            perHost[run.host]?.background += difference
        } else if let index = waiting.firstIndex(where: { $0.id == id }), waiting[index].priority != priority {
            var moved = waiting.remove(at: index)
            moved.priority = priority
            insert(moved)
        }
    }

    /// Takes the next download that may start, and counts it as running.
    ///
    /// - Parameter now: In nanoseconds of a clock that never goes back.
    mutating func start(at now: Int) -> Start {
        guard total.all < limits.total else { return .none }
        let index = waiting.firstIndex { download in
            let isBackground = download.priority < 0
            return total.hasRoom(of: limits.total, background: isBackground)
                && (perHost[download.host] ?? Count()).hasRoom(of: limits.perHost, background: isBackground)
        }
        guard let index else { return .none }
        guard bucket.take(at: now) else { return .wait(bucket.delay(at: now)) }
        let next = waiting.remove(at: index)
        let isBackground = next.priority < 0
        running[next.id] = Running(host: next.host, isBackground: isBackground)
        total.add(1, background: isBackground)
        perHost[next.host, default: Count()].add(1, background: isBackground)
        return .download(next.id)
    }

    /// Forgets a download that has ended or was cancelled, waiting or running.
    ///
    /// What it held is freed by what it is, never by a count: cancelling a queued download frees no slot.
    mutating func remove(_ id: UInt64) {
        if let run = running.removeValue(forKey: id) {
            total.add(-1, background: run.isBackground)
            perHost[run.host]?.add(-1, background: run.isBackground)
            if perHost[run.host]?.all == 0 { perHost[run.host] = nil }
        } else if let index = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: index)
        }
    }
}

/// Which of two downloads of equal priority starts first.
public enum DownloadOrder: String, Sendable, Hashable, CaseIterable {
    /// The one that came first.
    case fifo
    /// The one that came last.
    case lifo
}
