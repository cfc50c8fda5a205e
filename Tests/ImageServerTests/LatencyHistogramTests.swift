import TestSupport
import Testing

@testable import ImageServer

/// The quantiles of `stats`.
@Suite struct LatencyHistogramTests {
    @Test func everyTimeIsInAStepThatEndsAtMostAnEighthAfterIt() {
        var random = SeededGenerator(seed: 7)
        var times = Array(0...5000) + (3...42).flatMap { [(1 << $0) - 1, 1 << $0, (1 << $0) + 1] }
        for _ in 0..<20_000 {
            times.append(Int.random(in: 0..<(1 << Int.random(in: 1...42, using: &random)), using: &random))
        }
        for time in times {
            let end = LatencyHistogram.end(of: LatencyHistogram.step(of: time))
            #expect(end >= time && end - time <= time / 8, "\(time) is in a step that ends at \(end)")
        }
    }

    @Test func stepsFollowEachOtherWithoutGaps() {
        for step in 0..<320 {
            let end = LatencyHistogram.end(of: step)
            #expect(LatencyHistogram.step(of: end) == step && LatencyHistogram.step(of: end + 1) == step + 1)
        }
    }

    @Test func quantilesAreThoseOfTheTimesNoted() {
        var histogram = LatencyHistogram()
        #expect(histogram.quantile(0.5) == 0 && histogram.count == 0)
        for time in 1...1000 { histogram.record(time * 1000) }
        for (part, exact) in [(0.5, 500_000), (0.95, 950_000), (0.99, 990_000), (0.001, 1000)] {
            let quantile = histogram.quantile(part)
            #expect(quantile >= exact && quantile <= exact + exact / 8, "\(part): \(quantile)")
        }
        #expect(histogram.quantile(1) == 1_000_000 && histogram.longest == 1_000_000 && histogram.count == 1000)
    }

    @Test func whatCannotBeIsTakenForTheNearestThatCan() {
        var histogram = LatencyHistogram()
        histogram.record(-5)
        histogram.record(.max)
        #expect(histogram.quantile(0.5) == 0 && histogram.longest == .max && histogram.count == 2)
    }
}
