import Foundation
import ImageRecipes
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The times of the frames of an animation: the same from the header as from the worker, and kept beside the image.
@Suite struct StoredTimingTests {
    private func header(_ bytes: [UInt8]) throws -> ImageHeader { try bytes.withUnsafeBytes { try ImageHeader($0) } }

    /// What the worker's library says of an animation.
    private func told(_ bytes: [UInt8], _ worker: CodecChild) async throws -> FrameTiming {
        let folder = try TemporaryFolder()
        let source = folder.path + "/source"
        try Data(bytes).write(to: URL(fileURLWithPath: source))
        let output = RenderOutput(steps: [], rule: .pixels, path: folder.path + "/out")
        let reply = try await worker.render(
            RenderRequest(source: source, format: try header(bytes).format.rawValue, outputs: [output]))
        guard case .finished(let image) = reply.outcomes.first else { throw CocoaError(.fileReadCorruptFile) }
        return FrameTiming(delays: image.delays, loopCount: image.loopCount)
    }

    @Test func theHeaderSaysWhatTheWorkerSays() async throws {
        let worker = try await CodecChild()
        var animations = Fixtures.valid.filter { $0.frameCount ?? 1 > 1 }.filter {
            ["gif", "png", "webp"].contains($0.format)
        }.map { (name: $0.file, bytes: (try? $0.bytes) ?? []) }
        #expect(animations.count >= 5)
        for loops in [nil, 0, 1, 3, 300] {
            animations.append(("loops \(loops ?? -1)", animatedGIF([5, 100], loops: loops)))
        }
        animations.append(("other name", animatedGIF([5, 0, 1, 2], loops: 2, as: "ANIMEXTS1.0")))
        for (name, bytes) in animations {
            let timing = try header(bytes).timing
            let said = try await told(bytes, worker)
            #expect(timing == said, "\(name)")
        }
    }

    @Test func theTextOfATimingIsReadAsItWasWritten() {
        let timing = FrameTiming(delays: [100, 100, 100, 40], loopCount: 7)
        #expect(FrameTiming(text: timing.text[...]) == timing)
    }

    @Test func itIsKnownOfWhatIsCachedAlsoAfterItsServerWasAskedAndAfterARestart() async throws {
        let picture = animatedGIF([5, 100], loops: 3)
        let server = try LocalServer { request in
            request.headers["if-none-match"] == nil
                ? .reply(200, ["ETag": "\"1\""], picture) : .reply(304, ["ETag": "\"1\""], [])
        }
        // Repeated three times, it is played four times.
        let timing = FrameTiming(delays: [50, 1000], loopCount: 4)
        let engine = try TestEngine()
        #expect(try await engine.image(server.url("/a")).record.timing == timing)
        #expect(try await engine.image(server.url("/a")).record.timing == timing)
        let checked = try await engine.image(server.url("/a")) { $0.lookup.revalidate = .always }
        #expect(checked.isRevalidated && checked.record.timing == timing)
        engine.manager.flush()
        let restarted = try TestEngine(folder: engine.folder)
        let found = try await restarted.image(server.url("/a"))
        #expect(found.cacheType == .disk && found.record.timing == timing)
        #expect(server.requests.count == 2)
    }
}
