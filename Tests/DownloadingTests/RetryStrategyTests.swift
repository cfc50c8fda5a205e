import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// When a failed download is tried again, and after how long.
@Suite struct RetryStrategyTests {
    private static let lost = ImageError.connectionFailed(url: "u", reason: "r")

    @Test(
        arguments: [
            (RetryStrategy.never, 1, nil),
            (RetryStrategy(maxRetries: 2, interval: .seconds(3)), 1, 3.0),
            (RetryStrategy(maxRetries: 2, interval: .seconds(3)), 2, 3.0),
            (RetryStrategy(maxRetries: 2, interval: .seconds(3)), 3, nil),
            (RetryStrategy(maxRetries: 9, interval: .exponential(1)), 1, 1.0),
            (RetryStrategy(maxRetries: 9, interval: .exponential(1)), 2, 2.0),
            (RetryStrategy(maxRetries: 9, interval: .exponential(1)), 5, 16.0),
            (RetryStrategy(maxRetries: 9, interval: .exponential(1)), 7, 60.0),
            (RetryStrategy(maxRetries: .max, interval: .exponential(1)), .max, 60.0),
            (RetryStrategy(maxRetries: 9, interval: .exponential(0)), 9, 0.0),
            (RetryStrategy(maxRetries: 9, interval: .exponential(1e308)), 9, 60.0),
            (RetryStrategy(maxRetries: 9, interval: .seconds(-5)), 1, 0.0),
            (RetryStrategy(maxRetries: 9, interval: .seconds(.infinity)), 1, 60.0),
            (RetryStrategy(maxRetries: 9, interval: .seconds(.nan)), 1, 0.0),
            (RetryStrategy(maxRetries: 9, interval: .exponential(.nan)), 1, 0.0),
            (RetryStrategy(maxRetries: -1, interval: .seconds(1)), 1, nil),
        ] as [(RetryStrategy, Int, Double?)])
    func pauseBeforeARetry(_ strategy: RetryStrategy, _ attempt: Int, _ delay: Double?) {
        #expect(strategy.delay(before: attempt, after: Self.lost) == delay)
    }

    @Test(arguments: [
        (ImageError.connectionFailed(url: "", reason: ""), true),
        (.timedOut(url: "", option: "timeout", seconds: 1), true),
        (.invalidStatusCode(503, url: ""), true), (.invalidStatusCode(429, url: ""), true),
        (.invalidStatusCode(408, url: ""), true), (.invalidStatusCode(404, url: ""), false),
        (.invalidStatusCode(401, url: ""), false), (.invalidStatusCode(501, url: ""), false),
        (.badData(reason: "", source: ""), false), (.notModified(url: ""), false), (.notCached(key: ""), false),
        (.limitExceeded(limit: "", reason: "", source: ""), false), (.invalidURL("", reason: ""), false),
        (.tlsFailed(url: "", reason: ""), false), (.storageFailed(reason: "", hint: ""), false),
        (.processingFailed(reason: ""), false), (.dataModifyingFailed(reason: "", source: ""), false),
        (.forbiddenAddress(url: "", reason: ""), false),
    ])
    func onlyWhatMaySucceedLaterIsTriedAgain(_ error: ImageError, _ isTried: Bool) {
        let strategy = RetryStrategy(maxRetries: 1, interval: .seconds(0))
        #expect((strategy.delay(before: 1, after: error) != nil) == isTried)
    }
}
