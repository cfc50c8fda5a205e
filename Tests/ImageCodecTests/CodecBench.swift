import CTestSupport
import Foundation
import ImageRecipes
import TestSupport
import Testing

/// A worker with a folder for what it makes.
final class CodecBench {
    let worker: CodecChild
    let folder: TemporaryFolder
    private var count = 0

    init() async throws {
        worker = try await CodecChild()
        folder = try TemporaryFolder()
    }

    /// A path that nothing is at.
    func path(_ name: String = "out") -> String {
        count += 1
        return folder.path + "/\(count)-\(name)"
    }

    /// Puts bytes where the worker can read them.
    func file(_ bytes: [UInt8]) throws -> String {
        let path = path("in")
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// Has one output made.
    func make(
        _ source: String, _ format: String, _ steps: [ImageProcessor] = [], frames: RenderOutput.Frames = .all,
        rule: RenderOutput.Rule = .automatic(Encoding()), limits: RenderLimits = RenderLimits()
    ) async throws -> (outcome: RenderOutcome, bytes: [UInt8]) {
        let path = path()
        let output = RenderOutput(steps: steps, frames: frames, rule: rule, path: path)
        let reply = try await worker.render(
            RenderRequest(source: source, format: format, outputs: [output], limits: limits))
        let outcome = try #require(reply.outcomes.first)
        let bytes = (try? Data(contentsOf: URL(fileURLWithPath: path))).map { [UInt8]($0) } ?? []
        if case .finished(let image) = outcome { #expect(image.byteCount == bytes.count) }
        if case .failed = outcome { #expect(!FileManager.default.fileExists(atPath: path)) }
        return (outcome, bytes)
    }

    /// Has a fixture's pixels made.
    func pixels(
        _ fixture: String, _ steps: [ImageProcessor] = [], frames: RenderOutput.Frames = .all
    ) async throws -> Pixels {
        let format = try #require(Fixtures.all.first { $0.file == fixture }?.format)
        return try await pixels(of: Fixtures.folder + "/" + fixture, format, steps, frames: frames)
    }

    /// Has the pixels of a file made.
    func pixels(
        of path: String, _ format: String, _ steps: [ImageProcessor] = [], frames: RenderOutput.Frames = .all
    ) async throws -> Pixels {
        let (outcome, bytes) = try await make(path, format, steps, frames: frames, rule: .pixels)
        let image = try outcome.image
        return Pixels(width: image.width, height: image.height, frames: image.frameCount, bytes: bytes)
    }

    /// Has a fixture written in a format, and gives the facts and where the file is.
    func encode(
        _ fixture: String, _ steps: [ImageProcessor] = [], _ rule: RenderOutput.Rule
    ) async throws -> (image: RenderedImage, path: String) {
        let format = try #require(Fixtures.all.first { $0.file == fixture }?.format)
        let path = path()
        let reply = try await worker.render(
            RenderRequest(
                source: Fixtures.folder + "/" + fixture, format: format,
                outputs: [RenderOutput(steps: steps, rule: rule, path: path)]))
        return (try #require(reply.outcomes.first).image, path)
    }
}

extension RenderOutcome {
    /// What was made; the reason is the error otherwise.
    var image: RenderedImage {
        get throws {
            switch self {
            case .finished(let image): return image
            case .failed(let failure): throw failure
            }
        }
    }

    /// Why nothing was made.
    var failure: RenderFailure? {
        if case .failed(let failure) = self { failure } else { nil }
    }
}

/// RGBA samples, the frames one below the other.
struct Pixels: Equatable {
    var width: Int
    var height: Int
    var frames = 1
    var bytes: [UInt8]

    subscript(_ x: Int, _ y: Int) -> [UInt8] {
        let place = (y * width + x) * 4
        return Array(bytes[place..<(place + 4)])
    }

    /// One frame.
    func frame(_ number: Int) -> Pixels {
        let size = width * height * 4
        return Pixels(width: width, height: height, bytes: Array(bytes[(number * size)..<((number + 1) * size)]))
    }

    /// The same with clear pixels black.
    var normalised: Pixels {
        var copy = self
        hl_blacken_clear(&copy.bytes, copy.bytes.count)
        return copy
    }

    /// The same as it looks on black, with its alpha.
    var onBlack: Pixels {
        var copy = self
        for place in stride(from: 0, to: bytes.count, by: 4) {
            for band in place..<(place + 3) {
                copy.bytes[band] = UInt8(Int(bytes[band]) * Int(bytes[place + 3]) / 255)
            }
        }
        return copy
    }

    /// How alike two pictures are, in decibels (peak signal to noise ratio); 99 for equal ones.
    func likeness(_ other: Pixels) -> Double {
        guard width == other.width, height == other.height, bytes.count == other.bytes.count, !bytes.isEmpty else {
            return 0
        }
        let sum = hl_squared_differences(bytes, other.bytes, bytes.count)
        return sum == 0 ? 99 : 10 * log10(65_025 * Double(bytes.count) / sum)
    }
}
