import CTestSupport
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// The one thread that moves all transfers: nothing that one of them meets may keep it from the others.
@Suite struct TransportTests {
    @Test func connectionsAreClosedWhenNothingHasBeenLoadedForAWhile() async throws {  // C14
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let downloader = try TestDownloader {
            $0.network.idleSpan = 1_000_000
        }
        for round in 1...3 {
            _ = try await downloader.load(server.url("/\(round)"))
            try await eventually("it is closed") { server.openCount == 0 }
        }
        #expect(server.connectionCount == 3)
    }

    @Test func whatIsNoGetLeavesNoConnectionBehind() async throws {
        let picture = hollowPNG(width: 7)
        let server = try LocalServer { _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let downloader = try TestDownloader()
        for round in 1...5 {
            _ = try await downloader.load(server.url("/\(round)")) {
                ($0.request.method, $0.request.body) = (.post, [1])
            }
            try await eventually("it is closed") { server.openCount == 0 }
        }
        for round in 6...8 { _ = try await downloader.load(server.url("/\(round)")) }
        #expect(server.connectionCount == 6 && server.openCount == 1)
    }

    private let picture = hollowPNG(width: 7)

    @Test func nameServerThatIsSilentHoldsUpNobodyElse() async throws {
        let downloader = try TestDownloader()
        let server = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        hl_hold_resolver()
        defer { hl_release_resolver() }
        let error = try await downloader.failure("http://silent.test/a") { $0.limits.timeout = 0.1 }
        #expect(error == .timedOut(url: "http://silent.test/a", option: "timeout", seconds: 0.1))
        #expect(hl_held_resolutions() == 1, "libcurl still asks")
        // More than one, for the first may come before the transfer that failed is let go.
        for number in 0..<3 {
            let other = Task { try await downloader.load(server.url("/\(number)")) }
            try await eventually("another transfer goes on") { server.requestCount("/\(number)") == 1 }
            _ = try await other.value
        }
        #expect(hl_held_resolutions() == 1)
    }

    @Test func withoutMemoryForATransportDownloadsFailAndTheNextTriesAgain() async throws {
        let server = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { server.stop() }
        let attempts = Counter()
        let downloader = try TestDownloader {
            let makeMulti = $0.network.makeMulti
            $0.network.makeMulti = { attempts.add() <= 2 ? nil : makeMulti() }
        }
        for _ in 0..<2 {
            guard case .connectionFailed = try await downloader.failure(server.url("/a")) else {
                Issue.record("it did not fail")
                return
            }
        }
        #expect(try await downloader.failure(server.url("/a")) == nil)
        #expect(attempts.value == 3)
    }
}
