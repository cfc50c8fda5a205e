import Testing
@testable import Platform

/// Memory comes back after a flood of requests.
@Suite struct AllocatorTrimmerTests {
    @Test func onlyManyThatAreAllGoneAreWorthIt() {
        var tide = AllocatorTrimmer()
        let rising = (1...AllocatorTrimmer.many).map { tide.note($0) }
        let falling = (0..<AllocatorTrimmer.many).reversed().map { tide.note($0) }
        #expect(!rising.contains(true))
        #expect(falling.count { $0 } == 1 && falling.last == true)
        let later = [0, AllocatorTrimmer.many - 1, 0].map { tide.note($0) }
        #expect(later == [false, false, false], "once, and not after fewer")
    }
}
