internal import ImageEngine
internal import Platform

/// The order in which requests on one cache take effect, as a plain value.
///
/// Requests on one key take effect in order of arrival. Reads run together, and so do requests that fill the entry in
/// the same way (most of them are merged); a change runs alone. A request on the whole cache waits for the local
/// requests before it, and everything after it waits for it; running downloads, and the requests behind them, take
/// effect after it, so that a slow server does not delay a `clear`. A survey (of sizes) waits for the same requests and
/// delays nothing.
struct KeyOrder: Sendable {
    typealias Ticket = UInt64

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
        case survey
    }

    private struct Group: Sendable {
        let kind: Kind
        var members: Set<Ticket>
        let isLocal: Bool
    }

    /// The groups of one key in order; the first is running. A slice, so that the first is removed without moving the
    /// others.
    private struct Lane: Sendable {
        var groups: ArraySlice<Group> = []
        /// The number of groups that may wait for the network.
        var farCount = 0

        /// Appends a request; returns `true` if it may run now.
        mutating func join(_ ticket: Ticket, _ kind: Kind, isLocal: Bool) -> Bool {
            if kind != .change, groups.last?.kind == kind {
                groups[groups.endIndex - 1].members.insert(ticket)
            } else {
                groups.append(Group(kind: kind, members: [ticket], isLocal: isLocal))
                if !isLocal { farCount += 1 }
            }
            return groups.count == 1
        }

        /// Removes a request; returns the requests that may run now.
        mutating func leave(_ ticket: Ticket) -> [Ticket] {
            guard let index = groups.firstIndex(where: { $0.members.contains(ticket) }) else { return [] }
            groups[index].members.remove(ticket)
            guard groups[index].members.isEmpty else { return [] }
            if !groups[index].isLocal { farCount -= 1 }
            guard index == groups.startIndex else {
                groups.remove(at: index)
                return []
            }
            groups.removeFirst()
            return groups.first?.members.sorted() ?? []
        }
    }

    private struct Entry: Sendable {
        let ticket: Ticket
        let scope: Scope
        let kind: Kind
        let isLocal: Bool
    }

    private struct Survey: Sendable {
        let ticket: Ticket
        var missing: Int
    }

    private var lanes: [ExactText: Lane] = [:]
    /// The key of each unfinished ticket in the lanes.
    private var keys: [Ticket: ExactText] = [:]
    /// The tickets that finish soon: local, and not behind a request that waits for the network.
    private var soon: Set<Ticket> = []
    /// The whole-cache request that is running.
    private var whole: Ticket?
    /// The requests after a whole-cache request that has not ended, in order, including that request if it still waits.
    private var later: ArraySlice<Entry> = []
    /// The number of local requests in ``later``.
    private var laterLocals = 0
    /// The waiting surveys, with the number of earlier tickets that each still waits for.
    private var surveys: [Survey] = []

    /// `true` when no request is running or waiting.
    var isEmpty: Bool { keys.isEmpty && whole == nil && later.isEmpty && surveys.isEmpty }

    /// `true` when a request would run at once.
    func isFree(_ scope: Scope, _ kind: Kind) -> Bool {
        switch scope {
        case .survey, .wholeCache: return soon.isEmpty && whole == nil && later.isEmpty
        case .key(let key):
            guard whole == nil, later.isEmpty else { return false }
            guard let lane = lanes[key] else { return true }
            return lane.groups.count == 1 && kind != .change && lane.groups.first?.kind == kind
        }
    }

    /// The requests on a key that are running.
    func running(_ key: ExactText) -> Set<Ticket> { lanes[key]?.groups.first?.members ?? [] }

    /// Appends a request to the order. Tickets grow with every call.
    ///
    /// - Parameter isLocal: `true` for a request that does not wait for the network.
    /// - Returns: `true` if it may run now; otherwise ``leave(_:)`` returns it later.
    mutating func enter(_ ticket: Ticket, _ scope: Scope, _ kind: Kind, isLocal: Bool) -> Bool {
        let isQueued = whole != nil || !later.isEmpty
        switch scope {
        case .survey:
            let missing = soon.count + (whole == nil ? 0 : 1) + laterLocals
            if missing > 0 { surveys.append(Survey(ticket: ticket, missing: missing)) }
            return missing == 0
        case .wholeCache:
            if !isQueued, soon.isEmpty {
                whole = ticket
                return true
            }
        case .key(let key):
            if !isQueued { return join(key, ticket, kind, isLocal: isLocal) }
        }
        later.append(Entry(ticket: ticket, scope: scope, kind: kind, isLocal: isLocal))
        if isLocal { laterLocals += 1 }
        return false
    }

    /// Removes a request.
    ///
    /// - Returns: The requests that may run now.
    mutating func leave(_ ticket: Ticket) -> [Ticket] {
        var started: [Ticket] = []
        let wasWhole = ticket == whole
        let wasSoon = soon.remove(ticket) != nil
        if wasWhole { whole = nil }
        if let key = keys.removeValue(forKey: ticket) { started += advance(key, past: ticket) }
        started += admitLater()
        if wasWhole || wasSoon { started += countDownSurveys(past: ticket) }
        return started
    }

    private mutating func join(_ key: ExactText, _ ticket: Ticket, _ kind: Kind, isLocal: Bool) -> Bool {
        keys[ticket] = key
        // Modified in place: a copy for each request would cost as much as all requests that wait for the key.
        let isSoon = isLocal && lanes[key, default: Lane()].farCount == 0
        if isSoon { soon.insert(ticket) }
        return lanes[key, default: Lane()].join(ticket, kind, isLocal: isLocal)
    }

    private mutating func advance(_ key: ExactText, past ticket: Ticket) -> [Ticket] {
        guard let index = lanes.index(forKey: key) else { return [] }
        let next = lanes.values[index].leave(ticket)
        if lanes.values[index].groups.isEmpty { lanes.remove(at: index) }
        return next
    }

    private mutating func removeFirstLater() {
        if later.removeFirst().isLocal { laterLocals -= 1 }
    }

    private mutating func admitLater() -> [Ticket] {
        var started: [Ticket] = []
        while whole == nil, let next = later.first {
            if case .key(let key) = next.scope {
                removeFirstLater()
                let wasSoon = soon.count
                if join(key, next.ticket, next.kind, isLocal: next.isLocal) { started.append(next.ticket) }
                // Behind a download it no longer finishes soon, and no survey waits for it.
                if next.isLocal, soon.count == wasSoon { started += countDownSurveys(past: next.ticket) }
            } else {
                guard soon.isEmpty else { break }
                removeFirstLater()
                whole = next.ticket
                started.append(next.ticket)
            }
        }
        return started
    }

    /// Subtracts an ended ticket from every survey after it; returns the surveys that may run now.
    private mutating func countDownSurveys(past ticket: Ticket) -> [Ticket] {
        var started: [Ticket] = []
        for index in surveys.indices where surveys[index].ticket > ticket { surveys[index].missing -= 1 }
        while let index = surveys.firstIndex(where: { $0.missing <= 0 }) {
            started.append(surveys.remove(at: index).ticket)
        }
        return started
    }
}
