import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A stored image is checked with its server as HTTP wants it, when the request wants HTTP.
@Suite struct RevalidationTests: RevalidationSuite {
    let scene: RevalidationScene

    init() throws { scene = try RevalidationScene() }

    @Test func freshImageIsAnsweredWithoutAsking() async throws {
        set("max-age=60")
        _ = try await image(.http)
        engine.clock.advance(seconds: 59)
        for engine in [engine, try restarted()] {
            let again = try await image(.http, on: engine)
            #expect(again.cacheType != .none && !again.isStale && !again.isRevalidated)
        }
        #expect(web.count == 1)
    }

    @Test func staleImageIsConfirmedAndLivesAgain() async throws {
        set("max-age=60")
        let path = try await image(.http).record.path
        for (round, engine) in [engine, try restarted(), engine].enumerated() {
            engine.clock.advance(seconds: 60)
            let again = try await image(.http, on: engine)
            #expect(again.cacheType != .none && again.isRevalidated && !again.isStale && again.record.path == path)
            #expect(again.record.expiresAt == engine.clock.seconds + 7 * 86_400)
            #expect(web.count == round + 2)
            #expect(try await image(.http, on: engine).isRevalidated == false)
            #expect(web.count == round + 2, "confirmed is fresh again")
        }
        #expect(web.conditions == [nil, "\"1\"", "\"1\"", "\"1\""])
        #expect(try await image(.http, bytes: true).bytes == hollowPNG(width: 7))
    }

    @Test func changedImageReplacesTheOld() async throws {
        set("max-age=60")
        _ = try await image(.http)
        engine.clock.advance(seconds: 61)
        set("max-age=60") { [other] in
            $0.picture = other
            $0.etag = "\"2\""
        }
        let new = try await image(.http, bytes: true)
        #expect(new.cacheType == .none && new.bytes == other && new.record.etag == "\"2\"" && !new.isRevalidated)
        #expect(try await image(.http, bytes: true, on: restarted()).bytes == other)
        #expect(web.conditions == [nil, "\"1\""])
        #expect(try engine.cache.sizes().disk.count == 1)
    }

    @Test func headersOfAConfirmationReplaceTheOld() async throws {
        set("max-age=10")
        _ = try await image(.http)
        engine.clock.advance(seconds: 10)
        web.set { $0.confirmation = ["Cache-Control": "max-age=1000", "Age": "5"] }
        #expect(try await image(.http).isRevalidated)
        engine.clock.advance(seconds: 994)
        #expect(try await image(.http, on: restarted()).isRevalidated == false)
        #expect(web.count == 2)
        engine.clock.advance(seconds: 1)
        #expect(try await image(.http).isRevalidated)
        #expect(web.count == 3)
    }

    @Test func dateOfLastChangeServesWhereThereIsNoTag() async throws {
        set("max-age=0") {
            $0.etag = nil
            $0.lastModified = "Mon, 13 Nov 2023 22:13:20 GMT"
        }
        _ = try await image(.http)
        #expect(try await image(.http).isRevalidated)
        #expect(web.conditions == [nil, "Mon, 13 Nov 2023 22:13:20 GMT"])
    }

    @Test func imageWithoutValidatorsIsLoadedAnew() async throws {
        set("max-age=0") { $0.etag = nil }
        _ = try await image(.http)
        let again = try await image(.http)
        #expect(again.cacheType == .none && web.conditions == [nil, nil])
    }

    @Test(arguments: ["no-cache", "no-cache, max-age=60", "max-age=0, must-revalidate"])
    func whatMustBeAskedForIsAskedForEachTime(_ control: String) async throws {
        set(control)
        for round in 1...3 {
            #expect(try await image(.http).isRevalidated == (round > 1))
            #expect(web.count == round)
        }
    }

    @Test func storedBytesOfUnknownFreshnessAreLoaded() async throws {
        set("max-age=60")
        _ = try engine.manager.store(other, for: CacheKey(web.url), in: engine.cache, options: ImageOptions())
        #expect(try await image(.never).cacheType == .memory)
        let loaded = try await image(.http, bytes: true)
        #expect(loaded.cacheType == .none && loaded.bytes == hollowPNG(width: 7) && web.conditions == [nil])
        #expect(try await image(.http).cacheType == .memory)
    }

    private func lose(_ names: [String]) {
        for name in names { unlink(engine.cache.configuration.disk.folder + "/" + name) }
    }

