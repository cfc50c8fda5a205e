internal import Platform

/// Which waiting download may start: a plain value.
///
/// Per host and in all only so many run at once. Among those that may start the highest priority goes first, and
/// within one priority the first or the last come. What nobody waits for (a priority below 0) takes at most half of the
/// slots, and with what is less urgent than usual at most three quarters: the others are there for whoever comes (B-003,
/// B-014, C-17).
///
/// A download whose server says nothing gives the slot back that it had of all, though not that of its host: hosts that
/// accept and are silent hold nobody up (C4). There may be sixteen times as many as run at once, those counted,
/// if the process may have as many connections.
///
/// Nothing is looked through: each change takes steps by the logarithm of what waits, ten thousand for one host or each for
/// its own.
struct DownloadQueue: Sendable {
    struct Limits: Sendable, Equatable {
        var perHost = 4
        var total = 64
        /// How many connections the process can have.
        var connections = Int.max

        /// How many may run at once in all, those apart that are stalled.
        var running: Int { min(total, connections) }
        /// How many may be open at once in all, with those that are stalled.
        var open: Int {
            let (product, overflows) = total.multipliedReportingOverflow(by: 16)
            return min(overflows ? .max : product, connections)
        }
    }

    /// How urgent a download is, as far as slots are reserved.
    enum Urgency: Int, Sendable, CaseIterable {
        /// Nobody waits for it.
        case background
        /// Less than usual.
        case low
        /// As usual, or more.
        case usual
        /// More than anything else: one more slot is kept for it (B-014).
        case immediate

        init(_ priority: Double) {
            self = priority < 0 ? .background : priority < 0.5 ? .low : priority < 1 ? .usual : .immediate
        }

        /// How many of `count` slots such downloads may take, with those that are less urgent.
        func share(of count: Int) -> Int {
            switch self {
            case .background: max(1, count - count / 2)
            case .low: max(1, count - count / 4)
            case .usual: count
            case .immediate: count == .max ? count : count + 1
            }
        }
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
        /// Which place the one who waits has in the order in which they came.
        let arrival: Int
        /// The order in which they were put in the queue.
        let number: Int
        var isRunning = false
        /// Whether it runs, and its server says nothing.
        var isStalled = false
        /// Whether it ran before, at another host.
        var hasBegun = false

        var urgency: Urgency { Urgency(priority) }
    }

    /// What makes one of two start first.
    private struct Rank: Comparable {
        let priority: Double
        let isFresh: Bool
        /// What decides among equals.
        let place: (arrival: Int, number: Int)

        init(_ entry: Entry, _ order: DownloadOrder) {
            priority = entry.priority
            isFresh = !entry.hasBegun
            place = order == .fifo ? (entry.arrival, entry.number) : (-entry.arrival, -entry.number)
        }

        var urgency: Urgency { Urgency(priority) }

        static func < (one: Rank, other: Rank) -> Bool {
            if one.priority != other.priority { return one.priority > other.priority }
            if one.isFresh != other.isFresh { return other.isFresh }
            return one.place < other.place
        }

        static func == (one: Rank, other: Rank) -> Bool { !(one < other) && !(other < one) }
    }

    private struct Host {
        var waiting = RankedHeap<UInt64, Rank>()
        var running = Count()
    }

    /// What starts nothing for now.
    enum Pause: String, Sendable, CaseIterable {
        /// Everything may start.
        case nothing
        /// What nobody waits for may not.
        case background
        /// Nothing may.
        case everything
    }

    private struct Count {
        private(set) var all = 0
        private var low = 0
        private var background = 0

        /// Whether one more has room. One that is less urgent has none where a more urgent one has none.
        func hasRoom(of limit: Int, for urgency: Urgency) -> Bool {
            all < max(urgency, .usual).share(of: limit) && (urgency > .low || low < Urgency.low.share(of: limit))
                && (urgency > .background || background < Urgency.background.share(of: limit))
        }

        mutating func add(_ difference: Int, _ urgency: Urgency) {
            all += difference
            if urgency <= .low { low += difference }
            if urgency == .background { background += difference }
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
    /// How many start in a time from one host; how many hosts have begun lately goes by this too.
    var hostRate: HostRate
    /// What starts nothing for now; what runs goes on (B-010).
    var pause = Pause.nothing
    private var lastNumber = 0
    private var entries: [UInt64: Entry] = [:]
    private var hosts: [String: Host] = [:]
    /// The hosts that have room for the first that waits for them, by the rank of that one. No other of theirs can be
    /// before it: where the first has no room, none has.
    private var ready = RankedHeap<String, Rank>()
    /// The hosts that would be ready but for their rate, by when they are.
    private var throttled = RankedHeap<String, Int>()
    /// Those that run and get on.
    private var total = Count()
    /// Those that run, stalled or not.
    private var open = Count()

    init(
        limits: Limits = Limits(), order: DownloadOrder = .fifo,
        bucket: TokenBucket = TokenBucket(rate: 0, burst: 1, at: 0), hostRate: HostRate = HostRate()
    ) {
        self.hostRate = hostRate
        self.limits = limits
        self.order = order
        self.bucket = bucket
    }

    var runningCount: Int { open.all }
    var waitingCount: Int { entries.count - open.all }
    var stalledCount: Int { open.all - total.all }

    // MARK: Waiting

    /// Puts a download in its place in the queue.
    ///
    /// - Parameter arrival: Its place in the order in which those came who wait. What they ask for is looked up by several
    ///   threads at once, and gets here in any order.
    mutating func enqueue(_ id: UInt64, host: String, priority: Double, arrival: Int = 0) {
        lastNumber += 1
        wait(id, Entry(host: host, priority: priority, arrival: arrival, number: lastNumber))
    }

    /// Sends a running download back to wait for its turn at another host, to which it was redirected.
    ///
    /// It gives its slot up meanwhile, or two hosts that redirect to each other would wait for ever. Of its priority it is
    /// among the first then, and the rate does not count it again.
    mutating func move(_ id: UInt64, to host: String) {
        guard var entry = entries[id], entry.isRunning, entry.host != host else { return }
        remove(id)
        (entry.host, entry.isRunning, entry.isStalled, entry.hasBegun) = (host, false, false, true)
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
                Rank(entries[id] ?? Entry(host: host, priority: 0, arrival: 0, number: 0), order)
            }
            weigh(host)
        }
    }

