import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// A download that failed for want of a network waits for it, and is tried again at once.
@Suite struct ConnectivityTests {
    private let second = 1_000_000_000

    // MARK: Deciding

    @Test func waitIsOverWhenTheNetworkComesOrTheTimeIsUp() {
        var wait = ConnectivityWait(limit: 1)
        #expect(wait.next(hasNetwork: false, at: 0) == .look(after: ConnectivityWait.interval))
        #expect(wait.next(hasNetwork: false, at: second - 1) == .look(after: 1))
        #expect(wait.next(hasNetwork: true, at: second - 1) == .retry)
        #expect(wait.next(hasNetwork: false, at: second) == .giveUp, "exactly once")
        var other = ConnectivityWait(limit: 1)
        _ = other.next(hasNetwork: false, at: 0)
        #expect(other.next(hasNetwork: false, at: second) == .giveUp)
        #expect(other.next(hasNetwork: false, at: second) == .giveUp)
    }

    @Test func failureOverANetworkThatIsThereIsNotWaitedFor() {
        var wait = ConnectivityWait(limit: 60)
        #expect(wait.next(hasNetwork: true, at: 0) == .giveUp)
        #expect(wait.next(hasNetwork: false, at: 1) == .look(after: ConnectivityWait.interval), "it may go later")
    }

    @Test(arguments: [nil, 0, -1, .nan] as [Double?])
    func nobodyWaitsWhoDidNotAsk(_ limit: Double?) {
        var wait = ConnectivityWait(limit: limit)
        #expect(wait.next(hasNetwork: false, at: 0) == .giveUp)
    }

    @Test func onlyWhatTheWantOfANetworkMakesIsWaitedFor() {
        for error in [
            ImageError.connectionFailed(url: "", reason: ""), .timedOut(url: "", option: "timeout", seconds: 1),
        ] {
            #expect(ConnectivityWait.concerns(error))
        }
        for error in [
            ImageError.invalidStatusCode(503, url: ""), .timedOut(url: "", option: "deadline", seconds: 1),
            .forbiddenAddress(url: "", reason: ""), .badData(reason: "", source: ""),
        ] {
            #expect(!ConnectivityWait.concerns(error))
        }
    }

    // MARK: Downloading

    /// A server that breaks the first connections off, and a network that is there when the gate is open.
    private func setUp(
        failures: Int, _ hasNetwork: @escaping @Sendable () -> Bool
    ) throws -> (web: LocalServer, engine: TestEngine) {
        let count = Atomic(0)
        let web = try LocalServer { _ in
            count.add(1, ordering: .relaxed).newValue <= failures
                ? Script.empty.resetting() : .reply(200, [:], hollowPNG(width: 7))
        }
        let engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.hasNetwork = hasNetwork
        }
        return (web, engine)
    }

    @Test func downloadIsTriedAgainWhenTheNetworkComes() async throws {
        let (gate, looked) = (Gate(), Gate())
        let (web, engine) = try setUp(failures: 1) {
            defer { looked.open() }
            return gate.isOpen
        }
        defer { web.stop() }
        let caller = Task { try await engine.image(web.url("/a")) { $0.network.waitForConnectivity = 1000 } }
        await looked.wait()
        #expect(engine.manager.statistics.runningDownloads == 0)
        #expect(engine.manager.statistics.waitingDownloads == 0, "no slot is held")
        gate.open()
        #expect(try await caller.value.record.header.width == 7)
        #expect(web.requests.count == 2)
    }

    @Test func waitHasAnEndAndIsTakenOnce() async throws {
        let looks = Atomic(0)
        // Away, back, and away again after the second failure.
        let (web, engine) = try setUp(failures: 9) { looks.add(1, ordering: .relaxed).newValue == 2 }
        defer { web.stop() }
        let error = try await engine.failure(web.url("/a")) { $0.network.waitForConnectivity = 1000 }
        #expect(error?.first.name == "connectionFailed")
        #expect(web.requests.count == 2)
        let lateLooks = Atomic(0)
        let (other, late) = try setUp(failures: 9) {
            lateLooks.add(1, ordering: .relaxed)
            return false
        }
        defer { other.stop() }
        let caller = Task { try await late.failure(other.url("/a")) { $0.network.waitForConnectivity = 10 } }
        try await eventually("it waits") { lateLooks.load(ordering: .relaxed) >= 2 }
        late.clock.advance(seconds: 11)
        #expect(try await caller.value?.first.name == "connectionFailed")
        #expect(other.requests.count == 1)
    }

    @Test func retriesAreCountedBesides() async throws {
        let looks = Atomic(0)
        let (web, engine) = try setUp(failures: 2) { looks.add(1, ordering: .relaxed).newValue != 1 }
        defer { web.stop() }
        _ = try await engine.image(web.url("/a")) {
            $0.network.waitForConnectivity = 1000
            $0.network.retry = RetryStrategy(maxRetries: 1, interval: .seconds(0))
        }
        #expect(web.requests.count == 3)
    }

    @Test func callerWhoLeavesOrWhoseTimeIsUpWaitsNoLonger() async throws {
        let (web, engine) = try setUp(failures: 9) { false }
        defer { web.stop() }
        let caller = Task { try await engine.image(web.url("/a")) { $0.network.waitForConnectivity = 1000 } }
        try await eventually { web.requests.count == 1 }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        let error = try await engine.failure(web.url("/b")) {
            $0.network.waitForConnectivity = 1000
            $0.caller.deadline = 0.3
        }
        #expect(error?.first.name == "connectionFailed", "the deadline ends the wait, and is not its reason")
    }
}
