internal import Platform

/// The scheduling of downloads: decides which waiting download starts next.
///
/// The number of running downloads is limited per host and in total. Of the downloads that may start, the one of the
/// highest priority goes first; among equals the first or the last one that arrived. Downloads that nobody waits for (a
/// priority below 0) take at most half of the slots, and together with those below the default priority at most three
/// quarters, so that slots are free for new urgent ones.
///
/// A download whose server is silent gives back its slot of the total, but not that of its host, so that silent hosts
/// hold up nobody. Including those, sixteen times as many downloads as the total may be open, if the process may have
/// as many connections.
///
/// Every change takes O(log n) for n waiting downloads, whether they are for one host or for as many hosts.
struct DownloadQueue: Sendable {
    struct Limits: Sendable, Equatable {
        var perHost = 4
        var total = 64
        /// The number of connections that the process may have.
        var connections = Int.max

        /// The number of downloads that may run at once in total, without stalled ones.
        var running: Int { min(total, connections) }
        /// The number of downloads that may be open at once in total, including stalled ones.
        var open: Int {
            let (product, overflows) = total.multipliedReportingOverflow(by: 16)
            return min(overflows ? .max : product, connections)
        }
    }

    /// The class of a priority for which slots are reserved.
    enum Urgency: Sendable, CaseIterable, Comparable {
        /// A priority below 0: nobody waits for it.
        case background
        /// A priority below the default.
        case low
        /// The default priority or a higher one.
        case usual
        /// The highest priority: one additional slot is reserved for it.
        case immediate

        init(_ priority: Double) {
            self = priority < 0 ? .background : priority < 0.5 ? .low : priority < 1 ? .usual : .immediate
        }

        /// The number of `count` slots that downloads of this class and lower ones may take.
        func share(of count: Int) -> Int {
            switch self {
            case .background: max(1, count - count / 2)
            case .low: max(1, count - count / 4)
            case .usual: count
            case .immediate: count == .max ? count : count + 1
            }
        }
    }

    enum Start: Sendable, Equatable {
        case download(UInt64)
        /// A download could start, but for the rate, or because too many bodies wait to be stored. Ask again after this number of nanoseconds.
        case wait(Int)
        case none
    }

    private struct Entry {
        var host: String
        var priority: Double
        /// The position of the caller in the order of arrival.
        let arrival: Int
        var isRunning = false
        /// `true` when it runs and its server is silent.
        var isStalled = false
        /// `true` when it ran before, at another host.
        var hasBegun = false

        var urgency: Urgency { Urgency(priority) }
    }

    /// The order in which waiting downloads start.
    private struct Rank: Comparable {
        let priority: Double
        let isFresh: Bool
        /// The order of arrival, which decides among equals.
        let place: (arrival: Int, id: Int)

