import ImageEngine
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ImageServer

/// Requests take effect in the order they came, per key.
@Suite struct KeyOrderTests {
    /// The specification, as one list in the order of arrival that is searched from its beginning.
    private struct Specification {
        struct Request {
            let ticket: Int
            let scope: KeyOrder.Scope
            let kind: KeyOrder.Kind
            let isLocal: Bool
            /// Whether it has its place among those on its key, and whether it is over soon there.
            var hasJoined = false
            var isSoon = false
            var isRunning = false
            /// The last request that had come when it was started; it looks into the cache until it goes on.
            var looksSince: Int?
            /// Whether one of those that run together with it on its key has gone on to the network.
            var isAtNetwork = false
        }

        private(set) var requests: [Request] = []
        var running: [Int] { requests.filter(\.isRunning).map(\.ticket) }
        var looking: [Int] { requests.filter { $0.looksSince != nil }.map(\.ticket) }
        private var last = 0

        mutating func enter(_ request: Request) {
            requests.append(request)
            last = request.ticket
            settle()
        }

        mutating func leave(_ ticket: Int) {
            requests.removeAll { $0.ticket == ticket }
            settle()
        }

        mutating func goOn(_ ticket: Int) {
            guard let request = requests.first(where: { $0.ticket == ticket }) else { return }
            for index in requests.indices where requests[index].scope == request.scope {
                if requests[index].isRunning {
                    requests[index].isAtNetwork = true
                } else if !request.isAtNetwork {
                    requests[index].isSoon = false
                }
                if requests[index].ticket == ticket { requests[index].looksSince = nil }
            }
            settle()
        }

        private mutating func settle() {
            for index in requests.indices {
                let before = requests[..<index]
                let request = requests[index]
                let isBehindWhole = before.contains { [.wholeCache, .allCaches].contains($0.scope) }
                switch request.scope {
                case .key:
                    let ahead = before.filter { $0.scope == request.scope }
                    if !request.hasJoined, !isBehindWhole {
                        requests[index].hasJoined = true
                        requests[index].isSoon = request.isLocal && !ahead.contains(where: \.isAtNetwork)
                    }
                    let isShared = ahead.allSatisfy { $0.kind == request.kind && request.kind != .change }
                    if !isBehindWhole, isShared, !request.isRunning {
                        requests[index].isRunning = true
                        requests[index].isAtNetwork = ahead.contains(where: \.isAtNetwork)
                        if request.isLocal {
                            requests[index].isSoon = true
                        } else {
                            requests[index].looksSince = last
                        }
                    }
                case .wholeCache, .allCaches:
                    let isLate = before.contains { $0.isSoon || $0.looksSince != nil }
                    if !isBehindWhole, !isLate { requests[index].isRunning = true }
                case .survey:
                    let isLate = before.contains {
                        $0.scope != .survey
                            && ($0.hasJoined ? $0.isSoon || ($0.looksSince ?? .max) < request.ticket : $0.isLocal)
                    }
                    if !isBehindWhole, !isLate { requests[index].isRunning = true }
                }
            }
        }
    }

    /// An order of requests that have numbers.
    private struct Numbered {
        private(set) var order = KeyOrder()
        private var requests: [Int: Placed] = [:]

        /// Adds a request; it has looked into the cache at once if it runs, unless `isLooking`.
        mutating func enter(
            _ number: Int, _ scope: KeyOrder.Scope, _ kind: KeyOrder.Kind, isLocal: Bool, isLooking: Bool = false
        ) -> Bool {
            let request = Placed(
                String(number), RequestOrder.Access(cache: "", scope: scope, kind: kind), isLocal: isLocal)
            requests[number] = request
            let runs = order.enter(request)
            if runs, !isLooking { _ = order.goOn(request) }
            return runs
        }

        /// Removes a request; what it lets start has looked into the cache at once, unless `areLooking`.
        mutating func leave(_ number: Int, areLooking: Bool = false) -> [Int] {
            guard let request = requests.removeValue(forKey: number) else { return [] }
            let started = numbers(order.leave(request))
            return areLooking ? started : started + started.flatMap { goOn($0) }
        }

        mutating func goOn(_ number: Int) -> [Int] { requests[number].map { numbers(order.goOn($0)) } ?? [] }

        private func numbers(_ requests: [any OrderedRequest]) -> [Int] {
            requests.compactMap { ($0 as? Placed).flatMap { Int($0.name) } }
        }
    }

