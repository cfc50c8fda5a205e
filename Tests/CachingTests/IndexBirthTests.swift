import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

private final class Flag: Sendable {
    let isStored = Atomic(false)
}

/// An index is looked into while it is made.
@Suite struct IndexBirthTests {
    @Test func whoeverSawItHalfMadeKeepsNobodyFromSeeingItWhole() throws {
        for _ in 0..<60 {
            let disk = try TestDisk()
            let flag = Flag()
            let ended = Semaphore()
            for number in 0..<4 {
                startThread {
                    defer { ended.signal() }
                    @Sendable func look() { _ = try? disk.disk.lookUp(CacheKey("other")) }
                    switch number {
                    case 0:
                        _ = try? disk.store(hollowPNG(width: 3), "one")
                        flag.isStored.store(true, ordering: .relaxed)
                    case 1:
                        while !flag.isStored.load(ordering: .relaxed) { sched_yield() }
                        look()
                    default: repeat { look() } while !flag.isStored.load(ordering: .relaxed)
                    }
                }
            }
            for _ in 0..<4 { ended.wait() }
            // Files beside the index that go and come again may be anybody's work.
            disk.disk.checkIndex()
            guard case .missing = try disk.disk.lookUp(CacheKey("other")) else {
                Issue.record("what is not there cannot be told to be missing")
                return
            }
            #expect(!disk.disk.index.isUnready)
        }
    }
}
