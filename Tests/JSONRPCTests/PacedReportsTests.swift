import Synchronization
import TestSupport
import Testing

@testable import JSONRPC

/// At most ten reports a second, strictly growing, and none is the last word that is not the newest.
@Suite struct PacedReportsTests {
    private final class Seen: Sendable {
        let values = Mutex<[Int]>([])
        func add(_ value: Int) { values.withLock { $0.append(value) } }
        var all: [Int] { values.withLock { $0 } }
    }

    private let clock = ManualClock()
    private let timer = ManualTimer()
    private let seen = Seen()

    private func reports() -> PacedReports<Int> {
        PacedReports(
            amount: { $0 }, now: { [clock] in clock.now }, pause: { [timer] in try await timer.pause($0) },
            send: { [seen] in seen.add($0) })
    }

    @Test func whatComesTooSoonIsToldWhenItsTimeHasComeIfItIsStillTheNewest() async throws {
        let reports = reports()
        reports.submit(10)
        for value in 11...15 { reports.submit(value) }
        #expect(seen.all == [10])
        try await eventually("somebody waits") { timer.count == 1 }
        #expect(timer.seconds == [0.1])
        clock.advance(seconds: 0.1)
        timer.elapse()
        try await eventually("the newest is told") { seen.all == [10, 15] }
        // Nothing is left to tell, so nobody waits.
        reports.submit(15)
        #expect(timer.count == 0)
    }

    @Test func afterTheEndNothingIsTold() async throws {
        let reports = reports()
        reports.submit(1)
        reports.submit(2)
        try await eventually("somebody waits") { timer.count == 1 }
        reports.begin {}
        try reports.expectEnd(2, hasGrown: true)
        clock.advance(seconds: 0.1)
        timer.elapse()
        reports.submit(3)
        try await eventually("nobody waits") { timer.count == 0 }
        #expect(seen.all == [1])
    }

    @Test func whatSaysLessThanBeforeIsLeftOut() throws {
        let reports = reports()
        reports.submit(5)
        clock.advance(seconds: 0.2)
        reports.submit(4)
        reports.submit(5)
        #expect(seen.all == [5])
        clock.advance(seconds: 0.2)
        reports.submit(6)
        #expect(seen.all == [5, 6])
        reports.begin {}
        try reports.expectEnd(6, hasGrown: false)
    }

    @Test func theEndIsAnnouncedOnceAndOnlyOfWhatHasBegun() {
        let reports = reports()
        var ends = 0
        reports.end { _, _ in ends += 1 }
        reports.begin { Issue.record("it has ended") }
        reports.end { _, _ in ends += 1 }
        #expect(ends == 0)
        let others = self.reports()
        others.begin {}
        for _ in 0..<2 { others.end { _, _ in ends += 1 } }
        #expect(ends == 1)
    }
}

extension PacedReports where Value == Int {
    fileprivate func expectEnd(_ value: Int, hasGrown: Bool) throws {
        var told: (Int?, Bool)?
        end { told = ($0, $1) }
        let end = try #require(told)
        #expect(end.0 == value && end.1 == hasGrown)
    }
}
