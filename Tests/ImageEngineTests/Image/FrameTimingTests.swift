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

/// When the frames of an animation are shown, read from its header.
@Suite struct FrameTimingTests {
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

    /// A GIF of two pixels, with a delay in hundredths of a second for each frame, or none.
    private func gif(_ delays: [Int?], loops: Int?, as name: String = "NETSCAPE2.0") -> [UInt8] {
        var bytes = ascii("GIF89a") + [2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        if let loops {
            bytes += [0x21, 0xFF, 11] + ascii(name) + [3, 1, UInt8(loops & 255), UInt8(loops >> 8), 0]
        }
        for delay in delays {
            if let delay { bytes += [0x21, 0xF9, 4, 0, UInt8(delay & 255), UInt8(delay >> 8), 0, 0] }
            bytes += [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0]
        }
        return bytes + [0x3B]
    }

    @Test func theHeaderSaysWhatTheWorkerSays() async throws {
        let worker = try await CodecChild()
        var animations = Fixtures.valid.filter { $0.frameCount ?? 1 > 1 }.filter {
            ["gif", "png", "webp"].contains($0.format)
        }.map { (name: $0.file, bytes: (try? $0.bytes) ?? []) }
        #expect(animations.count >= 5)
        for loops in [nil, 0, 1, 3, 300] {
            animations.append(("loops \(loops ?? -1)", gif([5, 100], loops: loops)))
        }
        animations.append(("other name", gif([5, 0, 1, 2], loops: 2, as: "ANIMEXTS1.0")))
        for (name, bytes) in animations {
            let timing = try header(bytes).timing
            let said = try await told(bytes, worker)
            #expect(timing == said, "\(name)")
        }
    }

    @Test func whatIsMissingOrTooShortIsATenthOfASecond() throws {
        let timing = try #require(try header(gif([nil, 0, 1, 2, 500], loops: 0)).timing)
        #expect(timing.delays == [100, 100, 100, 20, 5000] && timing.loopCount == 0)
    }

    @Test func stillsHaveNoneAndOfVeryLongAnimationsItIsNotKept() throws {
        #expect(try header(gif([5], loops: 0)).timing == nil)
        for picture in Fixtures.valid where picture.frameCount == 1 {
            #expect(try header(picture.bytes).timing == nil, "\(picture)")
        }
        #expect(try header(gif(Array(repeating: 5, count: 2000), loops: 0)).timing?.delays.count == 2000)
        #expect(try header(gif(Array(repeating: 5, count: 2001), loops: 0)).timing == nil)
    }

    @Test func theNoteIsReadAsItWasWritten() throws {
        for (delays, line) in [
            ([100, 100, 100, 40], "7 100x3,40"), ([12], "7 12"), ([1, 2, 2, 1], "7 1,2x2,1"),
            (Array(repeating: 20, count: 2000), "7 20x2000"),
        ] {
            let timing = FrameTiming(delays: delays, loopCount: 7)
            #expect(timing.text == line)
            #expect(ImageNotes.note("f", in: "r1\na2\nf\(line)\nt#fff").flatMap { FrameTiming(text: $0) } == timing)
        }
        for text in [
            "", "1", "1 ", "-1 5", "1 x", "1 5x", "1 5x0", "1 5x2001", "1 5x1500,5x501", "1 5x2x3", "1 -5",
            "99999999999999999999 5", "1 5 5",
        ] {
            #expect(FrameTiming(text: text[...]) == nil, "\(text)")
        }
    }

    @Test func itIsKnownOfWhatIsCachedAlsoAfterItsServerWasAskedAndAfterARestart() async throws {
        let picture = gif([5, 100], loops: 3)
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
