import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Failures that would come again are remembered for a while.
@Suite struct NegativeCacheTests {
    private func request(
        _ url: String, _ change: (inout ImageOptions) -> Void = { _ in }
    ) throws -> NegativeCache.Request {
        let options = ImageOptions(change)
        return NegativeCache.Request(try DownloadRequest(url: url, options: options.network), options)
    }

    private func isRemembered(_ error: ImageError, for seconds: Double = 10, retryAfter: Double? = nil) throws -> Bool {
        var failures = NegativeCache()
        let request = try request("http://h/a")
        failures.note(error, of: request, for: seconds, retryAfter: retryAfter, now: 0)
        return failures.failure(of: request, now: 1) == error
    }

    @Test(
        arguments: [
            .invalidStatusCode(400, url: ""), .invalidStatusCode(401, url: ""), .invalidStatusCode(403, url: ""),
            .invalidStatusCode(404, url: ""), .invalidStatusCode(410, url: ""), .invalidStatusCode(451, url: ""),
            .badData(reason: "", source: ""), .forbiddenAddress(url: "", reason: ""),
            .limitExceeded(limit: "maxBytes", reason: "", source: ""),
        ] as [ImageError])
    func whatWouldComeAgainIsRemembered(_ error: ImageError) throws {
        #expect(try isRemembered(error))
    }

    @Test(
        arguments: [
            .invalidStatusCode(408, url: ""), .invalidStatusCode(429, url: ""), .invalidStatusCode(500, url: ""),
            .invalidStatusCode(503, url: ""), .connectionFailed(url: "", reason: ""),
            .timedOut(url: "", option: "timeout", seconds: 1), .tlsFailed(url: "", reason: ""), .notCached(key: ""),
            .offline(key: "", url: ""), .storageFailed(reason: "", hint: ""), .notModified(url: ""),
            .limitExceeded(limit: "bytesLimit", reason: "", source: ""), .remembered(.invalidStatusCode(404, url: "")),
            .downloadCancelledBeforeStarting(url: ""),
        ] as [ImageError])
    func whatMayPassIsNot(_ error: ImageError) throws {
        #expect(try !isRemembered(error))
    }

    @Test func serversWishToBeAskedLaterBoundsIt() throws {
        #expect(try isRemembered(.invalidStatusCode(503, url: ""), retryAfter: 5))
        #expect(try isRemembered(.invalidStatusCode(429, url: ""), retryAfter: 5))
        #expect(try !isRemembered(.invalidStatusCode(500, url: ""), retryAfter: 5))
        #expect(try !isRemembered(.invalidStatusCode(404, url: ""), retryAfter: 0))
        var failures = NegativeCache()
        let request = try request("http://h/a")
        for (seconds, retryAfter, end) in [(10.0, 5.0, 5), (10, 50, 10), (1e300, 1e300, 100_000_000)] {
            failures.note(.invalidStatusCode(404, url: ""), of: request, for: seconds, retryAfter: retryAfter, now: 0)
            #expect(failures.failure(of: request, now: end * 1_000_000_000 - 1) != nil)
            #expect(failures.failure(of: request, now: end * 1_000_000_000) == nil)
            #expect(failures.list(now: 0).isEmpty)
        }
    }

    /// A server under load is left alone as long as it asks for that, within reason.
    @Test(arguments: [(5.0, 5), (60, 60), (3600, 3600), (1e9, 3600)])
    func busyServerIsLeftAloneForAsLongAsItSays(_ retryAfter: Double, _ end: Int) throws {
        for status in [429, 503] {
            var failures = NegativeCache()
            let request = try request("http://h/a")
            failures.note(
                .invalidStatusCode(status, url: "", retryAfter: retryAfter), of: request, for: 10,
                retryAfter: retryAfter, now: 0)
            #expect(failures.failure(of: request, now: end * 1_000_000_000 - 1) != nil)
            #expect(failures.failure(of: request, now: end * 1_000_000_000) == nil)
        }
        #expect(try !isRemembered(.invalidStatusCode(503, url: ""), for: 0, retryAfter: 5), "nothing is to be")
    }

    @Test func whatIsLeftOfTheWaitIsTold() throws {
        var failures = NegativeCache()
        let (request, second) = (try request("http://h/a"), 1_000_000_000)
        func busy(_ seconds: Double) -> ImageError { .invalidStatusCode(503, url: "", retryAfter: seconds) }
        failures.note(busy(4), of: request, for: 10, retryAfter: 4, now: 7 * second)
        #expect(failures.failure(of: request, now: 7 * second) == busy(4))
        #expect(failures.failure(of: request, now: 8 * second + 1) == busy(3))
        #expect(failures.list(now: 10 * second).map(\.error) == [busy(1)])
        #expect(failures.failure(of: request, now: 11 * second - 1) == busy(1))
    }

    @Test func failuresAreForgottenByURLAndByKey() throws {
        var failures = NegativeCache()
        func note() throws {
            for (url, key) in [("http://h/a", "http://h/a"), ("http://h/a", "k"), ("http://h/b", "b")] {
                let request = try request(url) { $0.network.request.headers = ["X": key] }
                failures.note(.invalidStatusCode(404, url: url), of: request, key: key, for: 10, now: 0)
            }
        }
        try note()
        #expect(failures.count(now: 9_999_999_999) == 3 && failures.count(now: 10_000_000_000) == 0)
        for (name, count) in [("http://h/a", 2), ("k", 1), ("nothing", 0), (nil, 3)] {
            try note()
            #expect(failures.remove(name, now: 1) == count)
            #expect(failures.count(now: 1) == 3 - count)
        }
    }

    @Test func anotherRequestIsAnotherMatter() throws {
        var failures = NegativeCache()
        let plain = try request("http://h/a")
        failures.note(.invalidStatusCode(404, url: ""), of: plain, for: 10, now: 0)
        for other in [
            try request("http://h/b"), try request("http://h/a") { $0.network.request.headers = ["X": "1"] },
            try request("http://h/a") { $0.network.request.authorization = .bearer("t") },
            try request("http://h/a") { $0.network.limits.validStatusCodes = [404] },
            try request("http://h/a") { $0.network.limits.acceptContentTypes = ["image/*"] },
            try request("http://h/a") {
                $0.lookup.integrity = Integrity("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
            },
        ] { #expect(failures.failure(of: other, now: 1) == nil) }
        #expect(failures.failure(of: plain, now: 1) != nil)
        failures.forget(nil)
        #expect(failures.failure(of: plain, now: 1) == nil)
    }

    @Test func oldestFailuresGoWhenThereAreTooMany() throws {
        var failures = NegativeCache(limit: 4)
        let requests = try (0..<12).map { try request("http://h/\($0)") }
        for (moment, request) in requests.enumerated() {
            failures.note(.invalidStatusCode(404, url: ""), of: request, for: 100, now: moment)
            // The first is failed again and again, and so stays.
            failures.note(.invalidStatusCode(404, url: ""), of: requests[0], for: 100, now: moment)
            #expect(failures.count(now: moment) <= 4)
        }
        #expect(failures.failure(of: requests[0], now: 20) != nil)
        #expect(failures.failure(of: requests[11], now: 20) != nil)
        #expect(failures.failure(of: requests[5], now: 20) == nil)
        #expect(NegativeCache().limit == 1024)
    }
}
