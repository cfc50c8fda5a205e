import TestSupport
import Testing

@testable import ImageServer

/// The sign of network activity.
@Suite struct ActivityIndicatorTests {
    /// An indicator with a clock, as somebody with timers would use it.
    private struct Clocked {
        var indicator: ActivityIndicator
        var now = 0.0
        var timers: [(at: Double, number: UInt64)] = []
        var shown: [(at: Double, isVisible: Bool)] = []

        mutating func take(_ effects: [ActivityIndicator.Effect]) {
            for effect in effects {
                switch effect {
                case .wait(let seconds, let number): timers.append((now + seconds, number))
                case .show(let isVisible): shown.append((now, isVisible))
                }
            }
        }

        mutating func change(_ count: Int) { take(indicator.change(to: count)) }

        mutating func advance(to end: Double) {
            while let next = timers.filter({ $0.at <= end }).min(by: { $0.at < $1.at }) {
                timers.removeAll { $0.number == next.number }
                now = next.at
                take(indicator.timerFired(next.number))
            }
            now = end
        }
    }

    private func run(_ events: [(Double, Int)], until end: Double = 100) -> [(at: Double, isVisible: Bool)] {
        var clocked = Clocked(indicator: ActivityIndicator())
        for (at, count) in events {
            clocked.advance(to: at)
            clocked.change(count)
        }
        clocked.advance(to: end)
        return clocked.shown
    }

    @Test func shortWorkShowsNothing() {
        #expect(run([(0, 1), (0.9, 0)]).isEmpty)
        #expect(run([(0, 1), (0.2, 0), (0.4, 3), (0.6, 0)]).isEmpty)
    }

    @Test func longWorkIsShownAfterASecondAndNoLongerSoonAfterItsEnd() {
        let shown = run([(0, 1), (5, 0)])
        #expect(shown.map(\.isVisible) == [true, false])
        #expect(shown.map(\.at) == [1.0, 5.17])
    }

    @Test func overlappingWorkAndShortPausesGiveOneSign() {
        let shown = run([(0, 1), (2, 2), (3, 1), (4, 0), (4.1, 1), (6, 0)])
        #expect(shown.map(\.isVisible) == [true, false])
        #expect(shown.map(\.at) == [1.0, 6.17])
    }

    @Test func workThatIsThereAgainWhenTheDelayEndsIsShown() {
        let shown = run([(0, 1), (0.5, 0), (0.9, 1), (3, 0)])
        #expect(shown.map(\.at) == [1.0, 3.17])
    }

    @Test func withoutDelaysEveryChangeShowsAtOnce() {
        var indicator = ActivityIndicator(activationDelay: 0, completionDelay: 0)
        #expect(indicator.change(to: 2) == [.show(true)])
        #expect(indicator.change(to: 1).isEmpty)
        #expect(indicator.change(to: 0) == [.show(false)])
        #expect(indicator.change(to: -1).isEmpty && indicator.count == 0)
    }

    /// Every state with every event, as the table of the four states has it.
    @Test func transitionsAreThoseOfTheTable() {
        func state(_ state: ActivityIndicator.State) -> ActivityIndicator {
            var indicator = ActivityIndicator()
            if state == .notActive { return indicator }
            _ = indicator.change(to: 1)
            if state == .delayingStart { return indicator }
            _ = indicator.timerFired(1)
            if state == .delayingEnd { _ = indicator.change(to: 0) }
            return indicator
        }
        let table: [(ActivityIndicator.State, Int, ActivityIndicator.State)] = [
            (.notActive, 0, .notActive), (.notActive, 1, .delayingStart), (.delayingStart, 0, .delayingStart),
            (.delayingStart, 2, .delayingStart), (.active, 0, .delayingEnd), (.active, 2, .active),
            (.delayingEnd, 0, .delayingEnd), (.delayingEnd, 1, .active),
        ]
        for (from, count, to) in table {
            var indicator = state(from)
            #expect(indicator.state == from)
            _ = indicator.change(to: count)
            #expect(indicator.state == to, "\(from) with \(count)")
            #expect(indicator.timerFired(.max).isEmpty && indicator.state == to, "a timer of long ago")
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func signsAlternateAndTheLastOneIsTrue(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var clocked = Clocked(indicator: ActivityIndicator())
        for _ in 0..<200 {
            clocked.advance(to: clocked.now + Double.random(in: 0...0.7, using: &generator))
            clocked.change(Int.random(in: 0...2, using: &generator))
        }
        clocked.advance(to: clocked.now + 10)
        for (index, shown) in clocked.shown.enumerated() {
            #expect(shown.isVisible == (index % 2 == 0), "seed \(seed)")
        }
        #expect((clocked.shown.last?.isVisible ?? false) == (clocked.indicator.count > 0), "seed \(seed)")
    }
}
