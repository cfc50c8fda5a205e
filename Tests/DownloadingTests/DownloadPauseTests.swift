import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Downloads that are not started for now, and so many a second from one host.
@Suite struct DownloadPauseTests {
    private let second = 1_000_000_000

    private func started(_ queue: inout NumberedQueue, at now: Int = 0) -> UInt64? {
        if case .download(let id) = queue.start(at: now) { return id }
        return nil
    }

    // MARK: Pausing

    @Test func pausedQueueStartsNothingAndKeepsItsOrder() {
        var queue = NumberedQueue(limits: .init(perHost: 9, total: 9))
        queue.enqueue(1, host: "h", priority: 0.5)
        #expect(started(&queue) == 1)
        for id: UInt64 in 2...4 { queue.enqueue(id, host: "h", priority: id == 4 ? 1 : 0.5) }
        queue.enqueue(5, host: "g", priority: CallPriority.background)
        queue.pause = .all
        #expect(queue.start(at: 0) == .none)
        #expect(queue.runningCount == 1 && queue.waitingCount == 4, "what runs goes on")
        queue.pause = .prefetch
        #expect([4, 2, 3, nil] == (0..<4).map { _ in started(&queue) })
        queue.setPriority(5, to: 0)
        #expect(started(&queue) == 5, "somebody waits for it now")
        queue.enqueue(6, host: "g", priority: CallPriority.background)
        queue.pause = .none
        #expect(started(&queue) == 6)
    }

    @Test func pausedDownloaderAnswersWhenItIsResumed() async throws {
        let web = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        defer { web.stop() }
        let downloader = try TestDownloader()
        downloader.downloader.pause(.all)
        let caller = Task { try await downloader.load(web.url("/a")) }
        let other = Task { try await downloader.load(web.url("/b")) }
        try await eventually { downloader.downloader.load.waiting == 2 }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        #expect(web.requests.isEmpty)
        downloader.downloader.pause(.none)
        #expect(try await caller.value.body.bytes() == hollowPNG(width: 7))
        #expect(web.requests.count == 1)
    }

    // MARK: Rate of a host

    @Test func eachHostHasItsOwnRate() {
        var queue = NumberedQueue(limits: .init(perHost: 99, total: 99), hostRate: HostRate(rate: 10, burst: 2))
        for id: UInt64 in 1...4 { queue.enqueue(id, host: "a", priority: 1) }
        for id: UInt64 in 11...14 { queue.enqueue(id, host: "b", priority: 0.5) }
        #expect([1, 2, 11, 12, nil] == (0..<5).map { _ in started(&queue) }, "one host holds up no other")
        #expect(queue.start(at: 0) == .wait(second / 10))
        queue.remove(3)
        #expect(started(&queue, at: second / 10) == 4, "what was cancelled took no token")
        #expect(started(&queue, at: second / 10) == 13)
        #expect(queue.start(at: second / 10) == .wait(second / 10))
        queue.enqueue(21, host: "c", priority: 0)
        #expect(started(&queue, at: second / 10) == 21)
        #expect(started(&queue, at: 10 * second) == 14)
        #expect(queue.start(at: 10 * second) == .none)
        #expect(queue.waitingCount == 0)
    }

    @Test func rateOfAHostAndThatOfAllHoldTogether() {
        var queue = NumberedQueue(
            limits: .init(perHost: 99, total: 99), bucket: TokenBucket(rate: 1, burst: 3, at: 0),
            hostRate: HostRate(rate: 1, burst: 1))
        for id: UInt64 in 1...6 { queue.enqueue(id, host: "\(id % 3)", priority: 0.5) }
        #expect([1, 2, 3, nil] == (0..<4).map { _ in started(&queue) })
        #expect(queue.start(at: second - 1) == .wait(1))
        #expect(started(&queue, at: second) == 4)
        #expect(queue.start(at: second) == .wait(second), "the token of all is taken")
        #expect(started(&queue, at: 2 * second) == 5 && started(&queue, at: 3 * second) == 6)
    }

    /// Against a queue without rates: what starts is the same, only later, and never faster than allowed.
    @Test(arguments: 0..<10 as Range<UInt64>)
    func everythingStartsInTheEndAndNoHostTooOften(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var queue = NumberedQueue(limits: .init(perHost: 3, total: 5), hostRate: HostRate(rate: 4, burst: 2))
        var hosts: [UInt64: String] = [:]
        for id: UInt64 in 1...60 {
            hosts[id] = "\(Int.random(in: 0..<4, using: &generator))"
            queue.enqueue(id, host: hosts[id] ?? "", priority: Double(Int.random(in: 0...2, using: &generator)) / 2)
        }
        var (now, starts, running): (Int, [String: [Int]], [UInt64]) = (0, [:], [])
        while queue.waitingCount > 0, now < 1000 * second {
            switch queue.start(at: now) {
            case .download(let id):
                starts[hosts[id] ?? "", default: []].append(now)
                running.append(id)
            case .wait(let nanoseconds):
                #expect(nanoseconds > 0)
                if let id = running.popLast() { queue.remove(id) } else { now += nanoseconds }
            case .none:
                guard let id = running.popLast() else {
                    Issue.record("nothing runs and nothing may start")
                    return
                }
                queue.remove(id)
            }
        }
        #expect(starts.values.reduce(0) { $0 + $1.count } == 60)
        for times in starts.values {
            for (index, time) in times.enumerated().dropFirst(2) {
                #expect(time - times[index - 2] >= second / 4, "two at once, then four a second")
            }
        }
    }

    @Test func ratesOfManyHostsTakeBoundedMemory() {
        var rate = HostRate(rate: 1000, burst: 1)
        for number in 0..<10_000 {
            rate.countStart(of: "\(number)", at: number * second)
            #expect(rate.delay(of: "\(number)", at: number * second) == second / 1000)
        }
        #expect(rate.buckets.count <= 1025)
    }
}
