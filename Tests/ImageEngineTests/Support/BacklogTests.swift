import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

@Suite struct BacklogTests {
    @Test func whoLeavesWaitsForAllThatHasBegun() async throws {
        let backlog = Backlog()
        backlog.wait()
        let (waiting, left) = (Counter(), Counter())
        backlog.begin()
        backlog.begin()
        for _ in 0..<2 {
            startThread {
                waiting.add()
                backlog.wait()
                left.add()
            }
        }
        try await eventually("both wait") { waiting.value == 2 }
        backlog.end()
        #expect(left.value == 0)
        backlog.end()
        try await eventually("both have left") { left.value == 2 }
        backlog.wait()
    }
}
