import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// When a transfer has waited long enough.
@Suite struct TransferPaceTests {
    private let second = 1_000_000_000

    /// A transfer with one caller.
    private struct Pace {
        var transfer: TransferPace
        let patience: TransferPace.Patience
        var isStalled: Bool { transfer.isStalled }

        init(timeout: Double, minBytesPerSecond: Double, now: Int) {
            transfer = TransferPace(minBytesPerSecond: minBytesPerSecond, now: now)
            patience = .init(timeout: timeout, minBytesPerSecond: minBytesPerSecond)
            _ = transfer.verdict(at: now, for: patience)
        }

        mutating func received(_ count: Int, at now: Int) { transfer.received(count, at: now) }
        mutating func pause() { transfer.pause() }
        mutating func resume(at now: Int) {
            transfer.resume(at: now)
            _ = transfer.verdict(at: now, for: patience)
        }
        mutating func discard(at now: Int) { transfer.discard(at: now) }

        mutating func verdict(at now: Int) -> TransferPace.Verdict {
            let verdicts = [transfer.verdict(at: now), transfer.verdict(at: now, for: patience)]
            var due = Int.max
            for verdict in verdicts {
                guard case .continues(let time) = verdict else { return verdict }
                due = min(due, time)
            }
            return .continues(until: due)
        }
    }

    private func pace(least: Double = 100) -> Pace { Pace(timeout: 15, minBytesPerSecond: least, now: 0) }

    /// What becomes of a transfer to which `count` bytes come every `pause` seconds, within an hour.
    private func fate(
        _ count: Int, every pause: Double, _ pace: Pace
    ) -> (verdict: TransferPace.Verdict?, at: Double) {
        var pace = pace
        var now = 0
        var next = Int(pause * 1e9)
        while now < 3600 * second {
            let verdict = pace.verdict(at: now)
            guard case .continues(let due) = verdict else { return (verdict, Double(now) / 1e9) }
            #expect(due > now, "there is always a time to look again")
            now = min(due, next)
            if now == next {
                pace.received(count, at: now)
                next += Int(pause * 1e9)
            }
        }
        return (nil, 3600)
    }

    @Test(
        arguments: [
            // Silence, whatever came before.
            (1_000_000, 16, "timeout", 15), (0, 3600, "timeout", 15),
            // One byte now and then.
            (1, 1, "minBytesPerSecond", 30), (1, 14, "minBytesPerSecond", 30), (99, 1, "minBytesPerSecond", 30),
            // Slow, but honest.
            (1000, 1, nil, 3600), (101, 1, nil, 3600), (15_000, 14.9, nil, 3600),
        ] as [(Int, Double, String?, Double)])
    func silenceAndDripsEndATransferAndASlowLinkDoesNot(
        _ count: Int, _ pause: Double, _ option: String?, _ seconds: Double
    ) {
        let (verdict, time) = fate(count, every: pause, pace())
        #expect(verdict == option.map { .timedOut(option: $0, seconds: seconds) })
        #expect(time == seconds)
    }

    @Test func transferThatTurnsIntoADripEndsWithinTwoSpans() {
        var pace = pace()
        pace.received(100 << 20, at: 29 * second)
        #expect(pace.verdict(at: 30 * second) == .continues(until: 31 * second))
        for time in 31..<60 {
            pace.received(1, at: time * second)
            guard case .continues = pace.verdict(at: time * second) else {
                Issue.record("ended at \(time)")
                return
            }
        }
        #expect(pace.verdict(at: 60 * second) == .timedOut(option: "minBytesPerSecond", seconds: 30))
    }

    @Test func withoutALeastSpeedAnyDripWillDo() {
        let (verdict, _) = fate(1, every: 14, pace(least: 0))
        #expect(verdict == nil)
    }

    @Test func whatWaitsForUsIsNotTheServersDoing() {
        var held = pace()
        held.pause()
        #expect(held.verdict(at: 1000 * second) == .continues(until: .max))
        held.resume(at: 1000 * second)
        #expect(held.verdict(at: 1000 * second) == .continues(until: 1001 * second))
        #expect(held.verdict(at: 1015 * second) == .timedOut(option: "timeout", seconds: 15))
    }

    /// Long before silence ends it, others may run beside it.
    @Test func transferIsStalledAfterASecondOfSilenceUntilBytesCome() {
        var pace = pace()
        #expect(pace.verdict(at: second - 1) == .continues(until: second) && !pace.isStalled)
        #expect(pace.verdict(at: second) == .continues(until: 2 * second) && pace.isStalled)
        pace.received(200, at: 5 * second)
        #expect(!pace.isStalled)
        #expect(pace.verdict(at: 5 * second) == .continues(until: 6 * second) && !pace.isStalled)
        pace.received(100, at: 6 * second - 1)
        #expect(pace.verdict(at: 6 * second) == .continues(until: 7 * second - 1) && !pace.isStalled)
        #expect(pace.verdict(at: 7 * second) == .continues(until: 8 * second) && pace.isStalled)
    }

