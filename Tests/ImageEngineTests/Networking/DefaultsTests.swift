import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What a download is like when nobody says anything.
@Suite struct DefaultsTests {
    @Test func defaultsAreThoseOfTheSeeds() {
        let downloader = ImageDownloader.Configuration()
        #expect(downloader.maxDownloadsPerHost == 4 && downloader.order == .fifo)
        #expect(
            downloader.timeout == 15 && ImageOptions().network.limits.timeout == nil
                && ImageOptions().caller.deadline == nil)
        #expect(downloader.startsPerSecond == 0 && downloader.startsPerSecondPerHost == 0)
        #expect(downloader.cookieFile == nil && downloader.netrc == nil && downloader.rules == RequestRules())
        #expect(ImageOptions().caller.downloadPriority == 0.5 && ImageOptions().network.transfer.redirect == .follow)
    }

    /// There is one cache, ours, and no other below it that would answer instead of the server.
    @Test func nothingStandsBetweenARequestAndTheServer() async throws {
        let server = try LocalServer { _ in
            let headers = ["Cache-Control": "max-age=1000", "ETag": "\"1\"", "Set-Cookie": "name=value"]
            return .reply(200, headers, hollowPNG(width: 7))
        }
        defer { server.stop() }
        let engine = try TestEngine { $0.downloader.proxy = .none }
        for _ in 0..<3 { _ = try await engine.image(server.url("/a")) { $0.lookup.forceRefresh = true } }
        #expect(server.requests.count == 3)
        for name in ["if-none-match", "if-modified-since", "cookie"] {
            #expect(server.requests.allSatisfy { $0.headers[name] == nil }, "\(name)")
        }
    }
}
