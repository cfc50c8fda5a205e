import Foundation
import ImageRecipes
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What must not be kept, or is only a part, is not answered to anybody else (RFC 9111, 3.4 and 5.2).
@Suite struct NotToBeKeptTests: RevalidationSuite {
    let scene: RevalidationScene
    private let codec: CodecStandIn

    init() throws {
        let codec = try CodecStandIn(making: hollowPNG(width: 3))
        self.codec = codec
        scene = try RevalidationScene { $0.codec.executable = codec.path }
    }

    @Test func requestThatWantsNothingKeptGetsThat() async throws {
        set("max-age=60")
        let own = try await image(.http, bytes: true) { $0.network.request.headers = ["cache-control": "no-store"] }
        #expect(own.bytes == hollowPNG(width: 7) && engine.blobs.isEmpty)
        #expect(try await image(.http).cacheType == .none)
        #expect(try await image(.http).cacheType == .memory)
        engine.clock.advance(seconds: 60)
        let checked = try await image(.http, bytes: true) { $0.network.request.headers = ["Cache-Control": "no-store"] }
        #expect(checked.isRevalidated && engine.blobs.count == 1, "it says nothing of what is there")
        #expect(web.count == 3)
        let failure = try await engine.failure(web.server.url("/b")) {
            $0.lookup.revalidate = .http
            $0.network.request.headers = ["Cache-Control": "no-store"]
        }
        #expect(failure?.name == "storageFailed" && engine.blobs.count == 1)
    }

    /// RFC 9111, 4.3.4: what comes with a 304 replaces what came with the image.
    @Test(arguments: [nil, 0] as [Double?], [true, false])
    func whatMustNotBeKeptByItsConfirmationIsHadAndNotKept(_ lease: Double?, _ isInMemory: Bool) async throws {
        set("max-age=0") { $0.confirmation = ["Cache-Control": "no-store"] }
        func options(_ options: inout ImageOptions) { options.storage.lease = lease }
        for needsBytes in [true, false] {
            let path = try #require(try await image(.http, options).record.path)
            if !isInMemory { _ = engine.cache.clearMemory() }
            if needsBytes {
                let had = try await image(.http, bytes: true, options)
                #expect(had.bytes == hollowPNG(width: 7) && had.notStored == .noStore && had.isRevalidated)
                #expect(had.record.path == nil && had.cacheType == (isInMemory ? .memory : .disk))
            } else {
                let failure = try await engine.failure(web.url) {
                    $0.lookup.revalidate = .http
                    options(&$0)
                }
                guard case .notStored(.noStore, .storageFailed) = failure else {
                    Issue.record("\(String(describing: failure))")
                    return
                }
            }
            let sizes = try engine.cache.sizes()
            #expect(sizes.disk.count == 0 && sizes.memory.count == 0)
            #expect(FileManager.default.fileExists(atPath: path) == (lease == nil), "it stays for its lease")
        }
        #expect(engine.manager.statistics.notStored[.noStore] == 2)
        #expect(web.conditions == [nil, "\"1\"", nil, "\"1\""])
        _ = try await image(.always)
        let checked = try await image(.always)
        #expect(checked.isRevalidated && checked.notStored == nil && checked.record.path != nil, "HTTP does not count")
    }

    @Test func whatMustNotBeKeptByItsConfirmationInTheBackgroundGoes() async throws {
        set("max-age=0, stale-while-revalidate=60") { $0.confirmation = ["Cache-Control": "no-store"] }
        _ = try await image(.http)
        #expect(try await image(.http).isStale)
        try await eventually("it goes") { [engine] in try engine.cache.sizes().disk.count == 0 }
        #expect(try engine.cache.sizes().memory.count == 0 && web.count == 2)
    }

