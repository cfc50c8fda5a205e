import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Cookies of a file as part of what an image was fetched with.
@Suite struct CookieTests {
    private let folder: TemporaryFolder
    private var file: String { folder.path + "/cookies.txt" }

    init() throws { folder = try TemporaryFolder() }

    private func engine(_ shared: TemporaryFolder? = nil, cookies: Bool = true) throws -> TestEngine {
        try TestEngine(folder: shared) {
            $0.downloader.proxy = .none
            if cookies { $0.downloader.cookieFile = file }
        }
    }

    @Test func cookiesReachTheirServerAndNoOtherAndMakeAnImageItsUsers() async throws {
        let picture = hollowPNG(width: 7)
        let other = try LocalServer(host: 2) { _ in .reply(200, [:], picture) }
        defer { other.stop() }
        let server = try LocalServer { request in
            request.path == "/away"
                ? .redirect(to: other.url("/there")) : .reply(200, ["Set-Cookie": "local=changed"], picture)
        }
        defer { server.stop() }
        try Data("127.0.0.1\tFALSE\t/\tFALSE\t0\tlocal\tl".utf8).write(to: URL(fileURLWithPath: file))
        let engine = try engine()
        for path in ["/a", "/b", "/away"] { _ = try await engine.image(server.url(path)) }
        _ = try await engine.image(server.url("/c")) { $0.network.request.headers = ["Cookie": "mine=1"] }
        #expect(server.requests.map { $0.headers["cookie"] } == ["local=l", "local=l", "local=l", "mine=1"])
        #expect(other.requests.map { $0.headers["cookie"] } == [nil])
        // Another process without these cookies is not answered with what they brought.
        #expect(try await engine.image(server.url("/a")).cacheType != .none)
        let stranger = try self.engine(engine.folder, cookies: false)
        #expect(try await stranger.failure(server.url("/a")) { $0.lookup.onlyFromCache = true } != nil)
        #expect(
            try await self.engine(engine.folder).failure(server.url("/a")) { $0.lookup.onlyFromCache = true } == nil)
    }
}
