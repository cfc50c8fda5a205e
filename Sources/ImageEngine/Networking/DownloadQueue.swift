/// Which waiting download may start: a plain value.
///
/// Per host and in all only so many run at once. Among those that may start the highest priority goes first, and
/// within one priority the first or the last come. What nobody waits for (a priority below 0) takes at most half of the
/// slots, so that the other half is there for whoever comes (B-003).
///
/// Nothing is looked through: each change takes steps by the logarithm of what waits, ten thousand for one host or each for
/// its own.
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

    /// A download that waits or runs.
    private struct Entry {
        var host: String
        var priority: Double
        /// The order of arrival.
        let number: Int
        var isRunning = false
        /// Whether it ran before, at another host.
        var hasBegun = false

        var isBackground: Bool { priority < 0 }
    }

    /// What makes one of two start first.
    private struct Rank: Comparable {
        let priority: Double
        let isFresh: Bool
        /// What decides among equals.
        let place: Int

        init(_ entry: Entry, _ order: DownloadOrder) {
            priority = entry.priority
            isFresh = !entry.hasBegun
            place = order == .fifo ? entry.number : -entry.number
        }

        var isBackground: Bool { priority < 0 }

        static func < (one: Rank, other: Rank) -> Bool {
            if one.priority != other.priority { return one.priority > other.priority }
            if one.isFresh != other.isFresh { return other.isFresh }
            return one.place < other.place
        }
    }

    private struct Host {
        var waiting = RankedHeap<UInt64, Rank>()
        var running = Count()
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
    var limits: Limits {
        didSet {
            guard limits.perHost != oldValue.perHost else { return }
            for host in Array(hosts.keys) { weigh(host) }
        }
    }
    /// Which of equal priority goes first.
    private(set) var order: DownloadOrder
    /// How many start in a time.
    var bucket: TokenBucket
    private var lastNumber = 0
    private var entries: [UInt64: Entry] = [:]
    private var hosts: [String: Host] = [:]
    /// The hosts that have room for the first that waits for them, by the rank of that one. No other of theirs can be
    /// before it: where the first has no room, none has.
    private var ready = RankedHeap<String, Rank>()
    private var total = Count()

    init(
        limits: Limits = Limits(), order: DownloadOrder = .fifo,
        bucket: TokenBucket = TokenBucket(rate: 0, burst: 1, at: 0)
    ) {
        self.limits = limits
        self.order = order
        self.bucket = bucket
    }

    var runningCount: Int { total.all }
    var waitingCount: Int { entries.count - total.all }

    // MARK: Waiting

    /// Puts a download in its place in the queue.
    mutating func enqueue(_ id: UInt64, host: String, priority: Double) {
        lastNumber += 1
        wait(id, Entry(host: host, priority: priority, number: lastNumber))
    }

    /// Sends a running download back to wait for its turn at another host, to which it was redirected.
    ///
    /// It gives its slot up meanwhile, or two hosts that redirect to each other would wait for ever. Of its priority it is
    /// among the first then, and the rate does not count it again.
    mutating func move(_ id: UInt64, to host: String) {
        guard var entry = entries[id], entry.isRunning, entry.host != host else { return }
        remove(id)
        (entry.host, entry.isRunning, entry.hasBegun) = (host, false, true)
        wait(id, entry)
    }

    private mutating func wait(_ id: UInt64, _ entry: Entry) {
        entries[id] = entry
        hosts[entry.host, default: Host()].waiting.insert(id, Rank(entry, order))
        weigh(entry.host)
    }

    /// Sorts the waiting anew, for another order.
    mutating func reorder(_ order: DownloadOrder) {
        guard order != self.order else { return }
        self.order = order
        for host in Array(hosts.keys) {
            hosts[host]?.waiting.rank { [entries] id in
                // What waits has an entry.
                Rank(entries[id] ?? Entry(host: host, priority: 0, number: 0), order)
            }
            weigh(host)
        }
    }

    /// Moves a download to where another priority puts it. One that runs goes on, and counts as what it is now.
    mutating func setPriority(_ id: UInt64, to priority: Double) {
        guard var entry = entries[id], entry.priority != priority else { return }
        let difference = (priority < 0 ? 1 : 0) - (entry.isBackground ? 1 : 0)
        entry.priority = priority
        entries[id] = entry
        if entry.isRunning {
            total.background += difference
            hosts[entry.host]?.running.background += difference
        } else {
            hosts[entry.host]?.waiting.insert(id, Rank(entry, order))
        }
        weigh(entry.host)
    }

    /// Notes whether and with what rank a host can start its next.
    private mutating func weigh(_ name: String) {
        guard let host = hosts[name] else { return }
        guard let first = host.waiting.first else {
            ready.remove(name)
            if host.running.all == 0 { hosts[name] = nil }
            return
        }
        if host.running.hasRoom(of: limits.perHost, background: first.rank.isBackground) {
            ready.insert(name, first.rank)
        } else {
            ready.remove(name)
        }
    }

    // MARK: Starting and ending

    /// Takes the next download that may start, and counts it as running.
    ///
    /// - Parameter now: In nanoseconds of a clock that never goes back.
    mutating func start(at now: Int) -> Start {
        guard let (name, rank) = ready.first, let id = hosts[name]?.waiting.first?.id,
            total.hasRoom(of: limits.total, background: rank.isBackground)
        else { return .none }
        if rank.isFresh, !bucket.take(at: now) { return .wait(bucket.delay(at: now)) }
        entries[id]?.isRunning = true
        total.add(1, background: rank.isBackground)
        hosts[name]?.running.add(1, background: rank.isBackground)
        hosts[name]?.waiting.remove(id)
        weigh(name)
        return .download(id)
    }

    /// Forgets a download that has ended or was cancelled, waiting or running.
    ///
    /// What it held is freed by what it is, never by a count: cancelling a queued download frees no slot.
    mutating func remove(_ id: UInt64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if entry.isRunning {
            total.add(-1, background: entry.isBackground)
            hosts[entry.host]?.running.add(-1, background: entry.isBackground)
        } else {
            hosts[entry.host]?.waiting.remove(id)
        }
        weigh(entry.host)
    }
}

/// Which of two downloads of equal priority starts first.
public enum DownloadOrder: String, Sendable, Hashable, CaseIterable {
    /// The one that came first.
    case fifo
    /// The one that came last.
    case lifo
}
