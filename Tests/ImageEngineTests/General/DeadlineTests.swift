import TestSupport
import Synchronization
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

@Suite struct DeadlineTests {
    @Test func whatIsLeftCountsFromTheArrival() throws {
        let engine = try TestEngine()
        func rest(_ seconds: Double?, arrived: Int? = nil, at now: Int) -> Int? {
            ImageRequest(
                Resource(url: "u"), in: engine.cache, options: ImageOptions { $0.caller.deadline = seconds }, needs: [],
                caller: ImageCaller(priority: CallPriority(0.5), arrived: arrived)
            ).deadline(at: now)?.nanoseconds
        }
        #expect(rest(2, arrived: 500, at: 500) == 2_000_000_000 && rest(2, at: 900) == 2_000_000_000)
        #expect(rest(2, arrived: 500, at: 1_500_000_500) == 500_000_000)
        #expect(rest(2, arrived: 500, at: 2_000_000_500) == 0 && rest(2, arrived: 500, at: 9_000_000_000) == 0)
        #expect(rest(nil, arrived: 0, at: .max) == nil)
        #expect(rest(.nan, at: 0) == 0 && rest(-1, at: 0) == 0 && rest(1e300, at: 0) == 86_400_000_000_000)
    }

    private func deadline(_ seconds: Double) -> (error: ImageError, nanoseconds: Int) {
        (.timedOut(url: "u", option: "deadline", seconds: seconds), Int(seconds * 1e9))
    }

    /// Attempts at one source whose single attempt ends as `attempt` says.
    private func attempts(_ attempt: @escaping @Sendable (SourceAttempts<Int>.End) -> Void) -> SourceAttempts<Int> {
        SourceAttempts(["u"], NetworkOptions(), clock: { 0 }, hasNetwork: { true }) { _, _, end in
            attempt(end)
            return {}
        }
    }

    @Test func workThatIsLateIsStoppedAndItsErrorIsTheDeadline() async throws {
        let stopped = Gate()
        let late = SourceAttempts<Int>(["u"], NetworkOptions(), clock: { 0 }, hasNetwork: { true }) { _, _, _ in
            { stopped.open() }
        }
        await #expect(throws: ImageError.timedOut(url: "u", option: "deadline", seconds: 0.001)) {
            try await late.value(deadline: deadline(0.001))
        }
        await stopped.wait()
    }

    private let busy = ImageError.invalidStatusCode(503, url: "u", retryAfter: 30)

    /// Attempts at two sources, with retries: the first one is busy.
    private func busyFirst(_ other: @escaping @Sendable (SourceAttempts<Int>.End) -> Void) -> SourceAttempts<Int> {
        var options = NetworkOptions()
        options.retry = RetryStrategy(maxRetries: 9, interval: .seconds(0))
        return SourceAttempts(["u", "v"], options, clock: { 0 }, hasNetwork: { true }) { [busy] url, _, end in
            if url == "u" { end(.failure(busy)) } else { other(end) }
            return {}
        }
    }

    @Test func retryThatWouldBeginAfterTheDeadlineIsNotWaitedFor() async throws {
        #expect(try await busyFirst { $0(.success(5)) }.value(deadline: deadline(20)) == 5)
        let gone = ImageError.notCached(key: "k")
        let all = [ImageError.Attempt(url: "u", error: busy), ImageError.Attempt(url: "v", error: gone)]
        await #expect(throws: ImageError.afterAttempts(all)) {
            try await busyFirst { $0(.failure(gone)) }.value(deadline: deadline(20))
        }
    }

    @Test func deadlineLeavesTheErrorsOfEarlierAttempts() async throws {
        let late = ImageError.timedOut(url: "u", option: "deadline", seconds: 0.5)
        let all = [ImageError.Attempt(url: "u", error: busy), ImageError.Attempt(url: "v", error: late)]
        await #expect(throws: ImageError.afterAttempts(all)) {
            try await busyFirst { _ in }.value(deadline: deadline(0.5))
        }
    }

    /// The function that stops an attempt holds the attempt, which holds what it reports to.
    @Test(arguments: [true, false]) func nothingOfWorkThatHasEndedIsHeld(isLate: Bool) {
        let later = Later()
        func work() -> Held {
            let token = Token()
            let work = SourceAttempts<Int>(["u"], NetworkOptions(), clock: { 0 }, hasNetwork: { true }) { _, _, end in
                if isLate { later.end.withLock { $0 = end } } else { end(.success(5)) }
                return { _ = (token, end) }
            }
            work.start { _ in }
            return Held(token: token)
        }
        let held = work()
        later.end.withLock { $0.take() }?(.success(5))
        #expect(held.token == nil)
    }

    @Test func workThatEndsInTimeHasItsOwnResult() async throws {
        let five = attempts { $0(.success(5)) }
        #expect(try await five.value(deadline: deadline(3600)) == 5)
        let failing = attempts { $0(.failure(ImageError.notCached(key: "k"))) }
        await #expect(throws: ImageError.notCached(key: "k")) {
            try await failing.value(deadline: deadline(3600))
        }
    }
}

private final class Token: Sendable {}

/// What may have been freed.
private struct Held: Sendable {
    weak let token: Token?
}

/// Ends an attempt after it has started.
private final class Later: Sendable {
    let end = Mutex<SourceAttempts<Int>.End?>(nil)
}