    /// Moves a download to where another priority puts it. One that runs goes on, and counts as what it is now.
    mutating func setPriority(_ id: UInt64, to priority: Double) {
        guard var entry = entries[id], entry.priority != priority else { return }
        if entry.isRunning { count(entry, -1) }
        entry.priority = priority
        entries[id] = entry
        if entry.isRunning {
            count(entry, 1)
        } else {
            let rank = Rank(entry, order)
            change(entry.host) { $0.waiting.insert(id, rank) }
        }
        weigh(entry.host)
    }

    /// Notes that the server of a running download says nothing, or speaks again.
    ///
    /// One that speaks again counts at once, also beyond the limit: none is broken off for another.
    mutating func setStalled(_ id: UInt64, _ isStalled: Bool) {
        guard var entry = entries[id], entry.isRunning, entry.isStalled != isStalled else { return }
        entry.isStalled = isStalled
        entries[id] = entry
        total.add(isStalled ? -1 : 1, entry.urgency)
    }

    /// Counts a download that runs as one more, or one less.
    private mutating func count(_ entry: Entry, _ difference: Int) {
        if !entry.isStalled { total.add(difference, entry.urgency) }
        open.add(difference, entry.urgency)
        change(entry.host) { $0.running.add(difference, entry.urgency) }
    }

    /// Changes what is known of a host in its place.
    private mutating func change(_ name: String, _ change: (inout Host) -> Void) {
        if let index = hosts.index(forKey: name) { change(&hosts.values[index]) }
    }

    /// Notes whether and with what rank a host can start its next.
    private mutating func weigh(_ name: String) {
        guard let host = hosts[name] else { return }
        guard let first = host.waiting.first else {
            ready.remove(name)
            throttled.remove(name)
            if host.running.all == 0 { hosts[name] = nil }
            return
        }
        if host.running.hasRoom(of: limits.perHost, for: first.rank.urgency), !throttled.contains(name) {
            ready.insert(name, first.rank)
        } else {
            ready.remove(name)
        }
    }

    /// Lets hosts start again whose rate allows it now.
    private mutating func release(at now: Int) {
        while let (name, time) = throttled.first, time <= now {
            throttled.remove(name)
            weigh(name)
        }
    }

    // MARK: Starting and ending

    /// Takes the next download that may start, and counts it as running.
    ///
    /// - Parameter now: In nanoseconds of a clock that never goes back.
    mutating func start(at now: Int) -> Start {
        release(at: now)
        guard pause != .everything else { return .none }
        while let (name, rank) = ready.first, rank.isFresh, mayStart(rank) {
            let delay = hostRate.delay(of: name, at: now)
            if delay == 0 { break }
            // Others may start meanwhile.
            ready.remove(name)
            throttled.insert(name, now + delay)
        }
        guard let (name, rank) = ready.first, let id = hosts[name]?.waiting.first?.id, var entry = entries[id],
            mayStart(rank)
        else { return throttled.first.map { .wait(max($0.rank - now, 1)) } ?? .none }
        if rank.isFresh {
            guard bucket.take(at: now) else { return .wait(bucket.delay(at: now)) }
            hostRate.take(of: name, at: now)
        }
        entry.isRunning = true
        entries[id] = entry
        count(entry, 1)
        change(name) { $0.waiting.remove(id) }
        weigh(name)
        return .download(id)
    }

    private func mayStart(_ rank: Rank) -> Bool {
        (pause == .nothing || rank.urgency > .background) && total.hasRoom(of: limits.running, for: rank.urgency)
            && open.hasRoom(of: limits.open, for: rank.urgency) && open.all < limits.connections
    }

    /// Forgets a download that has ended or was cancelled, waiting or running.
    ///
    /// What it held is freed by what it is, never by a count: cancelling a queued download frees no slot.
    mutating func remove(_ id: UInt64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if entry.isRunning {
            count(entry, -1)
        } else {
            change(entry.host) { $0.waiting.remove(id) }
        }
        weigh(entry.host)
    }
}

extension DownloadQueue.Urgency: Comparable {
    package static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
}

/// Which of two downloads of equal priority starts first.
public enum DownloadOrder: String, Sendable, Hashable, CaseIterable {
    /// The one that came first.
    case fifo
    /// The one that came last.
    case lifo
}
