import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Signed URLs that change with every request, and the image that does not.
@Suite struct KeyRuleTests {
    private static let signed = KeyRule(hosts: ["*.amazonaws.com"], dropQuery: ["X-Amz-*", "sig"])
    private static let sized = KeyRule(hosts: ["cdn.example"], keepQuery: ["w", "h*"], dropQuery: ["hash"])
    private static let rules = [signed, sized, KeyRule(hosts: ["bare.example"], keepQuery: [])]

    @Test(arguments: [
        ("https://b.s3.amazonaws.com/a.png?X-Amz-Date=1&v=2&X-Amz-Signature=3", "https://b.s3.amazonaws.com/a.png?v=2"),
        ("https://b.s3.amazonaws.com/a.png?X-Amz-Date=1&sig=2", "https://b.s3.amazonaws.com/a.png"),
        ("https://b.s3.amazonaws.com/a.png?X%2DAmz-Date=1#f", "https://b.s3.amazonaws.com/a.png#f"),
        ("https://b.s3.amazonaws.com/a.png?signature=1", nil), ("https://b.s3.amazonaws.com/a.png?x-amz-date=1", nil),
        ("https://amazonaws.com/a.png?sig=1", nil), ("https://b.amazonaws.com.evil/a.png?sig=1", nil),
        ("HTTPS://B.Amazonaws.COM:443/a?sig", "HTTPS://B.Amazonaws.COM:443/a"),
        ("https://cdn.example/a?w=1&x=2&height=3&hash=4&w=5", "https://cdn.example/a?w=1&height=3&w=5"),
        ("https://cdn.example/a?=1&&w", "https://cdn.example/a?w"), ("https://cdn.example/a?", "https://cdn.example/a"),
        ("https://bare.example/a?b=c?d", "https://bare.example/a"),
        ("https://bare.example/a#b?c", nil), ("bare.example/a?b", nil), ("", nil), ("?", nil),
        ("file:///a?sig=1", nil), ("data:,https://bare.example/?a", nil), ("https://other.example/a?sig=1", nil),
    ])
    func partsThatMakeNoOtherImageAreLeftOutOfTheKey(_ text: String, _ wanted: String?) {
        let key = KeyRule.key(of: text, Self.rules)
        #expect(key == wanted ?? text)
        #expect(KeyRule.key(of: key, Self.rules) == key, "made once more it is the same")
        #expect(KeyRule.key(of: text, []) == text)
    }

    @Test func firstRuleForAHostCounts() {
        let rules = [KeyRule(dropQuery: ["a"]), KeyRule(dropQuery: ["b"])]
        #expect(KeyRule.key(of: "https://x/?a=1&b=2", rules) == "https://x/?b=2")
    }

    /// Without a rule nothing is left out.
    @Test func withoutARuleTheWholeURLIsTheKey() async throws {
        let engine = try TestEngine()
        #expect(engine.cache.key(of: "https://x/?a=1") == "https://x/?a=1")
        #expect(engine.cache.resource("https://x/?a=1").cacheKey == "https://x/?a=1")
    }

    @Test func prefetchedImageIsFoundUnderAnotherSignature() async throws {
        let web = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        defer { web.stop() }
        let engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.defaults.keyRules = [KeyRule(dropQuery: ["sig"])]
        }
        func prefetch(_ path: String) async throws -> ImagePrefetcher.Report {
            try await ImagePrefetcher(
                [web.url(path)], manager: engine.manager, cache: engine.cache, options: ImageOptions()
            ).run()
        }
        #expect(try await prefetch("/a?sig=1").completed.count == 1)
        #expect(try await prefetch("/a?sig=2").skipped.count == 1)
        let image = try engine.manager.cachedImage(
            engine.cache.resource(web.url("/a?sig=3")), in: engine.cache, options: ImageOptions(), needs: .file,
            burst: 0)
        #expect(image?.record.key.key == web.url("/a"))
        #expect(web.requests.map(\.path) == ["/a?sig=1"], "the request is sent as it was")
    }

    /// What was signed anew is the same image; where the first signature does not count, the second may.
    @Test(arguments: [true, false])
    func aPrefetchLoadsWhatHasOneKeyOnce(_ firstIsGood: Bool) async throws {
        let server = try LocalServer { request in
            let isRefused = request.path.hasSuffix("sig=0") && !firstIsGood
            return isRefused ? .reply(403, [:], []) : .reply(200, [:], hollowPNG(width: 3))
        }
        defer { server.stop() }
        let engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.defaults.keyRules = [KeyRule(dropQuery: ["sig"])]
        }
        let urls = (0..<4).map { server.url("/a?sig=\($0)") } + [server.url("/b")]
        let report = try await ImagePrefetcher(
            urls, manager: engine.manager, cache: engine.cache, options: ImageOptions(), concurrency: 3
        ).run()
        #expect(Set(report.completed) == [urls[firstIsGood ? 0 : 1], urls[4]])
        #expect(Set(report.skipped) == Set(urls[(firstIsGood ? 1 : 2)..<4]))
        #expect(report.failed.map(\.url) == (firstIsGood ? [] : [urls[0]]))
        #expect(server.requests.count == (firstIsGood ? 2 : 3))
    }
}
