import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What requests say of the types that are wanted.
@Suite struct AcceptHeaderTests {
    private let standIn: CodecStandIn
    private let server: LocalServer
    private let folder: TemporaryFolder
    private static let all = CodecFormats.accept
    private static let plain = "image/*,*/*;q=0.8"

    init() throws {
        standIn = try CodecStandIn(making: hollowPNG(width: 3))
        folder = try TemporaryFolder()
        let picture = hollowPNG(width: 7)
        server = try LocalServer { request in
            .reply(
                200,
                request.path.contains("vary") ? ["Vary": "Accept", "Cache-Control": "max-age=1000"] : [:], picture)
        }
    }

    private func engine(
        _ worker: String?, _ configure: (inout EngineConfiguration) -> Void = { _ in }
    ) throws -> TestEngine {
        try TestEngine(folder: folder) {
            $0.codec.executable = worker
            configure(&$0)
        }
    }

    private var accepts: [String?] { server.requests.map { $0.headers["accept"] } }

    @Test func withAWorkerTheTypesThatItReadsAreNamedAndWithoutOneAnyPictureIsAsGood() async throws {
        let engine = try engine(standIn.path)
        _ = try await engine.image(server.url("/a"))
        #expect(accepts == [Self.all])
        #expect(engine.manager.codec.startedCount == 0, "nothing is started for it")
        for worker in [nil, "/nonexistent/halcyon-codec"] {
            _ = try await self.engine(worker).image(server.url("/b\(worker ?? "")"))
        }
        #expect(accepts == [Self.all, Self.plain, Self.plain])
        let unnamed: [ImageFormat] = [.jp2, .pnm, .icns, .pdf]
        let types = Self.all.split(separator: ",").map { String($0.prefix { $0 != ";" }) }
        #expect(Set(types).count == types.count && types.suffix(2) == ["image/*", "*/*"])
        let named = CodecFormats().decoded.filter { !unnamed.contains($0) }.map(\.mimeType)
        #expect(Set(types.dropLast(2)) == Set(named))
    }

    @Test func itIsTheSameForTheWholeLifeOfAProcess() async throws {
        let engine = try engine(standIn.path)
        // The worker says that it reads PNG alone.
        _ = try await engine.image(server.url("/a")) { $0.processing.recipe.processors = [.blackWhite] }
        #expect(engine.manager.codec.formats.decoded == [.png])
        _ = try await engine.image(server.url("/b"))
        #expect(accepts == [Self.all, Self.all])
    }

    @Test func whatTheRequestOrTheRulesOfItsHostSayComesFirst() async throws {
        var rule = HostRule(hosts: ["127.0.0.1"])
        rule.headers = ["ACCEPT": "image/gif"]
        let rules = rule
        let engine = try engine(standIn.path) { $0.downloader.rules.hosts = [rules] }
        _ = try await engine.image(server.url("/a"))
        _ = try await engine.image(server.url("/b")) { $0.network.request.headers = ["accept": "image/bmp"] }
        let other = try self.engine(standIn.path)
        _ = try await other.image(server.url("/c")) { $0.network.request.headers = ["Accept": "*/*"] }
        #expect(accepts == ["image/gif", "image/bmp", "*/*"])
    }

    @Test func ofAMirrorTheRulesOfItsOwnHostCount() async throws {
        var (asked, mirror) = (HostRule(hosts: ["pictures.example"]), HostRule(hosts: ["127.0.0.1"]))
        (asked.headers, mirror.headers) = (["Accept": "image/gif"], ["Accept": "image/bmp"])
        let rewrite = try #require(URLRewrite(from: "http://pictures.example/", to: server.url("/")))
        let hosts = [asked, mirror]
        let engine = try engine(nil) {
            $0.downloader.rules.hosts = hosts
            $0.downloader.rules.rewrites = [rewrite]
        }
        #expect(engine.manager.downloader.addedFields(for: "http://pictures.example/vary")["accept"] == "image/bmp")
        for _ in 0..<2 { _ = try await engine.image("http://pictures.example/vary") { $0.lookup.revalidate = .http } }
        #expect(accepts == ["image/bmp"], "what was stored by it suits the next request")
        _ = try await engine.image("http://pictures.example/vary") {
            $0.lookup.revalidate = .http
            $0.network.request.headers = ["Accept": "image/bmp"]
        }
        #expect(accepts.count == 1, "however that came about")
    }

    @Test func whatWasStoredByVaryAcceptSuitsTheSameAcceptHoweverThatCameAbout() async throws {
        func load(_ engine: TestEngine, _ accept: String? = nil) async throws -> Bool {
            let before = server.requests.count
            _ = try await engine.image(server.url("/vary")) {
                $0.lookup.revalidate = .http
                if let accept { $0.network.request.headers = ["Accept": accept] }
            }
            return server.requests.count == before
        }
        let worker = try engine(standIn.path)
        #expect(try await !load(worker))
        #expect(try await load(worker))
        #expect(try await load(worker, Self.all), "sent so, or by itself")
        let none = try engine(nil)
        #expect(try await !load(none), "another body may come")
        #expect(try await load(none))
        #expect(try await load(none, Self.plain))
        var rule = HostRule(hosts: ["127.0.0.1"])
        rule.headers = ["Accept": "image/gif"]
        let rules = rule
        let ruled = try engine(nil) { $0.downloader.rules.hosts = [rules] }
        #expect(try await !load(ruled))
        #expect(try await load(ruled))
    }
}
