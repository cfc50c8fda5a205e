import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// No user is shown another one's image, in whatever mode and from wherever.
@Suite struct CredentialTests {
    private let engine: TestEngine
    private let web: LocalServer

    /// The picture of each user: its width is told by the credentials.
    private static func width(_ headers: [String: String]) -> Int {
        switch headers["authorization"] ?? headers["cookie"] ?? headers["x-api-key"] {
        case nil: 1
        case "Bearer ann", "Basic YW5uOnB3", "ann": 2
        default: 3
        }
    }

    init() throws {
        engine = try TestEngine { $0.cleanInterval = 0 }
        web = try LocalServer { request in
            .reply(200, ["Cache-Control": "max-age=1000"], hollowPNG(width: Self.width(request.headers)))
        }
    }

    private var url: String { web.url("/a.png") }

    private func width(
        on other: TestEngine? = nil, bytes: Bool = false, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> Int {
        let image = try await (other ?? engine).image(url, bytes: bytes, change)
        return image.record.header.width
    }

    /// Another engine on the same folder: another process.
    private func other() throws -> TestEngine {
        try TestEngine(folder: engine.folder, clock: engine.clock) { $0.cleanInterval = 0 }
    }

    private func atOnce(_ change: (inout ImageOptions) -> Void = { _ in }) throws -> Int? {
        try engine.manager.cachedImage(
            Resource(url: url), in: engine.cache, options: ImageOptions(change), needs: .file, burst: 0
        )?.record.header.width
    }

    @Test(arguments: [nil] + Revalidation.allCases, [false, true])
    func imageOfOneUserIsNotAnsweredToAnother(_ mode: Revalidation?, _ inAnotherProcess: Bool) async throws {
        func ann(_ options: inout ImageOptions) {
            (options.lookup.revalidate, options.network.request.authorization) = (mode, .bearer("ann"))
        }
        func bob(_ options: inout ImageOptions) {
            (options.lookup.revalidate, options.network.request.authorization) = (mode, .bearer("bob"))
        }
        let second = inAnotherProcess ? try other() : engine
        #expect(try await width(ann) == 2)
        #expect(try atOnce(ann) == (mode == .always ? nil : 2))
        #expect(try atOnce(bob) == nil)
        #expect(try await width(on: second, bob) == 3)
        #expect(try await width(on: second, bob) == 3)
        #expect(try await width(on: second, ann) == 2)
        #expect(try await width(on: second) { $0.lookup.revalidate = mode } == 1)
        #expect(try await width(on: second, bytes: true, bob) == 3)
    }

    @Test func sameUserIsAnsweredWithoutARequest() async throws {
        #expect(try await width { $0.network.request.authorization = .bearer("ann") } == 2)
        for engine in [engine, try other()] {
            #expect(try await width(on: engine) { $0.network.request.authorization = .bearer("ann") } == 2)
        }
        #expect(
            try await width(on: other()) { $0.network.request.headers = ["Accept": "image/png"] } == 1,
            "nobody is not ann")
        #expect(web.requests.count == 2)
    }

    /// What was fetched without credentials is nobody's; what was stored suits everybody.
    @Test func imageOfNobodyIsAnsweredToNobodyAndWhatWasStoredToEverybody() async throws {
        #expect(try await width() == 1)
        #expect(try await width { $0.network.request.authorization = .bearer("ann") } == 2)
        #expect(try await width(on: other()) { $0.network.request.headers = ["Cookie": "ann"] } == 2)
        #expect(try await width() == 1)
        #expect(web.requests.count == 3)
        _ = try engine.manager.store(
            hollowPNG(width: 9), for: CacheKey(url), in: engine.cache, options: ImageOptions())
        #expect(try await width { $0.network.request.authorization = .bearer("bob") } == 9)
    }

    @Test(
        arguments: [
            { $0.network.request.headers = ["cookie": "ann"] }, { $0.network.request.headers = ["X-API-Key": "ann"] },
            { $0.network.request.authorization = .basic(user: "ann", password: "pw") },
            { $0.network.request.headers = ["AUTHORIZATION": "Bearer ann"] },
        ] as [@Sendable (inout ImageOptions) -> Void])
    func credentialsOfEveryKindCount(_ ann: @escaping @Sendable (inout ImageOptions) -> Void) async throws {
        #expect(try await width(ann) == 2)
        #expect(try await width(on: other(), ann) == 2)
        #expect(web.requests.count == 1)
        #expect(try await width(on: other()) == 1)
    }

