import TestSupport
import Testing

@testable import Caching
@testable import ImageEngine
@testable import Platform

/// Stores beside another process that writes into the index.
@Suite struct WaitingStoreTests {
    /// More than there are threads for the disk, so that a store that waited with one would keep others from it.
    @Test func storesThatWaitForTheIndexOccupyNoThread() async throws {
        let engine = try TestEngine()
        let (gate, begun, done) = (Semaphore(), Counter(), Counter())
        let count = 2 * EngineServices.diskThreads
        @Sendable func store(_ number: Int) {
            engine.manager.store(
                .bytes(hollowPNG(width: 10 + number)), for: CacheKey("\(number)"), in: engine.cache,
                options: ImageOptions()
            ) { if case .success = $0 { done.add() } }
        }
        store(count)
        try await eventually("there is an index") { done.value == 1 }
        startThread {
            try? engine.cache.disk.index.writeTogether { _ in
                if begun.add() == 1 { gate.wait() }
            }
        }
        try await eventually("it is held") { begun.value == 1 }
        for number in 0..<count { store(number) }
        try await eventually("all wait") { engine.cache.disk.index.commits.waitingCount == count }
        // The threads are free for whoever only reads.
        #expect(try await engine.manager.services.pool.run { 1 } == 1)
        #expect(done.value == 1)
        gate.signal()
        try await eventually("all are stored") { done.value == count + 1 }
        for number in 0..<count {
            let path = try #require(try engine.cache.disk.record(for: CacheKey("\(number)"))?.path)
            #expect(content(path) == hollowPNG(width: 10 + number))
        }
        #expect(try engine.cache.verify(repairs: false).isClean && engine.partials.isEmpty)
    }
}
