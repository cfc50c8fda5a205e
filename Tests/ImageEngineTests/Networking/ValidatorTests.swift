import TestSupport
import Testing

@testable import ImageEngine

/// Validators that are not believed (RFC 9110, 8.8).
@Suite struct ValidatorTests {
    /// Half a line end in a validator would be a line of its own in the next request, to some servers.
    @Test func validatorThatIsNoneIsNotSentBack() async throws {
        let engine = try TestEngine { $0.downloader.proxy = .none }
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { _ in
            Script.empty.raw(
                "HTTP/1.1 200 OK\r\nETag: \"a\rX-Smuggled: 1\"\r\nCache-Control: max-age=0\r\n"
                    + "Content-Length: \(picture.count)\r\n\r\n"
            ).raw(picture)
        }
        defer { server.stop() }
        for _ in 0..<2 {
            let result = try await engine.image(server.url("/a")) { $0.lookup.revalidate = .http }
            #expect(result.record.etag == nil)
        }
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.headers["if-none-match"] == nil && $0.headers["x-smuggled"] == nil })
    }
}
