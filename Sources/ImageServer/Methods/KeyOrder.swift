internal import ImageEngine
internal import Platform

/// A request that takes its place in the order of effects of a cache.
protocol OrderedRequest: AnyObject, Sendable {
    var cacheName: String { get }
    /// The part of the cache that it reads or changes.
    var scope: KeyOrder.Scope { get }
    var kind: KeyOrder.Kind { get }
    /// `true` for a request that does not wait for the network.
    var isLocal: Bool { get }
    /// The priority. While the request waits, the requests that it waits for get at least the same.
    var priority: CallPriority? { get }

    /// Called when the request may not run yet.
    func wait()
    /// Starts the work. Returns `true` if it will leave the order when it has ended; otherwise it leaves at once.
    ///
    /// One that may wait for the network looks into the cache first, and then calls ``RequestOrder/goOn(_:)``.
    func start() -> Bool
}

/// The order in which requests on one cache take effect, as a plain value.
///
/// Requests on one key take effect in order of arrival. Reads run together, and so do requests that fill the entry in
/// the same way (most of them are merged); a change runs alone. A request on the whole cache waits for the local
/// requests before it and for those that still look into the cache, and everything after it waits for it; running
/// downloads, and the requests behind them, take effect after it, so that a slow server does not delay a `clear`. A
/// survey (of sizes) waits for the same requests and delays nothing.
struct KeyOrder: Sendable {
    /// The position of a request in the order of arrival.
    private typealias Ticket = UInt64

    /// The URL and the options by which an entry is filled; equal fillings may run at the same time.
    struct Filling: Sendable, Equatable {
        let url: ExactText
        let options: ImageOptions?
    }

    enum Kind: Sendable, Equatable {
        /// Reads the entry without a change.
        case look
        /// Puts the image into the cache if it is missing; may wait for the network.
        case fill(Filling)
        /// Changes the entry.
        case change
    }

    enum Scope: Sendable, Equatable {
        case key(ExactText)
        case wholeCache
        /// As ``wholeCache``, and so in every cache; see ``RequestOrder``.
        case allCaches
        case survey
    }

    private struct Group: Sendable {
        let kind: Kind
        var members: [ObjectIdentifier: Arrival]
    }

    /// A request with its position in the order of arrival.
    private struct Arrival: Sendable {
        let ticket: Ticket
        let request: any OrderedRequest
        let isLocal: Bool
    }

    /// The groups of one key in order; the first is running. A slice, so that the first is removed without moving the
    /// others.
    private struct Lane: Sendable {
        var groups: ArraySlice<Group> = []
        /// `true` when the running group waits for the network.
        var isAtNetwork = false

        /// Appends a request; returns `true` if it may run now.
        mutating func join(_ arrival: Arrival) -> Bool {
            let kind = arrival.request.kind
            if kind != .change, groups.last?.kind == kind {
                groups[groups.endIndex - 1].members[ObjectIdentifier(arrival.request)] = arrival
            } else {
                let members = [ObjectIdentifier(arrival.request): arrival]
                groups.append(Group(kind: kind, members: members))
            }
            return groups.count == 1
        }

        /// Removes a request; returns the requests that may run now.
        mutating func leave(_ request: any OrderedRequest) -> [Arrival] {
            let id = ObjectIdentifier(request)
            guard let index = groups.firstIndex(where: { $0.members[id] != nil }) else { return [] }
            groups[index].members[id] = nil
            guard groups[index].members.isEmpty else { return [] }
            guard index == groups.startIndex else {
                groups.remove(at: index)
                return []
            }
            groups.removeFirst()
            isAtNetwork = false
            return groups.first?.members.values.sorted { $0.ticket < $1.ticket } ?? []
        }
    }

    private struct Survey: Sendable {
        let arrival: Arrival
        var missing: Int
    }

    private var lastTicket: Ticket = 0
    /// The running requests on keys that have no lane: most keys have one request, and thousands may wait for the network.
    private var single: [ExactText: any OrderedRequest] = [:]
    /// The keys that had more than one request, until they have none.
    private var lanes: [ExactText: Lane] = [:]
    /// The requests that finish soon: those that still look into the cache, and local ones that do not wait for a request
    /// that has gone on to the network.
    private var soon: [ObjectIdentifier: Ticket] = [:]
    /// The whole-cache request that is running.
    private var whole: Arrival?
    /// The requests after a whole-cache request that has not ended, in order, including that request if it still waits.
    private var later: ArraySlice<Arrival> = []
    /// The number of local requests in ``later``.
    private var laterLocals = 0
    /// The waiting surveys, with the number of earlier requests that each still waits for.
    private var surveys: [Survey] = []

    /// `true` when no request is running or waiting.
    var isEmpty: Bool { single.isEmpty && lanes.isEmpty && whole == nil && later.isEmpty && surveys.isEmpty }

    /// `true` when a request would run at once.
    func isFree(_ scope: Scope, _ kind: @autoclosure () -> Kind) -> Bool {
        guard case .key(let key) = scope else { return soon.isEmpty && whole == nil && later.isEmpty }
        guard whole == nil, later.isEmpty else { return false }
        if let running = single[key] { return Self.runTogether(running.kind, kind()) }
        guard let groups = lanes[key]?.groups, let first = groups.first else { return true }
        return groups.count == 1 && Self.runTogether(first.kind, kind())
    }

    private static func runTogether(_ one: Kind, _ other: Kind) -> Bool { one != .change && one == other }

    /// The requests on a key that are running.
    func running(_ key: ExactText) -> [any OrderedRequest] {
        if let running = single[key] { return [running] }
        return lanes[key]?.groups.first?.members.values.map(\.request) ?? []
    }

