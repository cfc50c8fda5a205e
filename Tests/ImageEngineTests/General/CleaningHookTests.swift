import Synchronization
import Testing

@testable import Caching
@testable import ImageEngine
@testable import Platform

@Suite struct CleaningHookTests {
    @Test func everyOneOfManyReportsReachesTheReceiver() {
        let hook = EventHook<CleaningReport>()
        let count = Atomic(0)
        let report = CleaningReport(cache: "a", hashes: [], keys: [], bytes: 0, reason: .expired)
        hook.report(report)
        hook.set { _ in count.add(1, ordering: .relaxed) }
        for _ in 0..<20_000 { hook.report(report) }
        hook.set(nil)
        hook.report(report)
        #expect(count.load(ordering: .relaxed) == 20_000)
    }
}