    @Test func userThatStandsInTheURLCounts() async throws {
        let credited = url.replacing("http://", with: "http://ann:pw@")
        let image = try await engine.image(credited, key: "k")
        #expect(image.record.header.width == 2)
        #expect(try await engine.image(credited, key: "k").cacheType == .memory)
        #expect(try await engine.image(url, key: "k").record.header.width == 1)
        _ = try await engine.image(credited, key: "k") { $0.lookup.forceRefresh = true }
        let same = try await engine.image(url, key: "k") {
            $0.network.request.authorization = .basic(user: "ann", password: "pw")
        }
        #expect(same.record.header.width == 2 && same.cacheType == .memory)
    }

    @Test func othersImageIsNoStandInEither() async throws {
        _ = try await width { $0.network.request.authorization = .bearer("ann") }
        engine.clock.advance(seconds: 8 * 86_400)
        web.stop()
        for change in [
            { $0.lookup.offline = true }, { $0.lookup.onlyFromCache = true }, { $0.lookup.staleIfError = 1e7 },
            {
                $0.lookup.staleIfError = 1e7
                $0.lookup.revalidate = .ifExpired
            }, { $0.network.onFailureImage = url },
        ] as [(inout ImageOptions) -> Void] {
            await #expect(throws: ImageError.self) { try await width(on: other(), change) }
        }
        let ann = try await width(on: other()) {
            $0.network.request.authorization = .bearer("ann")
            $0.lookup.offline = true
        }
        #expect(ann == 2)
    }

    /// Whoever names the entry means it: methods by key find whatever a user has, where users share nothing.
    @Test func entryIsFoundByItsKey() async throws {
        _ = try await width { $0.network.request.authorization = .bearer("ann") }
        let image = try await engine.image("data:,", key: url) { $0.lookup.onlyFromCache = true }
        #expect(image.record.header.width == 2)
        let anyones = try engine.cache.anyones(CacheKey(url))
        #expect(try engine.cache.inspect(anyones)?.byteCount == image.record.byteCount)
        #expect(try engine.cache.cacheType(for: anyones, burst: 0, mayWait: true).value == .memory)
        #expect(try engine.cache.remove(CacheKey(url)).disk)
    }

    @Test func prefetchAndOriginalCacheKeepUsersApart() async throws {
        _ = try await width { $0.network.request.authorization = .bearer("ann") }
        let thumbs = try #require(engine.manager.cache("thumbs"))
        var bob = ImageOptions()
        bob.network.request.authorization = .bearer("bob")
        var looking = bob
        looking.lookup.originalCache = "default"
        let image = try await engine.manager.image(
            ImageRequest(Resource(url: url), in: thumbs, options: looking, needs: .file))
        #expect(image.record.header.width == 3)
        let prefetcher = ImagePrefetcher([url], manager: engine.manager, cache: engine.cache, options: bob)
        #expect(try await prefetcher.run().completed == [url])
        #expect(try await width { $0.network.request.authorization = .bearer("bob") } == 3)
        #expect(web.requests.count == 3)
    }

    @Test func usersInFlightDoNotMerge() async throws {
        let gate = Gate()
        let slow = try LocalServer { request in
            Script.empty.waiting(for: gate).followed(
                by: .reply(200, [:], hollowPNG(width: Self.width(request.headers))))
        }
        defer { slow.stop() }
        let tasks = ["ann", "bob"].map { user in
            Task { [engine] in
                try await engine.image(slow.url("/a"), bytes: true) { $0.network.request.authorization = .bearer(user) }
                    .bytes
            }
        }
        try await eventually { slow.requests.count == 2 }
        gate.open()
        #expect(try await tasks[0].value == hollowPNG(width: 2))
        #expect(try await tasks[1].value == hollowPNG(width: 3))
    }

