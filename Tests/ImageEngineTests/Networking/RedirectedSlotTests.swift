import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Slots are counted where requests go, not where they went first.
@Suite struct RedirectedSlotTests {
    private let picture = hollowPNG(width: 7)
    private let gate = Gate()

    private func caller(_ engine: TestEngine, _ url: String) -> Task<ImageResult, any Error> {
        Task { try await engine.image(url) }
    }

    /// Along redirects.
    @Test func manyHostsThatRedirectToOneMakeNoMoreConnectionsThereThanAllowed() async throws {
        let engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.downloader.maxDownloadsPerHost = 2
        }
        let target = try LocalServer { [gate, picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { target.stop() }
        let servers = try (0..<6).map { _ in try LocalServer { .redirect(to: target.url($0.path)) } }
        defer { for server in servers { server.stop() } }
        let callers = (0..<12).map { caller(engine, servers[$0 % 6].url("/\($0)")) }
        try await eventually("all but two wait at the target") {
            let statistics = engine.manager.statistics
            return statistics.runningDownloads == 2 && statistics.waitingDownloads == 10
                && servers.allSatisfy { $0.requests.count == 2 }
        }
        try await eventually { target.requests.count == 2 }
        // Neither do those who wait stand in the way of others.
        let other = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { other.stop() }
        _ = try await engine.image(other.url("/x"))
        gate.open()
        for caller in callers { _ = try await caller.value }
        #expect(target.requests.count == 12)
        #expect(target.mostActive == 2)
    }

    @Test func callerWhoLeavesWhileItWaitsAtTheTargetLeavesNothingBehind() async throws {
        let engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.downloader.maxDownloadsPerHost = 1
        }
        let target = try LocalServer { [gate, picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { target.stop() }
        let server = try LocalServer { .redirect(to: target.url($0.path)) }
        defer { server.stop() }
        let first = caller(engine, target.url("/0"))
        try await eventually { target.requests.count == 1 }
        let second = caller(engine, server.url("/1"))
        try await eventually { engine.manager.statistics.waitingDownloads == 1 && server.requests.count == 1 }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await eventually { engine.manager.statistics.waitingDownloads == 0 }
        gate.open()
        _ = try await first.value
        #expect(target.requests.count == 1)
        try await eventually { engine.manager.statistics.runningDownloads == 0 }
    }

    @Test func hostsThatRedirectToEachOtherDoNotWaitForEachOther() async throws {
        let engine = try TestEngine {
            $0.downloader.proxy = .none
            $0.downloader.maxDownloadsPerHost = 1
            $0.downloader.maxConcurrentDownloads = 2
        }
        let second = try LocalServer { [picture] request in
            request.path.hasPrefix("/end") ? .reply(200, [:], picture) : .redirect(to: request.path + "/back")
        }
        defer { second.stop() }
        let first = try LocalServer { [picture, gate] request in
            request.path.hasPrefix("/end")
                ? .reply(200, [:], picture)
                : Script.empty.waiting(for: gate).followed(by: .redirect(to: second.url("/end" + request.path)))
        }
        defer { first.stop() }
        let third = try LocalServer { [gate] request in
            Script.empty.waiting(for: gate).followed(by: .redirect(to: first.url("/end" + request.path)))
        }
        defer { third.stop() }
        let callers = (0..<10).map { caller(engine, ($0 % 2 == 0 ? first : third).url("/\($0)")) }
        try await eventually { engine.manager.statistics.runningDownloads == 2 }
        gate.open()
        for caller in callers { _ = try await caller.value }
        #expect([first, second, third].allSatisfy { $0.mostActive == 1 })
    }

    /// Many for one host, all cancelled.
    @Test func thousandsThatWaitAreCancelled() async throws {
        let engine = try TestEngine { $0.downloader.proxy = .none }
        let server = try LocalServer { [gate, picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { server.stop() }
        let callers = (0..<2000).map { caller(engine, server.url("/\($0)")) }
        try await eventually("all wait") {
            let statistics = engine.manager.statistics
            return statistics.runningDownloads == 4 && statistics.waitingDownloads == 1996
        }
        for caller in callers { caller.cancel() }
        var cancelled = 0
        for caller in callers { if case .failure(is CancellationError) = await caller.result { cancelled += 1 } }
        #expect(cancelled == 2000)
        try await eventually("nothing is left") {
            let statistics = engine.manager.statistics
            return statistics.runningDownloads == 0 && statistics.waitingDownloads == 0
        }
        #expect(server.requests.count <= 100, "those that ran, and few that came after them before they were cancelled")
        try await eventually("the connections are gone") { server.droppedCount == server.requests.count }
    }
}
