import TestSupport
import Testing

@testable import ImageEngine

/// What is judged of a URL is what is dialled.
@Suite struct WebURLTests {
    @Test(arguments: [
        ("http://b\u{FC}cher.example:80/\u{FC}?\u{FC}", "xn--bcher-kva.example"),
        ("https://B\u{DC}CHER.example/", "xn--bcher-kva.example"),
        ("http://u:p@b\u{FC}cher.example/", "xn--bcher-kva.example"),
        // Letters that stand for others: an address, and a name of ASCII.
        ("http://\u{FF11}\u{FF12}\u{FF17}.0.0.1/", "127.0.0.1"), ("http://\u{24D4}xample.com/", "example.com"),
        ("http://\u{FF11}\u{FF12}\u{FF17}.1/", "127.0.0.1"),
    ])
    func hostThatIsNotASCIIIsThatWhichIsLookedUp(_ text: String, _ host: String) throws {
        let url = try WebURL(text)
        #expect(url.host == host && url.text.utf8.allSatisfy { $0 < 0x80 })
        #expect(url.origin == "\(url.scheme)://\(host):\(url.isSecure ? 443 : 80)")
        #expect(try WebURL(url.text).text == url.text)
    }

    @Test func hostThatNobodyCanLookUpIsRefused() {
        let error = #expect(throws: ImageError.self) { try WebURL("http://\u{FFFD}.example/") }
        #expect(error?.name == "invalidURL" && "\(error.map { "\($0)" } ?? "")".contains("host"))
    }

    /// A proxy dials for us: only an address that is written out can be judged.
    @Test func anAddressInOddDigitsIsJudgedAsAnAddress() async throws {
        let proxy = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        defer { proxy.stop() }
        let engine = try TestEngine {
            $0.downloader.proxy = .url(proxy.url(""))
            $0.downloader.policy.reach = .public
        }
        let error = try await engine.failure("http://\u{FF11}\u{FF12}\u{FF17}.0.0.1/a")
        #expect(error?.name == "forbiddenAddress" && proxy.requests.isEmpty)
    }
}