    /// The index keeps a salted hash, never what it is of.
    @Test func folderHoldsNoCredential() async throws {
        let secret = "s3cret-t0ken-of-ann"
        let challenge = try ChallengingServer()
        let delegate = TestDelegate()
        delegate.onAnswer { _ in .credential(.basic(user: "ann", password: secret)) }
        _ = try await width { $0.network.request.authorization = .bearer(secret) }
        _ = try await engine.image(web.url("/b")) { $0.network.request.headers = ["Cookie": secret] }
        _ = try await engine.image(challenge.url) {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.challenge])
        }
        engine.manager.flush()
        for file in engine.folder.files {
            let bytes = try Files.read(engine.folder.path + "/" + file, followsLinks: false)
            #expect(bytes.firstRange(of: Array(secret.utf8)) == nil, "\(file)")
        }
    }

    // MARK: Credentials that the request does not show

    @Test func answerToAChallengeCounts() async throws {
        let web = try ChallengingServer()
        let (ann, bob) = (TestDelegate(), TestDelegate())
        ann.onAnswer { _ in .credential(.basic(user: "ann", password: "pw")) }
        bob.onAnswer { _ in .credential(.basic(user: "bob", password: "pw")) }
        func image(_ engine: TestEngine, _ delegate: TestDelegate?) async throws -> ImageResult {
            try await engine.image(web.url) {
                $0.network.delegates = delegate.map { DownloadDelegates($0, questions: [.challenge]) }
            }
        }
        #expect(try await image(engine, ann).record.header.width == 2)
        #expect(try await image(engine, ann).cacheType == .memory)
        let other = try other()
        #expect(try await image(other, bob).record.header.width == 3)
        #expect(try await image(other, bob).cacheType == .memory)
        #expect(try await image(engine, ann).record.header.width == 2)
        await #expect(throws: ImageError.self) { try await image(engine, nil) }
    }

    @Test func netrcFileCounts() async throws {
        let place = engine.folder.path + "/netrc"
        overwrite(place, Array("machine 127.0.0.1 login ann password pw\n".utf8))
        let ann = try TestEngine(folder: engine.folder, clock: engine.clock) { $0.downloader.netrc = place }
        #expect(try await width(on: ann) == 2)
        #expect(try await width(on: ann) == 2)
        #expect(web.requests.count == 1)
        #expect(try await width() == 1)
        overwrite(place, Array("machine example.com login ann password pw\n".utf8))
        #expect(try await width(on: ann) == 1)
        #expect(web.requests.count == 2)
    }

    /// As libcurl reads it.
    @Test(
        arguments: [
            ("DEFAULT login a password b", "http://127.0.0.1/", true),
            ("machine ::1 login a password b", "http://[::1]/", true),
            ("machine [::1] login a password b", "http://[::1]/", true),
            ("MACHINE Example.COM login a password b", "http://example.com/", true),
            ("machine \"example.com\" login a", "http://EXAMPLE.com/", true),
            ("machine \"ex\\ample.com\" login a", "http://example.com/", true),
            ("machine example.org login a password b", "http://example.com/", false),
        ])
    func hostsInANetrcFileAreFoundInWhicheverFormTheyStandThere(_ text: String, _ url: String, _ counts: Bool) throws {
        let place = engine.folder.path + "/netrc"
        overwrite(place, Array(text.utf8))
        let ann = try TestEngine(folder: engine.folder, clock: engine.clock) { $0.downloader.netrc = place }
        let login = ann.manager.downloader.configuredLogin(of: try WebURL(url), RequestContent())
        #expect((login != nil) == counts)
    }

    /// A delegate that adds credentials is asked before its image is answered to it, and only then.
    @Test(arguments: [nil, .http] as [Revalidation?])
    func credentialsThatADelegateAddsCount(_ mode: Revalidation?) async throws {
        let ann = Signer("ann")
        func image(_ change: (inout ImageOptions) -> Void) async throws -> Int {
            try await width {
                $0.lookup.revalidate = mode
                change(&$0)
            }
        }
        func asAnn(_ options: inout ImageOptions) {
            options.network.delegates = DownloadDelegates(ann, questions: [.modifyRequest])
        }
        #expect(try await image(asAnn) == 2)
        #expect(try await image(asAnn) == 2)
        #expect(web.requests.count == 1)
        #expect(try await image { _ in } == 1)
        #expect(web.requests.count == 2)
    }

    /// What is looked at, and only answered once the delegate has been asked, is not in memory before.
    @Test(arguments: [nil, .http] as [Revalidation?])
    func privateImageBehindADelegateWasOnDiskInANewProcess(_ mode: Revalidation?) async throws {
        let ann = Signer("ann")
        func asAnn(_ options: inout ImageOptions) {
            options.lookup.revalidate = mode
            options.network.delegates = DownloadDelegates(ann, questions: [.modifyRequest])
        }
        _ = try await engine.image(url, asAnn)
        let later = try other()
        #expect(try await later.image(url, asAnn).cacheType == .disk)
        #expect(try await later.image(url, asAnn).cacheType == .memory)
        #expect(web.requests.count == 1)
    }

    /// What nobody's delegate fetched is answered without asking that again; what was fetched without a delegate is not, for
    /// the delegate may add credentials.
    @Test func imageOfNobodyIsAnsweredToADelegateThatAddedNoCredentials() async throws {
        let (ann, silent) = (Signer("ann"), Signer(nil))
        func image(_ delegate: Signer) async throws -> Int {
            try await width { $0.network.delegates = DownloadDelegates(delegate, questions: [.modifyRequest]) }
        }
        #expect(try await width() == 1)
        #expect(try await image(ann) == 2)
        #expect(try await image(silent) == 1)
        #expect(web.requests.count == 2 && silent.count == 1)
        #expect(try engine.cache.remove(CacheKey(url)).disk)
        #expect(try await image(silent) == 1)
        #expect(try await image(silent) == 1)
        #expect(web.requests.count == 3 && silent.count == 2)
    }

    /// An index of a version with one entry for each key.
    @Test func entryThatAnOlderVersionKeptForAUserStaysTheirs() async throws {
        #expect(try await width() == 1)
        let known = try engine.cache.knownHit(for: CacheKey(url))?.record
        let record = try #require(known)
        var (request, origin) = (RequestContent(), record.origin)
        request.authorization = .bearer("ann")
        origin.http =
            HTTPMetadata([:], to: HTTPScope(request), at: engine.clock.seconds, wall: engine.clock.seconds).text
        _ = try engine.cache.note(origin, of: record, StorageOptions())
        let later = try other()
        #expect(try await width(on: later) { $0.network.request.authorization = .bearer("ann") } == 1)
        #expect(try await width(on: later) { $0.network.request.authorization = .bearer("bob") } == 3)
        #expect(try await width(on: later) { $0.network.request.authorization = .bearer("ann") } == 1)
        #expect(web.requests.count == 2)
    }

    /// A lost index does not make everybody's what was one user's.
    @Test func filesOfOneUserStayTheirsWithoutTheIndex() async throws {
        _ = try await width { $0.network.request.authorization = .bearer("ann") }
        _ = try await engine.image(web.url("/free.png"))
        engine.manager.flush()
        for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
            unlink(engine.folder.path + "/cache/default/" + name)
        }
        let later = try other()
        #expect(try await later.image(web.url("/free.png")).cacheType == .disk)
        #expect(try await width(on: later) == 1)
    }
}

