import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What is over keeps nothing.
@Suite struct ReleaseTests {
    /// Parts of an engine, if somebody else holds them.
    private struct Parts: Sendable {
        weak let manager: ImageManager?
        weak let downloader: ImageDownloader?

        init(_ engine: TestEngine) {
            manager = engine.manager
            downloader = engine.manager.downloader
        }
    }

    private func work(_ server: LocalServer) async throws -> Parts {
        let engine = try TestEngine()
        for path in ["/a", "/b", "/a"] { _ = try await engine.image(server.url(path)) }
        #expect(try await engine.failure("http://127.0.0.1:1/none") != nil)
        return Parts(engine)
    }

    @Test func anEngineThatHasDoneItsWorkIsHeldByNobody() async throws {
        let server = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        let parts = try await work(server)
        try await eventually("the engine is gone") { parts.manager == nil && parts.downloader == nil }
    }
}
