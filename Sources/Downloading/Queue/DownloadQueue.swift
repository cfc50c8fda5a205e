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

    /// Receives the turn of a download once: a success when it may start, or an error when it has left the queue.
    typealias Receiver = @Sendable (Result<Void, any Error>) -> Void

    enum Start: Sendable, Equatable {
        case download(UInt64)
        /// A download could start, but for the rate, or because too many bodies wait to be stored. Ask again after this number of nanoseconds.
        case wait(Int)
        case none
    }

    /// The order in which waiting downloads start.
    private struct Rank: Sendable {
        var priority = 0.0
        /// The position of the caller in the order of arrival.
        var arrival = 0
        /// The name of the download: the number of those before it, and its place among the entries.
        var id = UInt64.max
        /// `true` when it ran before, at another host.
        var hasBegun = false
        /// `true` when the last one that arrived goes first.
        var isReversed = false

        var urgency: Urgency { Urgency(priority) }

        func isBefore(_ other: Rank) -> Bool {
            if priority != other.priority { return priority > other.priority }
            if hasBegun != other.hasBegun { return hasBegun }
            return ((arrival, id) < (other.arrival, other.id)) != isReversed
        }
    }

    private struct Entry: HeapMember {
        var rank = Rank()
        var host: Int32 = -1
        /// The position among those that wait for the host.
        var position: Int32 = -1
        var isRunning = false
        /// `true` when it runs and its server is silent.
        var isStalled = false
        var receiver: Receiver?

        func isBefore(_ other: Entry) -> Bool { rank.isBefore(other.rank) }
    }

    private struct Host: HeapMember {
        var name = ""
        var waiting = Heap<Entry>()
        var running = Count()
        /// The rank of the first that waits, which is that of the host.
        var first = Rank()
        /// The time when the rate limit of the host allows the next start, if it only waits for that.
        var throttledUntil: Int?
        /// The position in ``throttled`` if it has such a time, otherwise in ``ready``.
        var position: Int32 = -1

        func isBefore(_ other: Host) -> Bool {
            if let one = throttledUntil, let two = other.throttledUntil { return one < two }
            return first.isBefore(other.first)
        }
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
            for host in Array(hostPlaces.values) { updateReadiness(of: host) }
        }
    }
    private(set) var order: DownloadOrder
    var bucket: TokenBucket
    /// The limit of starts per time and host. Also holds the hosts that started something recently.
    var hostRate: HostRate
    /// The downloads that must not start for now. Running ones continue.
    var pause = DownloadPause.none
    private var lastNumber: UInt32 = 0
    private var entries = Slots<Entry>()
    private var hosts = Slots<Host>()
    private var hostPlaces: [String: Int] = [:]
    /// The hosts that have room for their first waiting download, ordered by its rank. When the first has no room, no
    /// other download of the host has.
    private var ready = Heap<Host>()
    /// The hosts that only wait for their rate limit, by the time when it allows the next start.
    private var throttled = Heap<Host>()
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
    /// - Returns: The name of the download.
    mutating func enqueue(host: String, priority: Double, arrival: Int = 0) -> UInt64 {
        lastNumber &+= 1
        let place = entries.insert(Entry())
        let id = UInt64(lastNumber) << 32 | UInt64(place)
        entries[place].rank = Rank(priority: priority, arrival: arrival, id: id, isReversed: order == .lifo)
        wait(place, at: host)
        return id
    }

    /// The one that receives the turn of a download; `nil` also when the download has left the queue.
    subscript(id: UInt64) -> Receiver? {
        get { place(of: id).flatMap { entries[$0].receiver } }
        set { if let place = place(of: id) { entries[place].receiver = newValue } }
    }

    /// Makes a running download wait at another host, to which it was redirected.
    ///
    /// It gives up its slot meanwhile, because two hosts that redirect to each other would wait forever. It goes first
    /// among those of its priority, and the rate limits do not count it again.
    mutating func move(_ id: UInt64, to host: String) {
        guard let place = place(of: id), entries[place].isRunning, hosts[Int(entries[place].host)].name != host else {
            return
        }
        leave(place)
        (entries[place].isRunning, entries[place].isStalled, entries[place].rank.hasBegun) = (false, false, true)
        wait(place, at: host)
    }

    /// The place of a download among the entries; `nil` when it has left the queue.
    private func place(of id: UInt64) -> Int? {
        let place = Int(id & 0xffff_ffff)
        return place < entries.values.count && entries[place].rank.id == id ? place : nil
    }

    private mutating func wait(_ place: Int, at name: String) {
        let host = hostPlaces[name] ?? hosts.insert(Host(name: name))
        hostPlaces[name] = host
        entries[place].host = Int32(host)
        hosts[host].waiting.insert(place, in: &entries)
        updateReadiness(of: host)
    }

    mutating func reorder(_ order: DownloadOrder) {
        guard order != self.order else { return }
        self.order = order
        for place in entries.values.indices { entries[place].rank.isReversed = order == .lifo }
        for host in hostPlaces.values {
            hosts[host].waiting.sort(in: &entries)
            if let first = hosts[host].waiting.first { hosts[host].first = entries[first].rank }
        }
        ready.sort(in: &hosts)
    }

    /// Changes the priority of a download. A running one continues and is counted in its new class.
    mutating func setPriority(_ id: UInt64, to priority: Double) {
        guard let place = place(of: id), entries[place].rank.priority != priority else { return }
        let host = Int(entries[place].host)
        if entries[place].isRunning { count(place, -1) }
        entries[place].rank.priority = priority
        if entries[place].isRunning { count(place, 1) } else { hosts[host].waiting.insert(place, in: &entries) }
        updateReadiness(of: host)
    }

    /// Records that the server of a running download is silent, or sends again.
    ///
    /// One that sends again counts at once, even beyond the limit: no other download is stopped for it.
    mutating func setStalled(_ id: UInt64, _ isStalled: Bool) {
        guard let place = place(of: id), entries[place].isRunning, entries[place].isStalled != isStalled else { return }
        entries[place].isStalled = isStalled
        total.add(isStalled ? -1 : 1, entries[place].rank.urgency)
    }

    /// Counts a running download, or removes it from the counts.
    private mutating func count(_ place: Int, _ difference: Int) {
        let (urgency, host) = (entries[place].rank.urgency, Int(entries[place].host))
        if !entries[place].isStalled { total.add(difference, urgency) }
        open.add(difference, urgency)
        hosts[host].running.add(difference, urgency)
    }

    /// Recomputes whether a host can start its next download, and the rank of that download.
    private mutating func updateReadiness(of host: Int) {
        guard let first = hosts[host].waiting.first else {
            if hosts[host].throttledUntil == nil { ready.remove(host, in: &hosts) } else { endThrottling(of: host) }
            guard hosts[host].running.all == 0 else { return }
            hostPlaces[hosts[host].name] = nil
            return hosts.remove(host, leaving: Host())
        }
        guard hosts[host].throttledUntil == nil else { return }
        hosts[host].first = entries[first].rank
        if hosts[host].running.hasRoom(of: limits.perHost, for: hosts[host].first.urgency) {
            ready.insert(host, in: &hosts)
        } else {
            ready.remove(host, in: &hosts)
        }
    }

    private mutating func endThrottling(of host: Int) {
        throttled.remove(host, in: &hosts)
        hosts[host].throttledUntil = nil
    }

    // MARK: Starting and ending

    /// The time after which it is asked again whether downloads are still held back, in nanoseconds.
    static let holdBackSpan = 5_000_000

    /// Selects the next download that may start at `now`, in nanoseconds of a monotonic clock, and counts it as running.
    ///
    /// - Parameter isHeldBack: `true` while one at a time may run, because too many bodies wait to be stored. One goes on,
    ///   for whoever has a body may be waiting for another.
    mutating func start(at now: Int, isHeldBack: Bool = false) -> Start {
        // Hosts whose rate limit allows a start now are ready again.
        while let host = throttled.first, let time = hosts[host].throttledUntil, time <= now {
            endThrottling(of: host)
            updateReadiness(of: host)
        }
        guard pause != .all else { return .none }
        if isHeldBack, total.all > 0, ready.first != nil { return .wait(Self.holdBackSpan) }
        while let host = ready.first, !hosts[host].first.hasBegun, mayStart(hosts[host].first) {
            let delay = hostRate.delay(of: hosts[host].name, at: now)
            if delay == 0 { break }
            // Other hosts may start downloads meanwhile.
            ready.remove(host, in: &hosts)
            hosts[host].throttledUntil = now + delay
            throttled.insert(host, in: &hosts)
        }
        guard let host = ready.first, let place = hosts[host].waiting.first, mayStart(hosts[host].first) else {
            return throttled.first.flatMap { hosts[$0].throttledUntil }.map { .wait(max($0 - now, 1)) } ?? .none
        }
        if !hosts[host].first.hasBegun {
            guard bucket.takeToken(at: now) else { return .wait(bucket.delay(at: now)) }
            hostRate.countStart(of: hosts[host].name, at: now)
        }
        entries[place].isRunning = true
        count(place, 1)
        hosts[host].waiting.remove(place, in: &entries)
        updateReadiness(of: host)
        return .download(entries[place].rank.id)
    }

    private func mayStart(_ rank: Rank) -> Bool {
        (pause == .none || rank.urgency > .background) && total.hasRoom(of: limits.running, for: rank.urgency)
            && open.hasRoom(of: limits.open, for: rank.urgency) && open.all < limits.connections
    }

    /// Removes a waiting or running download that has ended or was cancelled.
    ///
    /// Only a running one frees a slot: cancelling a waiting download frees none.
    mutating func remove(_ id: UInt64) {
        guard let place = place(of: id) else { return }
        leave(place)
        entries.remove(place, leaving: Entry())
    }

    private mutating func leave(_ place: Int) {
        let host = Int(entries[place].host)
        if entries[place].isRunning { count(place, -1) } else { hosts[host].waiting.remove(place, in: &entries) }
        updateReadiness(of: host)
    }
}

/// The order of downloads with equal priority.
public enum DownloadOrder: String, Sendable, Hashable, CaseIterable {
    /// The first one that arrived goes first.
    case fifo
    /// The last one that arrived goes first.
    case lifo
}