    @Test func imageOfALostIndexIsAsFreshAsItWas() async throws {
        set("max-age=60")
        _ = try await image(.http)
        lose(["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"])
        #expect(try await image(.http, on: try restarted()).cacheType == .disk)
        #expect(web.count == 1)
    }

    /// With the log of entries it is lost how fresh an image is, and nothing else.
    @Test func imageOfALostIndexAndLogIsLoadedAnew() async throws {
        set("max-age=60")
        _ = try await image(.http)
        lose(["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "entries.log"])
        let after = try restarted()
        #expect(try await image(.never, on: after).cacheType == .disk)
        #expect(try await image(.http, on: after).cacheType == .none)
        #expect(web.conditions == [nil, nil])
    }

    @Test func imageInMemoryOnlyIsConfirmedThere() async throws {
        set("max-age=10")
        for round in 1...3 {
            let image = try await image(.http, bytes: true) { $0.storage.cacheMemoryOnly = true }
            #expect(image.isRevalidated == (round > 1) && image.bytes == hollowPNG(width: 7))
            #expect(try await self.image(.http) { $0.storage.cacheMemoryOnly = true }.cacheType == .memory)
            engine.clock.advance(seconds: 10)
        }
        #expect(web.conditions == [nil, "\"1\"", "\"1\""] && engine.blobs.isEmpty)
    }

    @Test func whatMustNotBeStoredIsAnsweredAsDataAndKeptNowhere() async throws {
        set("max-age=60")
        let before = try await image(.http)
        set("no-store")
        engine.clock.advance(seconds: 3600)
        web.set { $0.etag = "\"2\"" }
        let answered = try await image(.http, bytes: true)
        #expect(answered.bytes == hollowPNG(width: 7) && answered.record.path == nil && answered.cacheType == .none)
        #expect(try engine.cache.cacheType(for: before.record.key, burst: 0, mayWait: true).value == nil)
        #expect(try engine.cache.sizes().disk.count == 0 && engine.cache.sizes().memory.count == 0)
        let error = try await engine.failure(web.url) { $0.lookup.revalidate = .http }
        #expect(error?.description.contains("no-store") == true && error?.description.contains("revalidate") == true)
        #expect(web.count == 3)
    }

    @Test func whatAnotherRequestStoredAgainstTheServersWishIsLoadedAnew() async throws {
        set("no-store, max-age=60")
        _ = try await image(.never)
        #expect(try await image(.never).cacheType == .memory)
        #expect(try await image(.http, bytes: true).cacheType == .none)
        #expect(try await image(.never).cacheType == .none, "and now is forgotten")
    }

    /// Memory that keeps nothing new still has the image, and would go by the header fields from before.
    @Test(arguments: [false, true], ["no-cache", "no-store", "max-age=0"])
    func confirmationReplacesTheOldHeaderFieldsInMemoryWhateverIsToBeKeptThere(_ isOnlyThere: Bool, _ control: String)
        async throws
    {
        func ask(_ mode: Revalidation, keepsInMemory: Bool = true) async throws -> ImageResult {
            try await image(mode, bytes: true) {
                ($0.storage.cacheMemoryOnly, $0.storage.keepsInMemory) = (isOnlyThere, keepsInMemory)
            }
        }
        set("max-age=1000")
        _ = try await ask(.http)
        web.set { $0.confirmation = ["Cache-Control": control] }
        #expect(try await ask(.always, keepsInMemory: false).isRevalidated)
        #expect(engine.cache.memory.peek(CacheKey(web.url))?.bytes != nil, "it is still there")
        web.set { $0.confirmation = ["Cache-Control": "max-age=1000"] }
        _ = try await ask(.http)
        #expect(web.count == 3, "its server is asked")
        #expect(try await ask(.http, keepsInMemory: false).isRevalidated == false)
        #expect(web.count == 3)
    }

    @Test func explanationKnowsWhatAnotherProcessHasConfirmed() async throws {
        func told() throws -> Explanation {
            try engine.manager.explain(
                engine.cache.resource(web.url), in: engine.cache, options: ImageOptions { $0.lookup.revalidate = .http }
            )
        }
        set("max-age=100")
        _ = try await image(.http)
        engine.clock.advance(seconds: 200)
        #expect(try told().verdict == .revalidate)
        #expect(try await image(.http, on: restarted()).isRevalidated)
        #expect(try told().verdict == .answer)
        #expect(try await image(.http).isRevalidated == false)
        #expect(web.count == 2)
    }
}