    @Test(arguments: [(1, 0.1, true), (9, 0.1, true), (20, 0.1, false), (1000, 0.9, false), (1000, 1.5, true)])
    func dripIsAsGoodAsSilence(_ count: Int, _ pause: Double, _ stalls: Bool) {
        var pace = pace()
        var hasStalled = false
        for step in 1...100 {
            let now = Int(Double(step) * pause * 1e9)
            _ = pace.verdict(at: now)
            hasStalled = hasStalled || pace.isStalled
            pace.received(count, at: now)
        }
        #expect(hasStalled == stalls)
    }

    @Test func whatWaitsForUsIsNotStalled() {
        var pace = pace()
        pace.pause()
        _ = pace.verdict(at: 100 * second)
        #expect(!pace.isStalled)
        pace.resume(at: 100 * second)
        _ = pace.verdict(at: 101 * second)
        #expect(pace.isStalled)
    }

    @Test func restOfAUselessBodyIsHardlyWaitedFor() {
        var pace = pace()
        pace.discard(at: second)
        #expect(pace.verdict(at: second) == .continues(until: second + TransferPace.discardSpan))
        #expect(pace.verdict(at: second + TransferPace.discardSpan) == .discardEnded)
    }

    /// One who joins has not waited as long as the transfer has been silent, and is held to its own limits.
    @Test func eachCallerIsTimedFromItsFirstCheck() {
        var transfer = TransferPace(minBytesPerSecond: 100, now: 0)
        let (first, late) = (
            TransferPace.Patience(timeout: 15, minBytesPerSecond: 0),
            TransferPace.Patience(timeout: 3, minBytesPerSecond: 100)
        )
        #expect(transfer.verdict(at: 0, for: first) == .continues(until: 15 * second))
        #expect(transfer.verdict(at: 10 * second, for: late) == .continues(until: 13 * second))
        #expect(transfer.verdict(at: 13 * second, for: late) == .timedOut(option: "timeout", seconds: 3))
        transfer.received(1, at: 14 * second)
        #expect(transfer.verdict(at: 16 * second, for: late) == .timedOut(option: "minBytesPerSecond", seconds: 6))
        #expect(transfer.verdict(at: 28 * second, for: first) == .continues(until: 29 * second))
        #expect(transfer.verdict(at: 29 * second, for: first) == .timedOut(option: "timeout", seconds: 15))
    }

    @Test(arguments: [0, 1e-9, 1e8])
    func absurdTimesNeverTrap(_ timeout: Double) {
        for least in [0, 1e-9, 1e8] {
            var pace = Pace(timeout: timeout, minBytesPerSecond: least, now: 1 << 60)
            pace.received(1 << 40, at: 1 << 60)
            _ = pace.verdict(at: 1 << 60)
            _ = pace.verdict(at: (1 << 60) + 1)
        }
    }

    /// With plain requests, servers that accept and say nothing keep nobody from others.
    @Test func silentServersHoldUpNoOtherDownload() async throws {
        let downloader = try TestDownloader {
            $0.maxConcurrentDownloads = 2
        }
        let gate = Gate()
        let silent = try (0..<3).map { _ in
            try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(200, [:], hollowPNG(width: 3))) }
        }
        defer { for server in silent { server.stop() } }
        let callers = (0..<6).map { number in Task { try await downloader.load(silent[number / 2].url("/\(number)")) } }
        try await eventually("all are connected, beyond the limit") { silent.allSatisfy { $0.requests.count == 2 } }
        let good = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 4)) }
        defer { good.stop() }
        #expect(try await downloader.bytes(good.url("/a")) == hollowPNG(width: 4))
        try await eventually("all are stalled") { downloader.downloader.load.stalled == 6 }
        gate.open()
        for caller in callers { #expect(try await caller.value.body.bytes() == hollowPNG(width: 3)) }
        try await eventually { downloader.downloader.load.running == 0 }
        #expect(downloader.downloader.load.stalled == 0)
    }

    /// C4, over a connection: the pieces come far more often than the timeout.
    @Test func serverThatDripsLosesItsSlot() async throws {
        let downloader = try TestDownloader()
        let server = try LocalServer { _ in Script.head(200, length: 1 << 20).dripping(Array("x".utf8)) }
        defer { server.stop() }
        let error = try await downloader.failure(server.url("/a")) {
            $0.limits.timeout = 3
            $0.limits.minBytesPerSecond = 1_000_000
        }
        #expect(error == .timedOut(url: server.url("/a"), option: "minBytesPerSecond", seconds: 6))
    }
}