        init(_ entry: Entry, _ id: UInt64, _ order: DownloadOrder) {
            priority = entry.priority
            isFresh = !entry.hasBegun
            let id = Int(clamping: id)
            place = order == .fifo ? (entry.arrival, id) : (-entry.arrival, -id)
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

    private struct Count {
        private(set) var all = 0
        private var low = 0
        private var background = 0

        /// `true` when one more download fits. When a class has no room, lower classes have none either.
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

    /// The limits of running downloads. Lowering them does not stop any.
    var limits: Limits {
        didSet {
            guard limits.perHost != oldValue.perHost else { return }
            for host in Array(hosts.keys) { updateReadiness(of: host) }
        }
    }
    private(set) var order: DownloadOrder
    var bucket: TokenBucket
    /// The limit of starts per time and host. Also holds the hosts that started something recently.
    var hostRate: HostRate
    /// The downloads that must not start for now. Running ones continue.
    var pause = DownloadPause.none
    private var entries: [UInt64: Entry] = [:]
    private var hosts: [String: Host] = [:]
    /// The hosts that have room for their first waiting download, ordered by its rank. When the first has no room, no
    /// other download of the host has.
    private var ready = RankedHeap<String, Rank>()
    /// The hosts that only wait for their rate limit, by the time when it allows the next start.
    private var throttled = RankedHeap<String, Int>()
    /// The running downloads without stalled ones.
    private var total = Count()
    /// The running downloads including stalled ones.
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

    /// Adds a waiting download.
    ///
    /// - Parameter arrival: The position of the caller in the order of arrival. Several threads look callers up in the
    ///   cache at once, so the calls of this method come in any order.
    mutating func enqueue(_ id: UInt64, host: String, priority: Double, arrival: Int = 0) {
        wait(id, Entry(host: host, priority: priority, arrival: arrival))
    }

    /// Makes a running download wait at another host, to which it was redirected.
    ///
    /// It gives up its slot meanwhile, because two hosts that redirect to each other would wait forever. It goes first
    /// among those of its priority, and the rate limits do not count it again.
    mutating func move(_ id: UInt64, to host: String) {
        guard var entry = entries[id], entry.isRunning, entry.host != host else { return }
        remove(id)
        (entry.host, entry.isRunning, entry.isStalled, entry.hasBegun) = (host, false, false, true)
        wait(id, entry)
    }

    private mutating func wait(_ id: UInt64, _ entry: Entry) {
        entries[id] = entry
        hosts[entry.host, default: Host()].waiting.insert(id, Rank(entry, id, order))
        updateReadiness(of: entry.host)
    }

    mutating func reorder(_ order: DownloadOrder) {
        guard order != self.order else { return }
        self.order = order
        for host in Array(hosts.keys) {
            hosts[host]?.waiting.rerank { [entries] id in
                // Every waiting download has an entry.
                Rank(entries[id] ?? Entry(host: host, priority: 0, arrival: 0), id, order)
            }
            updateReadiness(of: host)
        }
    }

    /// Changes the priority of a download. A running one continues and is counted in its new class.
    mutating func setPriority(_ id: UInt64, to priority: Double) {
        guard var entry = entries[id], entry.priority != priority else { return }
        if entry.isRunning { count(entry, -1) }
        entry.priority = priority
        entries[id] = entry
        if entry.isRunning {
            count(entry, 1)
        } else {
            let rank = Rank(entry, id, order)
            change(entry.host) { $0.waiting.insert(id, rank) }
        }
        updateReadiness(of: entry.host)
    }

    /// Records that the server of a running download is silent, or sends again.
    ///
    /// One that sends again counts at once, even beyond the limit: no other download is stopped for it.
    mutating func setStalled(_ id: UInt64, _ isStalled: Bool) {
        guard var entry = entries[id], entry.isRunning, entry.isStalled != isStalled else { return }
        entry.isStalled = isStalled
        entries[id] = entry
        total.add(isStalled ? -1 : 1, entry.urgency)
    }

    /// Counts a running download, or removes it from the counts.
    private mutating func count(_ entry: Entry, _ difference: Int) {
        if !entry.isStalled { total.add(difference, entry.urgency) }
        open.add(difference, entry.urgency)
        change(entry.host) { $0.running.add(difference, entry.urgency) }
    }

    private mutating func change(_ name: String, _ change: (inout Host) -> Void) {
        if let index = hosts.index(forKey: name) { change(&hosts.values[index]) }
    }

    /// Recomputes whether a host can start its next download, and the rank of that download.
    private mutating func updateReadiness(of name: String) {
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

    /// Makes hosts ready again whose rate limit allows a start now.
    private mutating func endThrottling(at now: Int) {
        while let (name, time) = throttled.first, time <= now {
            throttled.remove(name)
            updateReadiness(of: name)
        }
    }

    // MARK: Starting and ending

    /// The time after which it is asked again whether downloads are still held back, in nanoseconds.
    static let holdBackSpan = 5_000_000

    /// Selects the next download that may start at `now`, in nanoseconds of a monotonic clock, and counts it as running.
    ///
    /// - Parameter isHeldBack: `true` while one at a time may run, because too many bodies wait to be stored. One goes on,
    ///   for whoever has a body may be waiting for another.
    mutating func start(at now: Int, isHeldBack: Bool = false) -> Start {
        endThrottling(at: now)
        guard pause != .all else { return .none }
        if isHeldBack, total.all > 0, ready.first != nil { return .wait(Self.holdBackSpan) }
        while let (name, rank) = ready.first, rank.isFresh, mayStart(rank) {
            let delay = hostRate.delay(of: name, at: now)
            if delay == 0 { break }
            // Other hosts may start downloads meanwhile.
            ready.remove(name)
            throttled.insert(name, now + delay)
        }
        guard let (name, rank) = ready.first, let id = hosts[name]?.waiting.first?.id, var entry = entries[id],
            mayStart(rank)
        else { return throttled.first.map { .wait(max($0.rank - now, 1)) } ?? .none }
        if rank.isFresh {
            guard bucket.takeToken(at: now) else { return .wait(bucket.delay(at: now)) }
            hostRate.countStart(of: name, at: now)
        }
        entry.isRunning = true
        entries[id] = entry
        count(entry, 1)
        change(name) { $0.waiting.remove(id) }
        updateReadiness(of: name)
        return .download(id)
    }

    private func mayStart(_ rank: Rank) -> Bool {
        (pause == .none || rank.urgency > .background) && total.hasRoom(of: limits.running, for: rank.urgency)
            && open.hasRoom(of: limits.open, for: rank.urgency) && open.all < limits.connections
    }

    /// Removes a waiting or running download that has ended or was cancelled.
    ///
    /// Only a running one frees a slot: cancelling a waiting download frees none.
    mutating func remove(_ id: UInt64) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        if entry.isRunning {
            count(entry, -1)
        } else {
            change(entry.host) { $0.waiting.remove(id) }
        }
        updateReadiness(of: entry.host)
    }
}

/// The order of downloads with equal priority.
public enum DownloadOrder: String, Sendable, Hashable, CaseIterable {
    /// The first one that arrived goes first.
    case fifo
    /// The last one that arrived goes first.
    case lifo
}
