import Foundation
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// What waits to be stored is in memory only as far as that is bounded for all downloads together.
@Suite struct BodyMemoryTests {
    @Test func whileBodiesAreHeldBackOneDownloadRunsAtATime() {
        var queue = NumberedQueue(limits: DownloadQueue.Limits(perHost: 4, total: 8, connections: 8))
        for id in 1...6 as ClosedRange<UInt64> { queue.enqueue(id, host: "a", priority: 0.5) }
        #expect(queue.start(at: 0, isHeldBack: true) == .download(1))
        #expect(queue.start(at: 0, isHeldBack: true) == .wait(DownloadQueue.holdBackSpan))
        queue.setStalled(1, true)
        #expect(queue.start(at: 0, isHeldBack: true) == .download(2), "a silent server holds up nobody")
        queue.remove(2)
        #expect(queue.start(at: 0, isHeldBack: true) == .download(3))
        #expect(queue.start(at: 0) == .download(4))
        queue.remove(5)
        queue.remove(6)
        #expect(queue.start(at: 0, isHeldBack: true) == .none)
    }

    /// The bodies are kept here as long as they would wait for a slow disk.
    @Test func downloadsWaitUntilBodiesAreUsedUp() async throws {
        let size = BodySpool.memoryLimit
        let picture = hollowPNG(width: 3, count: size - 100)
        let server = try LocalServer { request in
            request.path.hasPrefix("/held") ? Script.empty.waiting(for: Gate()) : .reply(200, [:], picture)
        }
        defer { server.stop() }
        let downloader = try TestDownloader { $0.maxDownloadsPerHost = 64 }
        var bodies: [DownloadedBody] = []
        var held = 0
        while held < BodyMemory.limit {
            bodies.append(try await downloader.load(server.url("/\(bodies.count)")).body)
            held += bodies.last?.count ?? 0
        }
        #expect(bodies.filter { !$0.isInMemory }.isEmpty)
        let before = server.requests.count
        let waiting = (0..<4).map { number in Task { try await downloader.load(server.url("/held/\(number)")) } }
        try await eventually("all in the queue") {
            downloader.downloader.load.running == 1 && downloader.downloader.load.waiting == 3
        }
        #expect(server.requests.count <= before + 1)
        bodies = []
        try await eventually("the rest starts") { server.requests.count == before + 4 }
        for task in waiting { task.cancel() }
    }
}
