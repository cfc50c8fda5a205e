import Synchronization
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// What is told of transfers that have ended.
@Suite struct ReportTests {
    private let downloader: TestDownloader
    private let reports = Gathered<DownloadReport>()
    private let picture = hollowPNG(width: 7)

    init() throws {
        downloader = try TestDownloader()
        downloader.downloader.onFinish { [reports] in reports.add($0) }
    }

    @Test func everyTransferIsToldOfOnceWithItsTimes() async throws {
        let server = try LocalServer(routes: [
            "/a": .redirect(to: "/b"), "/b": .reply(200, [:], picture), "/c": .reply(200, [:], picture),
        ])
        defer { server.stop() }
        _ = try await downloader.load(server.url("/a"))
        _ = try await downloader.load(server.url("/c"))
        _ = try await downloader.failure(server.url("/missing"))
        let all = reports.all
        #expect(all.map(\.url) == ["/a", "/c", "/missing"].map(server.url))
        #expect(all.map(\.finalURL) == ["/b", "/c", "/missing"].map(server.url))
        #expect(all.map(\.status) == [200, 200, 404] && all.map(\.bytes) == [picture.count, picture.count, 0])
        #expect(all.map(\.redirects) == [1, 0, 0] && all.map(\.isReused) == [true, true, true])
        #expect(all.map(\.errorName) == [nil, nil, "invalidStatusCode"])
        for report in all {
            let firstByte = try #require(report.firstByte)
            #expect(report.seconds > 0 && firstByte > 0 && firstByte <= report.seconds && report.httpVersion == "1.1")
            #expect(!report.fromRevalidation && !report.isCancelled && report.tls == 0)
        }
        #expect(all[0].connect > 0 && all[1].connect == 0, "the first connected for all")
    }

    @Test func callersWhoShareATransferShareItsReport() async throws {
        let gate = Gate()
        let server = try LocalServer { [picture] _ in
            Script.empty.waiting(for: gate).followed(by: .reply(200, [:], picture))
        }
        defer { server.stop() }
        let tasks = (0..<5).map { _ in Task { [downloader] in try await downloader.load(server.url("/a")) } }
        try await eventually { [downloader] in downloader.downloader.counts.merged == 4 }
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(reports.all.count == 1)
    }

    @Test(arguments: [false, true]) func cancelledTransferIsToldOf(_ isReused: Bool) async throws {
        let gate = Gate()
        defer { gate.open() }
        let server = try LocalServer { [picture] request in
            request.path == "/before" ? .reply(200, [:], picture) : Script.empty.waiting(for: gate)
        }
        defer { server.stop() }
        let count = isReused ? 2 : 1
        if isReused { _ = try await downloader.load(server.url("/before")) }
        let task = Task { [downloader] in try await downloader.load(server.url("/a")) }
        try await eventually { server.requests.count == count }
        task.cancel()
        _ = await task.result
        try await eventually { [reports] in reports.all.count == count }
        let report = reports.all[count - 1]
        #expect(report.isCancelled && report.errorName == "requestCancelled")
        #expect(report.status == nil && report.firstByte == nil)
        #expect(report.isReused == isReused, "whether or not an answer came")
    }

    @Test func whatIsNeverConnectedUsesNoConnectionAgain() async throws {
        let port = try DeafPort()
        defer { withExtendedLifetime(port) {} }
        #expect(try await downloader.failure(port.url("/a"))?.name == "connectionFailed")
        #expect(reports.all.count == 1 && !reports.all[0].isReused && reports.all[0].status == nil)
    }

    @Test func answerThatIsTooLongByItsHeadIsToldOfWithItsStatus() async throws {
        let server = try LocalServer(routes: ["/a": .reply(200, [:], picture)])
        defer { server.stop() }
        #expect(try await downloader.failure(server.url("/a")) { $0.limits.maxBytes = 1 }?.name == "limitExceeded")
        let report = try #require(reports.all.first)
        #expect(report.status == 200 && report.bytes == 0 && report.errorName == "limitExceeded")
        #expect(report.firstByte != nil && report.httpVersion == "1.1")
    }
}