    /// Appends a request to the order.
    ///
    /// - Returns: `true` if it may run now; otherwise ``leave(_:)`` returns it later.
    mutating func enter(_ request: any OrderedRequest) -> Bool {
        lastTicket += 1
        let arrival = Arrival(ticket: lastTicket, request: request, isLocal: request.isLocal)
        let isQueued = whole != nil || !later.isEmpty
        switch request.scope {
        case .survey:
            let missing = soon.count + (whole == nil ? 0 : 1) + laterLocals
            if missing > 0 { surveys.append(Survey(arrival: arrival, missing: missing)) }
            return missing == 0
        case .wholeCache, .allCaches:
            if !isQueued, soon.isEmpty {
                whole = arrival
                return true
            }
        case .key(let key):
            if !isQueued {
                let runs = join(key, arrival)
                if runs { noteRunning(arrival) }
                return runs
            }
        }
        later.append(arrival)
        if arrival.isLocal { laterLocals += 1 }
        return false
    }

    /// Removes a request.
    ///
    /// - Returns: The requests that may run now.
    mutating func leave(_ request: any OrderedRequest) -> [any OrderedRequest] {
        var started: [any OrderedRequest] = []
        var ended = soon.removeValue(forKey: ObjectIdentifier(request))
        if let running = whole, running.request === request { (ended, whole) = (running.ticket, nil) }
        if case .key(let key) = request.scope {
            let next = advance(key, past: request)
            next.forEach { noteRunning($0) }
            started += next.map(\.request)
        }
        started += admitLater()
        if let ended { started += countDownSurveys(past: ended) }
        return started
    }

    /// Lets a request that runs go to the network, for it has looked into the cache.
    ///
    /// - Returns: The requests that may run now.
    mutating func goOn(_ request: any OrderedRequest) -> [any OrderedRequest] {
        guard !request.isLocal, let looked = soon.removeValue(forKey: ObjectIdentifier(request)) else { return [] }
        var noLongerSoon: [Ticket] = []
        if case .key(let key) = request.scope, let index = lanes.index(forKey: key), !lanes.values[index].isAtNetwork {
            lanes.values[index].isAtNetwork = true
            // What waits for it no longer finishes soon.
            for group in lanes.values[index].groups.dropFirst() {
                noLongerSoon += group.members.keys.compactMap { soon.removeValue(forKey: $0) }
            }
        }
        let started = admitLater() + countDownSurveys(past: looked)
        return noLongerSoon.reduce(into: started) { $0 += countDownSurveys(past: $1) }
    }

    /// Notes that a request runs: what empties the cache waits until a local one has ended, and another has looked.
    private mutating func noteRunning(_ arrival: Arrival) {
        let id = ObjectIdentifier(arrival.request)
        guard soon[id] == nil else { return }
        if arrival.isLocal {
            // It waited for one that was at the network. Surveys after it wait for it from now on.
            soon[id] = arrival.ticket
            for index in surveys.indices where surveys[index].arrival.ticket > arrival.ticket {
                surveys[index].missing += 1
            }
        } else {
            lastTicket += 1
            soon[id] = lastTicket
        }
    }

    private mutating func join(_ key: ExactText, _ arrival: Arrival) -> Bool {
        if lanes[key] == nil {
            guard let first = single.removeValue(forKey: key) else {
                if arrival.isLocal { soon[ObjectIdentifier(arrival.request)] = arrival.ticket }
                single[key] = arrival.request
                return true
            }
            // Its ticket only has to come before the others'.
            _ = lanes[key, default: Lane()].join(Arrival(ticket: 0, request: first, isLocal: first.isLocal))
            lanes[key]?.isAtNetwork = soon[ObjectIdentifier(first)] == nil
        }
        // Modified in place: a copy for each request would cost as much as all requests that wait for the key.
        let isSoon = arrival.isLocal && !lanes[key, default: Lane()].isAtNetwork
        if isSoon { soon[ObjectIdentifier(arrival.request)] = arrival.ticket }
        return lanes[key, default: Lane()].join(arrival)
    }

    private mutating func advance(_ key: ExactText, past request: any OrderedRequest) -> [Arrival] {
        if single[key] === request {
            single[key] = nil
            return []
        }
        guard let index = lanes.index(forKey: key) else { return [] }
        let next = lanes.values[index].leave(request)
        if lanes.values[index].groups.isEmpty { lanes.remove(at: index) }
        return next
    }

    private mutating func removeFirstLater() {
        if later.removeFirst().isLocal { laterLocals -= 1 }
    }

    private mutating func admitLater() -> [any OrderedRequest] {
        var started: [any OrderedRequest] = []
        while whole == nil, let next = later.first {
            if case .key(let key) = next.request.scope {
                removeFirstLater()
                let wasSoon = soon.count
                let runs = join(key, next)
                // Behind a download it no longer finishes soon, and no survey waits for it.
                if next.isLocal, soon.count == wasSoon { started += countDownSurveys(past: next.ticket) }
                if runs {
                    noteRunning(next)
                    started.append(next.request)
                }
            } else {
                guard soon.isEmpty else { break }
                removeFirstLater()
                whole = next
                started.append(next.request)
            }
        }
        return started
    }

    /// Subtracts an ended request from every survey after it; returns the surveys that may run now.
    private mutating func countDownSurveys(past ticket: Ticket) -> [any OrderedRequest] {
        for index in surveys.indices where surveys[index].arrival.ticket > ticket { surveys[index].missing -= 1 }
        let started = surveys.filter { $0.missing <= 0 }.map(\.arrival.request)
        if !started.isEmpty { surveys.removeAll { $0.missing <= 0 } }
        return started
    }
}
