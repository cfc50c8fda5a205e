import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import ImageEngine
@testable import Platform

/// Credentials that requests do not name: those of the configuration, which may change, and answers to challenges.
@Suite struct LoginTests {
    private let engine: TestEngine
    /// Redirects to ``target``, or answers by the credentials itself.
    private let web: LocalServer
    private let target: LocalServer

    /// The image of each user.
    private static func answer(_ request: LocalServer.Request) -> Script {
        let user = request.headers["authorization"] ?? request.headers["cookie"]
        let width =
            switch user {
            case nil: 1
            case "Bearer ann", "Basic YW5uOnB3", "s=ann": 2
            default: 3
            }
        return .reply(200, ["ETag": "\"\(user ?? "")\"", "Cache-Control": "max-age=1000"], hollowPNG(width: width))
    }

    init() throws {
        let target = try LocalServer(host: 2) { Self.answer($0) }
        self.target = target
        web = try LocalServer { request in
            request.path == "/away" ? .redirect(to: target.url("/t")) : Self.answer(request)
        }
        engine = try TestEngine()
    }

    private func width(
        _ path: String, on engine: TestEngine? = nil, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> Int {
        let engine = engine ?? self.engine
        let options = ImageOptions(change)
        let told = try engine.manager.explain(Resource(url: web.url(path)), in: engine.cache, options: options)
        let before = web.requests.count + target.requests.count
        let image = try await engine.image(web.url(path), change)
        let asked = web.requests.count + target.requests.count > before
        #expect(asked == [.load, .revalidate].contains(told.verdict), "explained as \(told.verdict)")
        return image.record.header.width
    }

    private func use(token: String?) {
        var rule = HostRule(hosts: ["127.0.0.1", "127.0.0.2"])
        rule.authorization = token.map { .bearer($0) }
        var changed = engine.manager.configuration.downloader
        changed.rules.hosts = token == nil ? [] : [rule]
        engine.manager.downloader.configure(changed)
    }

    @Test(arguments: [nil, .http, .ifExpired, .always] as [Revalidation?], ["/here", "/away"])
    func changedHostRulesMakeAnotherUser(_ mode: Revalidation?, _ path: String) async throws {
        func width() async throws -> Int { try await self.width(path) { $0.lookup.revalidate = mode } }
        use(token: "ann")
        #expect(try await width() == 2)
        #expect(try await width() == 2)
        use(token: "bob")
        #expect(try await width() == 3)
        #expect(try await width() == 3)
        use(token: nil)
        #expect(try await width() == 1)
        use(token: "ann")
        #expect(try await width() == 2)
    }

    @Test(arguments: ["netrc", "cookies"], ["/here", "/away"])
    func rewrittenFileOfCredentialsMakesAnotherUser(_ kind: String, _ path: String) async throws {
        let place = engine.folder.path + "/credentials"
        func write(_ user: String) {
            let lines = [1, 2].map {
                kind == "netrc"
                    ? "machine 127.0.0.\($0) login \(user) password pw\n"
                    : "127.0.0.\($0)\tFALSE\t/\tFALSE\t0\ts\t\(user)\n"
            }
            overwrite(place, Array(lines.joined().utf8))
        }
        write("ann")
        let engine = try TestEngine(folder: engine.folder, clock: engine.clock) {
            if kind == "netrc" { $0.downloader.netrc = place } else { $0.downloader.cookieFile = place }
        }
        #expect(try await width(path, on: engine) == 2)
        #expect(try await width(path, on: engine) == 2)
        write("robert")
        #expect(try await width(path, on: engine) == 3)
        write("ann")
        #expect(try await width(path, on: engine) == 2)
    }

    /// The image of nobody lies beside that of the login: it was loaded before the server asked for one.
    @Test(arguments: Revalidation.allCases)
    func imageOfALoginAnswersInPlaceOfTheOneFromBeforeIt(_ mode: Revalidation) async throws {
        let version = Atomic(1)
        let web = try LocalServer { request in
            let version = version.load(ordering: .relaxed)
            if version > 1, request.headers["authorization"] == nil {
                return .reply(401, ["WWW-Authenticate": "Basic realm=\"r\""], [])
            }
            return .reply(200, ["ETag": "\"\(version)\""], hollowPNG(width: version))
        }
        defer { web.stop() }
        let delegate = TestDelegate()
        delegate.onAnswer { _ in .credential(.basic(user: "ann", password: "pw")) }
        func width(_ change: (inout ImageOptions) -> Void) async throws -> Int {
            try await engine.image(web.url("/a.png")) {
                $0.network.delegates = DownloadDelegates(delegate, questions: [.challenge])
                change(&$0)
            }.record.header.width
        }
        #expect(try await width { _ in } == 1)
        version.store(2, ordering: .relaxed)
        #expect(try await width { $0.lookup.forceRefresh = true } == 2)
        version.store(3, ordering: .relaxed)
        #expect(try await width { $0.lookup.revalidate = mode } == ([.always, .http].contains(mode) ? 3 : 2))
        #expect(try await width { $0.lookup.revalidate = mode } == ([.always, .http].contains(mode) ? 3 : 2))
        #expect(try await width { _ in } == ([.always, .http].contains(mode) ? 3 : 2))
        engine.clock.advance(seconds: 30 * 86_400)
        #expect(try await width { $0.lookup.revalidate = mode } == 3)
    }
}