/// Answers with ann's picture to ann, bob's to bob, and asks all others who they are.
private final class ChallengingServer: Sendable {
    private let server: LocalServer

    init() throws {
        server = try LocalServer { request in
            guard let user = request.headers["authorization"] else {
                return .reply(401, ["WWW-Authenticate": "Basic realm=\"r\""], [])
            }
            return .reply(200, [:], hollowPNG(width: user.hasPrefix("Basic YW5u") ? 2 : 3))
        }
    }

    deinit { server.stop() }

    var url: String { server.url("/a.png") }
}

/// Adds a token, if it has one, to every request.
private final class Signer: DownloadDelegate {
    private let token: String?
    private let asked = Atomic(0)

    init(_ token: String?) { self.token = token }

    /// How often it was asked about a request.
    var count: Int { asked.load(ordering: .relaxed) }

    func modify(_ request: DownloadDraft) async throws -> DownloadDraft? {
        asked.add(1, ordering: .relaxed)
        var request = request
        request.headers["Authorization"] = token.map { "Bearer \($0)" }
        return request
    }
    func redirect(_ request: DownloadDraft, from url: String, status: Int) async throws -> DownloadDraft? { request }
    func accepts(status: Int, contentType: String?, url: String) async throws -> Bool? { nil }
    func answer(_ challenge: AuthenticationChallenge) async throws -> ChallengeAnswer { .useDefault }
}
