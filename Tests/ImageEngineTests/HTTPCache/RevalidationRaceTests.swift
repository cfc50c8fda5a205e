import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What changes while a server is asked, and who else asks.
@Suite struct RevalidationRaceTests: RevalidationSuite {
    let scene: RevalidationScene

    init() throws { scene = try RevalidationScene() }

    @Test func confirmationOfAnImageThatIsGoneMeanwhileLoadsItOnce() async throws {
        let gate = Gate()
        let count = Counter()
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { request in
            let tag = ["ETag": "\"1\""]
            if request.headers["if-none-match"] == nil { return .reply(200, tag, picture) }
            return count.add() == 1
                ? Script.empty.waiting(for: gate).followed(by: .reply(304, tag, [])) : .reply(304, tag, [])
        }
        defer { server.stop() }
        let url = server.url("/a")
        _ = try await engine.image(url)
        let asked = Task { [engine] in
            try await engine.image(url, bytes: true) { $0.lookup.revalidate = .always }
        }
        try await eventually("the question") { server.requests.count == 2 }
        _ = try engine.cache.remove(CacheKey(url))
        gate.open()
        let loaded = try await asked.value
        #expect(loaded.bytes == picture && loaded.cacheType == .none && !loaded.isRevalidated)
        #expect(server.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\"", nil])
        #expect(engine.blobs.count == 1)
    }

    @Test func confirmationOfAnotherVersionIsNotBelieved() async throws {
        _ = try await image(.always)
        set(nil) { [other] in
            $0.picture = other
            $0.confirmsAlways = true
            $0.otherTag = "\"3\""
        }
        let loaded = try await image(.always, bytes: true)
        #expect(loaded.bytes == other && !loaded.isRevalidated)
        #expect(web.conditions == [nil, "\"1\"", nil])
        web.set { $0.otherTag = "W/\"1\"" }
        #expect(try await image(.always).isRevalidated, "the same but for its weakness")
    }

    @Test func manyWhoAskAtOnceAskOnce() async throws {
        let gate = Gate()
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { request in
            let tag = ["ETag": "\"1\"", "Cache-Control": "max-age=10"]
            if request.headers["if-none-match"] == nil { return .reply(200, tag, picture) }
            return Script.empty.waiting(for: gate).followed(by: .reply(304, tag, []))
        }
        defer { server.stop() }
        let url = server.url("/a")
        _ = try await engine.image(url)
        engine.clock.advance(seconds: 10)
        let callers = (1...10).map { _ in
            Task { [engine] in try await engine.image(url) { $0.lookup.revalidate = .http } }
        }
        try await eventually("the callers") { [engine] in engine.manager.statistics.merged == 9 }
        gate.open()
        for caller in callers { #expect(try await caller.value.isRevalidated) }
        #expect(server.requests.count == 2)
    }

    /// What one process has heard of a server is heard by all.
    @Test func otherProcessKnowsWhatThisOneHasHeard() async throws {
        set("max-age=10")
        let second = try restarted()
        _ = try await image(.http)
        #expect(try await image(.http, on: second).cacheType == .disk)
        engine.clock.advance(seconds: 10)
        #expect(try await image(.http).isRevalidated)
        let there = try await image(.http, on: second)
        #expect(there.cacheType == .memory && !there.isRevalidated && !there.isStale)
        #expect(web.count == 2)
    }
}
