import Foundation
import ImageRecipes
import TestSupport
import Testing

@Suite struct WorkerTests {
    @Test("The worker says what it can do, answers in order, and ends with its socket")
    func life() async throws {
        let bench = try await CodecBench()
        let facts = bench.worker.facts
        #expect(facts.version == RenderMessage.version)
        let decoded = ["png", "jpeg", "gif", "webp", "avif", "heic", "tiff", "bmp", "ico", "svg", "jxl", "jp2", "pnm"]
        #expect(Set(decoded + ["icns", "pdf"]).isSubset(of: facts.decodes))
        #expect(Set(["png", "jpeg", "gif", "webp", "tiff"]).isSubset(of: facts.encodes))
        for index in 0..<5 {
            try await bench.worker.send(
                RenderRequest(
                    source: Fixtures.folder + "/jpeg-photo.jpg", format: index == 2 ? "nonsense" : "jpeg",
                    outputs: [RenderOutput(steps: [], rule: .pixels, path: bench.path())]))
        }
        for index in 0..<5 {
            let outcome = try #require(try await bench.worker.reply().outcomes.first)
            #expect((outcome.failure?.kind == .unsupported) == (index == 2))
        }
        bench.worker.hangUp()
        #expect(try await bench.worker.ended() == 0)
    }

    @Test("Bytes that are no message end the worker with code 65")
    func garbage() async throws {
        for bytes in [
            [0xFF, 0xFF, 0xFF, 0xFF, 1], [1, 0, 0, 0, 9], [2, 0, 0, 0, 2, 7],
            RenderMessage.reply(RenderReply(outcomes: [])).frame,
        ] {
            let worker = try await CodecChild()
            try await worker.send(bytes.map { UInt8($0) })
            #expect(try await worker.ended() == 65)
        }
    }

    @Test("Nothing is printed on standard output, whatever the environment asks of the libraries")
    func silence() async throws {
        let folder = try TemporaryFolder()
        let output = folder.path + "/stdout"
        let worker = try await CodecChild(output: output)
        for fixture in Fixtures.all {
            let request = RenderRequest(
                source: Fixtures.folder + "/" + fixture.file, format: fixture.format ?? "jpeg",
                outputs: [RenderOutput(steps: [], path: folder.path + "/out-" + fixture.file.replacing("/", with: "-"))]
            )
            _ = try await worker.render(request)
        }
        worker.hangUp()
        #expect(try await worker.ended() == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: output)).isEmpty)
    }

    @Test("The worker has no socket but the server's, gains no privileges, and has bounded memory, files and file size")
    func bounds() async throws {
        let bench = try await CodecBench()
        let process = bench.worker.process
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1"))
        #expect(status.contains("Seccomp:\t2"))
        let limits = try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        for name in ["Max address space", "Max file size", "Max open files"] {
            let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix(name) })
            #expect(!line.contains("unlimited"), "\(line)")
        }
    }

    @Test("A source that is no file or is empty is a failure of its own")
    func files() async throws {
        let bench = try await CodecBench()
        #expect(try await bench.make(bench.folder.path, "png").outcome.failure?.kind == .sourceFailed)
        #expect(try await bench.make(try bench.file([]), "png").outcome.failure?.kind == .badData)
    }

    @Test("A request without the descriptors of its files ends the worker with code 65")
    func withoutDescriptors() async throws {
        let bench = try await CodecBench()
        let request = RenderRequest(
            source: Fixtures.folder + "/png-rgb.png", format: "png",
            outputs: [RenderOutput(steps: [], path: bench.path())])
        try await bench.worker.send(RenderMessage.request(request).frame)
        #expect(try await bench.worker.ended() == 65)
    }

    @Test("A source that is cut off while it is decoded is told from damage, and no worker ends")
    func changes() async throws {
        let bench = try await CodecBench()
        let whole = try Data(contentsOf: URL(fileURLWithPath: Fixtures.folder + "/jpeg-large.jpg"))
        let path = try bench.file([UInt8](whole))
        let large = ImageProcessor.resize(try Resize(width: 3000, height: 3000, upscale: true))
        for _ in 0..<4 {
            try whole.write(to: URL(fileURLWithPath: path))
            try await bench.worker.send(
                RenderRequest(
                    source: path, format: "jpeg", outputs: [RenderOutput(steps: [large], path: bench.path())]))
            // At whatever place it is by now.
            for count in stride(from: whole.count, through: 0, by: -whole.count / 50) { truncate(path, off_t(count)) }
            switch try await bench.worker.reply().outcomes.first?.failure?.kind {
            case nil, .sourceFailed, .badData: break
            case let kind: Issue.record("\(String(describing: kind))")
            }
        }
        bench.worker.hangUp()
        #expect(try await bench.worker.ended() == 0)
    }

    @Test("What a decoder left undecoded is not what lay in memory before")
    func leftovers() async throws {
        let bench = try await CodecBench()
        var seen: Set<[UInt8]> = []
        for _ in 0..<4 {
            seen.insert(try await bench.pixels(of: Fixtures.folder + "/damaged/undecoded.heic", "heic").bytes)
            // Leaves other things in memory.
            _ = try await bench.pixels("heic-thumbnail.heic")
            _ = try await bench.pixels("jpeg-photo.jpg")
        }
        #expect(seen.count == 1)
    }

    @Test(
        "Thousands of damaged pictures are refused or made, in bounded time and memory, by one and the same worker"
    )
    func fuzzing() async throws {
        var random = SeededGenerator(seed: 20_261_121)
        let bench = try await CodecBench()
        let sources = try Fixtures.valid.filter { $0.byteCount < 20_000 }.map {
            (try #require($0.format), try $0.bytes)
        }
        let box = ImageProcessor.downsample(try PixelSize(width: 24, height: 24))
        let chains: [[ImageProcessor]] = [[box], [], [.roundCorner(try RoundCorner(radius: .pixels(3))), box]]
        let limits = RenderLimits(decodeSeconds: 5)
        for turn in 0..<1000 {
            guard let (format, whole) = sources.randomElement(using: &random) else { break }
            let bytes = damaged(whole, &random)
            let made = try await bench.make(
                try bench.file(bytes), format, chains[turn % 3], rule: .format(.jpeg, Encoding()), limits: limits)
            switch made.outcome.failure?.kind {
            case nil, .badData, .unsupported, .limit: break
            case let kind: Issue.record("\(turn): \(format) gives \(String(describing: kind)): \(made.outcome)")
            }
        }
        bench.worker.hangUp()
        #expect(try await bench.worker.ended() == 0)
    }

    private func damaged(_ whole: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = whole
        for _ in 0..<Int.random(in: 1...6, using: &random) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = [0, 255, 127, 128].randomElement(using: &random) ?? 0
            case 2: bytes.removeLast(bytes.count - place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + 20))
            default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 20)], at: place)
            }
        }
        return bytes
    }
}
