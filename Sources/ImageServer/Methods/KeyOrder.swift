internal import Platform

/// The order in which requests on one cache take effect: a plain value.
///
/// Requests on one key take effect in the order they came. Those that only look share their turn, and so do those
/// that fill the entry (they merge); a change has its turn alone. A request on the whole cache waits for everything
/// before it and holds up everything after it. A survey (of sizes) waits for what is local and before it, and holds up
/// nothing.
struct KeyOrder: Sendable {
    typealias Ticket = UInt64

    enum Kind: Sendable {
        /// Looks, and changes nothing.
        case look
        /// Puts the image into the cache if it is not there; may wait for a server on the network.
        case fill
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
    }

    private struct Entry: Sendable {
        let ticket: Ticket
        let scope: Scope
        let kind: Kind
        let isLocal: Bool
    }

    /// Per key the groups in order; the first is running.
    private var lanes: [ExactText: [Group]] = [:]
    /// Unfinished tickets in the lanes.
    private var keys: [Ticket: ExactText] = [:]
    /// The whole-cache request that is running.
    private var whole: Ticket?
    /// What came after a whole-cache request that has not ended, in order, that request first if it still waits.
    private var later: [Entry] = []
    /// Unfinished tickets that a survey waits for.
    private var local: Set<Ticket> = []
    private var surveys: [Ticket: Set<Ticket>] = [:]

    /// Whether nothing is under way or waiting.
    var isEmpty: Bool { keys.isEmpty && whole == nil && later.isEmpty && surveys.isEmpty }

    /// Whether a request would run at once.
    func isFree(_ scope: Scope, _ kind: Kind) -> Bool {
        switch scope {
        case .survey: return local.isEmpty
        case .wholeCache: return keys.isEmpty && whole == nil && later.isEmpty
        case .key(let key):
            guard whole == nil, later.isEmpty else { return false }
            guard let lane = lanes[key] else { return true }
            return lane.count == 1 && kind != .change && lane[0].kind == kind
        }
    }

    /// Adds a request at the end of the order.
    ///
    /// - Parameter isLocal: Whether it is over soon whatever the network does.
    /// - Returns: Whether it may run now; otherwise ``leave(_:)`` will name it.
    mutating func enter(_ ticket: Ticket, _ scope: Scope, _ kind: Kind, isLocal: Bool) -> Bool {
        if scope == .survey {
            if local.isEmpty { return true }
            surveys[ticket] = local
            return false
        }
        if isLocal { local.insert(ticket) }
        if whole != nil || !later.isEmpty || (scope == .wholeCache && !keys.isEmpty) {
            later.append(Entry(ticket: ticket, scope: scope, kind: kind, isLocal: isLocal))
            return false
        }
        guard case .key(let key) = scope else {
            whole = ticket
            return true
        }
        return join(key, ticket, kind)
    }

    /// Ends a request.
    ///
    /// - Returns: Those that may run now.
    mutating func leave(_ ticket: Ticket) -> [Ticket] {
        var started: [Ticket] = []
        if local.remove(ticket) != nil {
            for survey in surveys.keys.sorted() {
                surveys[survey]?.remove(ticket)
                if surveys[survey]?.isEmpty == true {
                    surveys[survey] = nil
                    started.append(survey)
                }
            }
        }
        if ticket == whole {
            whole = nil
        } else if let key = keys.removeValue(forKey: ticket) {
            started += advance(key, past: ticket)
        }
        return started + admitLater()
    }

    private mutating func join(_ key: ExactText, _ ticket: Ticket, _ kind: Kind) -> Bool {
        keys[ticket] = key
        guard var lane = lanes[key], let last = lane.last else {
            lanes[key] = [Group(kind: kind, members: [ticket])]
            return true
        }
        if kind != .change, last.kind == kind {
            lane[lane.count - 1].members.insert(ticket)
        } else {
            lane.append(Group(kind: kind, members: [ticket]))
        }
        lanes[key] = lane
        return lane.count == 1
    }

    private mutating func advance(_ key: ExactText, past ticket: Ticket) -> [Ticket] {
        guard var lane = lanes[key] else { return [] }
        for index in lane.indices where lane[index].members.remove(ticket) != nil {
            guard lane[index].members.isEmpty else { break }
            lane.remove(at: index)
            let next = index == 0 ? lane.first?.members.sorted() ?? [] : []
            lanes[key] = lane.isEmpty ? nil : lane
            return next
        }
        lanes[key] = lane
        return []
    }

    private mutating func admitLater() -> [Ticket] {
        var started: [Ticket] = []
        while whole == nil, let next = later.first {
            switch next.scope {
            case .key(let key):
                later.removeFirst()
                if join(key, next.ticket, next.kind) { started.append(next.ticket) }
            case .wholeCache, .survey:
                guard keys.isEmpty else { return started }
                later.removeFirst()
                whole = next.ticket
                started.append(next.ticket)
            }
        }
        return started
    }
}