    private func filling(_ url: String) -> KeyOrder.Kind { .fill(KeyOrder.Filling(url: ExactText(url), options: nil)) }
    private func key(_ text: String) -> KeyOrder.Scope { .key(ExactText(text)) }

    private func randomRequest(
        _ ticket: Int, using random: inout SeededGenerator
    ) -> Specification.Request {
        let scope: KeyOrder.Scope =
            switch Int.random(in: 0..<12, using: &random) {
            case 0: .wholeCache
            case 1: .survey
            default: key(["a", "\u{E9}", "e\u{301}"].randomElement(using: &random) ?? "a")
            }
        guard case .key = scope else {
            return .init(ticket: ticket, scope: scope, kind: scope == .survey ? .look : .change, isLocal: true)
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1: return .init(ticket: ticket, scope: scope, kind: .look, isLocal: true)
        case 2: return .init(ticket: ticket, scope: scope, kind: filling("file:///1"), isLocal: true)
        case 3: return .init(ticket: ticket, scope: scope, kind: filling("http://h/1"), isLocal: false)
        case 4: return .init(ticket: ticket, scope: scope, kind: filling("http://h/2"), isLocal: false)
        default: return .init(ticket: ticket, scope: scope, kind: .change, isLocal: true)
        }
    }

    @Test func randomOrdersDoWhatTheSpecificationSaysAndLoseNothing() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            var order = Numbered()
            var specification = Specification()
            var running: Set<Int> = []
            var ran: [Int: Int] = [:]
            let total: Int = 40
            var last: Int = 0
            while last < total || !running.isEmpty {
                if last < total, running.isEmpty || Int.random(in: 0..<5, using: &random) < 3 {
                    last += 1
                    let request = randomRequest(last, using: &random)
                    let isFree = order.order.isFree(request.scope, request.kind)
                    let runs = order.enter(
                        last, request.scope, request.kind, isLocal: request.isLocal, isLooking: true)
                    if request.scope == .survey {
                        #expect(runs || !isFree, "seed \(seed)")
                    } else {
                        #expect(runs == isFree, "seed \(seed)")
                    }
                    if runs {
                        running.insert(last)
                        ran[last, default: 0] += 1
                    }
                    specification.enter(request)
                } else if Bool.random(using: &random), let ticket = specification.looking.randomElement(using: &random)
                {
                    for started in order.goOn(ticket) {
                        running.insert(started)
                        ran[started, default: 0] += 1
                    }
                    specification.goOn(ticket)
                } else if let ticket = running.sorted().randomElement(using: &random) {
                    running.remove(ticket)
                    for started in order.leave(ticket, areLooking: true) {
                        running.insert(started)
                        ran[started, default: 0] += 1
                    }
                    specification.leave(ticket)
                }
                guard running.sorted() == specification.running else {
                    Issue.record("seed \(seed): \(running.sorted()) run and not \(specification.running)")
                    return
                }
            }
            #expect(order.order.isEmpty, "seed \(seed)")
            #expect(ran.count == Int(total) && ran.values.allSatisfy { $0 == 1 }, "seed \(seed): \(ran)")
        }
    }

    @Test func looksShareTheirTurnAndAChangeHasItsAlone() {
        var order = Numbered()
        let entered = [
            order.enter(1, key("a"), .look, isLocal: true), order.enter(2, key("a"), .look, isLocal: true),
            order.enter(3, key("a"), .change, isLocal: true), order.enter(4, key("a"), .change, isLocal: true),
            order.enter(5, key("a"), .look, isLocal: true), order.enter(6, key("b"), .change, isLocal: true),
        ]
        #expect(entered == [true, true, false, false, false, true])
        let started = [2, 1, 3, 4, 5, 6].map { order.leave($0) }
        #expect(started == [[], [3], [4], [5], [], []])
    }

    @Test func fillsOfOneKeyMergeOnlyWhenTheyAreEqual() {
        var order = Numbered()
        let entered = [
            order.enter(1, key("a"), filling("http://h/1"), isLocal: false),
            order.enter(2, key("a"), filling("http://h/1"), isLocal: false),
            order.enter(3, key("a"), filling("http://h/2"), isLocal: false),
        ]
        #expect(entered == [true, true, false])
    }

    @Test func aRequestThatRunsLooksIntoTheCacheBeforeThatIsCleared() {
        var order = Numbered()
        _ = order.enter(1, key("a"), filling("http://h/1"), isLocal: false, isLooking: true)
        let isClearedAtOnce = order.enter(2, .wholeCache, .change, isLocal: true)
        #expect(!isClearedAtOnce)
        let clearing = order.goOn(1)
        #expect(clearing == [2])
    }

    @Test func aRequestThatHasWaitedLooksIntoTheCacheBeforeThatIsCleared() {
        var order = Numbered()
        _ = order.enter(1, key("a"), .change, isLocal: true)
        _ = order.enter(2, key("a"), filling("http://h/1"), isLocal: false)
        let looking = order.leave(1, areLooking: true)
        #expect(looking == [2])
        let isClearedAtOnce = order.enter(3, .wholeCache, .change, isLocal: true)
        #expect(!isClearedAtOnce)
        let clearing = order.goOn(2)
        #expect(clearing == [3])
    }

    @Test func whatWaitsForAHitTakesEffectBeforeTheCacheIsClearedOrSurveyed() {
        for scope in [KeyOrder.Scope.wholeCache, .survey] {
            var order = Numbered()
            _ = order.enter(1, key("a"), filling("http://h/1"), isLocal: false, isLooking: true)
            let entered = [
                order.enter(2, key("a"), .change, isLocal: true), order.enter(3, key("a"), .look, isLocal: true),
                order.enter(4, scope, .change, isLocal: true),
            ]
            #expect(entered == [false, false, false])
            let started = [1, 2, 3].map { order.leave($0, areLooking: true) }
            #expect(started == [[2], [3], [4]])
        }
    }

    @Test func whatRunsAfterADownloadTakesEffectBeforeALaterClear() {
        var order = Numbered()
        _ = order.enter(1, key("a"), filling("http://h/1"), isLocal: false)
        _ = order.enter(2, key("a"), .change, isLocal: true)
        let stored = order.leave(1)
        #expect(stored == [2])
        let isClearedAtOnce = order.enter(3, .wholeCache, .change, isLocal: true)
        #expect(!isClearedAtOnce)
        let cleared = order.leave(2)
        #expect(cleared == [3])
    }

    @Test func aSlowServerHoldsUpNoClearAndNoSurvey() {
        var order = Numbered()
        let entered = [
            order.enter(1, key("a"), filling("http://h/1"), isLocal: false),
            order.enter(2, key("a"), .look, isLocal: true), order.enter(3, .survey, .look, isLocal: true),
            order.enter(4, .wholeCache, .change, isLocal: true), order.enter(5, key("b"), .look, isLocal: true),
        ]
        #expect(entered == [true, false, true, true, false])
        let started = [order.leave(4), order.leave(1)]
        #expect(started == [[5], [2]])
    }

    @Test func aRequestOnTheWholeCacheWaitsForAllBeforeItAndHoldsAllAfterIt() {
        var order = Numbered()
        let entered = [
            order.enter(1, key("a"), .change, isLocal: true), order.enter(2, key("b"), .look, isLocal: true),
            order.enter(3, .wholeCache, .change, isLocal: true), order.enter(4, key("c"), .look, isLocal: true),
            order.enter(5, .survey, .look, isLocal: true), order.enter(6, .wholeCache, .change, isLocal: true),
        ]
        #expect(entered == [true, true, false, false, false, false])
        let started = [1, 2, 3, 4, 6].map { order.leave($0) }
        #expect(started == [[], [3], [4], [6, 5], []])
    }

    @Test func theOrderStartsWhatWaitsAndNothingTwice() {
        let order = RequestOrder()
        let seen = Seen()
        let access = RequestOrder.Access(cache: "one", scope: key("a"), kind: .change)
        let other = RequestOrder.Access(cache: "two", scope: key("a"), kind: .change)
        order.enter(Placed("first", access, seen: seen))
        order.enter(Placed("second", access, seen: seen))
        #expect(!order.isFree(access) && order.isFree(other))
        order.enter(Placed("other cache", other, seen: seen))
        #expect(seen.names == ["first", "other cache"])
        seen.places.first.map(order.leave)
        #expect(seen.names == ["first", "other cache", "second"])
        for place in seen.places.dropFirst() { order.leave(place) }
        #expect(order.isFree(access) && order.isFree(other))
    }

    @Test func whatIsOnAllCachesWaitsForEachAndHoldsEachUp() {
        let order = RequestOrder()
        let seen = Seen()
        func enter(_ name: String, _ cache: String, _ scope: KeyOrder.Scope) {
            order.enter(Placed(name, RequestOrder.Access(cache: cache, scope: scope, kind: .change), seen: seen))
        }
        func leave(_ name: String) { seen.places.first { $0.name == name }.map(order.leave) }
        enter("a", "one", key("a"))
        enter("b", "two", key("b"))
        enter("all", "one", .allCaches)
        enter("one's", "one", key("c"))
        enter("two's", "two", .wholeCache)
        enter("three's", "three", key("d"))
        #expect(!order.isFree(RequestOrder.Access(cache: "four", scope: key("e"), kind: .look)))
        enter("all again", "three", .allCaches)
        enter("one's later", "one", key("a"))
        #expect(seen.names == ["a", "b"])
        leave("a")
        #expect(seen.names == ["a", "b"], "the other cache does not let it run yet")
        leave("b")
        #expect(seen.names == ["a", "b", "all"])
        leave("all")
        #expect(Set(seen.names.dropFirst(3)) == ["one's", "two's", "three's"])
        for name in ["two's", "one's"] { leave(name) }
        enter("four's", "four", key("e"))
        #expect(seen.names.count == 6)
        leave("three's")
        #expect(seen.names.dropFirst(6) == ["all again"])
        leave("all again")
        #expect(Set(seen.names.dropFirst(7)) == ["one's later", "four's"])
        for name in ["one's later", "four's"] { leave(name) }
        #expect(
            ["one", "two", "three", "four"].allSatisfy { cache in
                order.isFree(RequestOrder.Access(cache: cache, scope: .wholeCache, kind: .change))
            })
    }

    /// As after a cancel of all that waits for one slow download: each gives its place up at once.
    @Test func thousandsThatPassTheirTurnOnDoSoOneAfterTheOther() {
        let order = RequestOrder()
        let seen = Seen()
        let access = RequestOrder.Access(cache: "one", scope: key("a"), kind: .change)
        order.enter(Placed("first", access, seen: seen))
        for _ in 0..<100_000 { order.enter(Placed("passes", access, keepsPlace: false)) }
        order.enter(Placed("last", access, seen: seen))
        seen.places.first.map(order.leave)
        #expect(seen.names == ["first", "last"])
        seen.places.last.map(order.leave)
        #expect(order.isFree(access))
    }

    /// Else one that is urgent would wait behind all that is less so than the one before it.
    @Test func whatRunsIsAsUrgentAsWhatWaitsForIt() {
        let order = RequestOrder()
        let seen = Seen()
        let priorities = [0, 0.5, 1, 0.25].map { CallPriority($0) }
        func enter(_ index: Int, _ url: String = "") {
            let access = RequestOrder.Access(cache: "one", scope: key("a"), kind: filling(url))
            order.enter(Placed("\(index)", access, priority: priorities[index], seen: seen))
        }
        let told = ToldPriority()
        enter(0)
        let others = CallPriority(0)
        let access = RequestOrder.Access(cache: "one", scope: key("b"), kind: .change)
        order.enter(Placed("b", access, priority: others, seen: seen))
        priorities[0].add(told)
        enter(1, "1")
        #expect(priorities[0].value == 0.5 && told.count == 1)
        let withdrawn = Placed(
            "withdrawn", RequestOrder.Access(cache: "one", scope: key("a"), kind: filling("2")),
            priority: priorities[2], keepsPlace: false)
        order.enter(withdrawn)
        #expect(priorities[0].value == 1 && told.count == 2 && priorities[1].value == 0.5)
        order.withdraw(withdrawn)
        #expect(priorities[0].value == 0.5, "who has left is not waited for")
        enter(3, "3")
        priorities[3].value = 0.75
        #expect(priorities[0].value == 0.75, "who waits may become more urgent")
        #expect(others.value == 0)
        priorities[0].remove(told)
        seen.places.first.map(order.leave)
        #expect(seen.names == ["0", "b", "1"])
        #expect(priorities[1].value == 0.75, "the next one has it from who still waits")
        seen.places.last.map(order.leave)
        #expect(seen.names.last == "3" && priorities[3].value == 0.75)
        priorities[3].value = 0.1
        #expect(priorities[3].value == 0.1, "nobody waits any more")
    }
}

/// Counts the changes of a priority.
private final class ToldPriority: PriorityObserver {
    private let changes = Mutex(0)

    var count: Int { changes.withLock { $0 } }

    func priorityChanged(_: any ChangingPriority, _: UInt64) { changes.withLock { $0 += 1 } }
}