    /// RFC 9111, 5.2.1.7.
    @Test func requestThatIsContentWithWhatIsStoredAsksNobody() async throws {
        set("max-age=60")
        func cached(_ wanted: String = "only-if-cached", _ mode: Revalidation = .http) async throws -> ImageResult {
            try await image(mode) { $0.network.request.headers = ["Cache-Control": wanted] }
        }
        await #expect(throws: ImageError.notCached(key: web.url, url: web.url)) { try await cached() }
        #expect(web.count == 0)
        _ = try await image(.http)
        #expect(try await cached().cacheType == .memory)
        engine.clock.advance(seconds: 90)
        await #expect(throws: ImageError.notCached(key: web.url, url: web.url), "it would have to be checked") {
            try await cached()
        }
        let stale = try await cached("only-if-cached, max-stale=30")
        #expect(stale.isStale && stale.cacheType == .memory && web.count == 1)
        let made = try await image(.http, bytes: true) {
            $0.processing.recipe.processors = [.blackWhite]
            $0.network.request.headers = ["Cache-Control": "only-if-cached, max-stale"]
        }
        #expect(made.bytes == hollowPNG(width: 3) && made.isStale && web.count == 1)
        #expect(try await cached("only-if-cached", .always).isRevalidated, "headers do not count")
    }

    @Test(arguments: [true, false])
    func whatIsMadeOfWhatMustNotBeKeptIsHadAndNotKept(byItsServer: Bool) async throws {
        set(byItsServer ? "no-store" : "max-age=60")
        func made() async throws -> ImageResult {
            try await image(.http, bytes: true) {
                $0.processing.recipe.processors = [.blackWhite]
                if !byItsServer { $0.network.request.headers = ["Cache-Control": "no-store"] }
            }
        }
        for round in 1...2 {
            #expect(try await made().bytes == hollowPNG(width: 3))
            #expect(web.count == round && codec.requests.count == round && engine.blobs.isEmpty)
        }
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
    }

    @Test func answerToAnotherMethodOrBodyIsNoAnswerToAGet() async throws {  // RFC 9111, 4; RFC 9110, 9.3.3
        set("max-age=60")
        func load(_ method: RequestMethod = .get, _ body: [UInt8]? = nil) async throws -> Bool {
            let before = web.count
            _ = try await image(.http) { ($0.network.request.method, $0.network.request.body) = (method, body) }
            return web.count == before
        }
        #expect(try await !load())
        #expect(try await !load(.post, [1]))
        #expect(try await load(.post, [1]))
        #expect(try await !load(.post, [2]))
        #expect(try await !load(.put, [2]))
        #expect(try await !load())
        #expect(try await load())
        #expect(web.conditions.compactMap(\.self).isEmpty)
    }

    @Test func whatIsKeptOfAURLIsForgottenWhenSomethingIsDoneThere() async throws {  // RFC 9111, 4.4
        set("max-age=60")
        func change(_ mode: Revalidation) async throws {
            _ = try await engine.image(web.url, key: "own \(mode)") {
                ($0.network.request.method, $0.lookup.revalidate, $0.lookup.forceRefresh) = (.post, mode, true)
            }
        }
        _ = try await image(.http)
        try await change(.never)
        #expect(try await image(.http).cacheType == .memory, "only who goes by HTTP says so")
        web.set { $0.failure = 500 }
        await #expect(throws: ImageError.self) { try await change(.http) }
        web.set { $0.failure = nil }
        #expect(try await image(.http).cacheType == .memory, "it has failed")
        try await change(.http)
        #expect(try await image(.http).cacheType == .none)
        #expect(engine.blobs.count == 3)
    }

    /// RFC 9111, 4.4: whatever is made of the answer, under whichever key.
    @Test(
        arguments: [
            "text", "empty", "cut", "large", "type", "status", "gone", "unfollowed", "integrity", "moved", "refused",
        ],
        [true, false])
    func whatIsDoneAtAURLCountsAlsoWhenItsAnswerIsOfNoUse(_ way: String, hasOwnKey: Bool) async throws {
        let picture = hollowPNG(width: 7, count: 4000)
        let server = try LocalServer { request in
            if request.path == "/b" { return .reply(404, [:], []) }
            if request.method == "GET" { return .reply(200, ["Cache-Control": "max-age=3600"], picture) }
            switch way {
            case "text": return .reply(200, ["Content-Type": "text/plain"], Array("done".utf8))
            case "empty": return .reply(204, [:], [])
            case "cut": return Script.head(200, length: 4000).raw(Array(picture.prefix(2000))).closing()
            case "status": return .reply(201, [:], picture)
            case "gone", "unfollowed": return Script.reply(303, ["Location": "/b"], [])
            case "moved": return Script.reply(307, ["Location": "/b"], [])
            case "refused": return .reply(409, [:], [])
            default: return .reply(200, ["Content-Type": "text/plain"], picture)
            }
        }
        defer { server.stop() }
        func load() async throws -> CacheType {
            try await engine.image(server.url("/a")) { $0.lookup.revalidate = .http }.cacheType
        }
        #expect(try await load() == .none)
        let error = await #expect(throws: ImageError.self) {
            _ = try await engine.image(server.url("/a"), key: hasOwnKey ? "own" : nil) {
                ($0.network.request.method, $0.lookup.revalidate) = (.post, .http)
                if way == "large" { $0.network.limits.maxBytes = 1000 }
                if way == "type" { $0.network.limits.acceptContentTypes = ["image/*"] }
                if way == "status" { $0.network.limits.validStatusCodes = [200] }
                if way == "unfollowed" { $0.network.transfer.redirect = .none }
                if way == "integrity" {
                    $0.lookup.integrity = Integrity("sha256-" + String(repeating: "A", count: 43) + "=")
                }
            }
        }
        #expect(try await load() == (way == "refused" ? .memory : .none), "\(String(describing: error))")
    }

    /// The same when nobody waits for the answer any more.
    @Test func whatIsDoneAtAURLCountsAlsoWhenItIsCancelled() async throws {
        let (gate, picture) = (Gate(), hollowPNG(width: 7, count: 4000))
        let server = try LocalServer { request in
            if request.method == "GET" { return .reply(200, ["Cache-Control": "max-age=3600"], picture) }
            return Script.head(200, length: 4000).raw(Array(picture.prefix(2000))).waiting(for: gate).closing()
        }
        defer { server.stop() }
        defer { gate.open() }
        func load() async throws -> CacheType {
            try await engine.image(server.url("/a")) { $0.lookup.revalidate = .http }.cacheType
        }
        #expect(try await load() == .none)
        let progress = Gathered<DownloadProgress>()
        let change = Task {
            try await engine.image(
                server.url("/a"), key: "own", { ($0.network.request.method, $0.lookup.revalidate) = (.post, .http) },
                report: { progress.add($0) })
        }
        try await eventually("the answer has begun") { progress.all.contains { $0.received > 0 } }
        change.cancel()
        await #expect(throws: CancellationError.self) { _ = try await change.value }
        try await eventually("it is forgotten") { [engine] in
            try engine.cache.cacheType(for: CacheKey(server.url("/a")), burst: 0, mayWait: true).value == nil
        }
    }

    @Test func partIsNoAnswerToWhoWantsTheWhole() async throws {
        let server = try LocalServer { request in
            let headers = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
            if request.headers["if-none-match"] != nil { return .reply(304, headers, []) }
            return .reply(request.headers["range"] == nil ? 200 : 206, headers, hollowPNG(width: 7))
        }
        defer { server.stop() }
        for mode in [Revalidation.http, .always] {
            let before = server.requests.count
            _ = try await engine.image(server.url("/\(mode)")) {
                $0.lookup.revalidate = mode
                $0.network.request.headers = ["Range": "bytes=0-99"]
                $0.network.limits.validStatusCodes = [200, 206]
            }
            #expect(try await engine.image(server.url("/\(mode)")) { $0.lookup.revalidate = mode }.cacheType == .none)
            #expect(server.requests.dropFirst(before).map { $0.headers["if-none-match"] } == [nil, nil])
        }
    }

    @Test func bodyThatMustNotBeKeptIsNotKeptInPart() throws {
        var response = DownloadResponse()
        (response.status, response.url, response.etag) = (200, "http://a/", "\"1\"")
        response.fields = ["accept-ranges": "bytes"]
        #expect(ResumeNote(response, length: 1 << 20) != nil)
        response.fields["cache-control"] = "max-age=1, no-store"
        #expect(ResumeNote(response, length: 1 << 20) == nil)
        for (headers, mayResume) in [(["cache-control": "no-store"], false), (["Cache-Control": "no-cache"], true)] {
            let options = ImageOptions { $0.network.request.headers = headers }
            #expect(try DownloadRequest(url: "http://a/", options: options.network).canResume == mayResume)
        }
    }
}
