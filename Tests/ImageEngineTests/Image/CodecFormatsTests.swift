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

/// What is announced of the codec worker is what it does.
@Suite struct CodecFormatsTests {
    @Test func theWorkerSaysOfItselfWhatIsAnnouncedBeforeItIsStarted() async throws {
        let worker = try await CodecChild()
        #expect(CodecFormats(worker.facts) == CodecFormats())
    }

    @Test func everyFormatThatIsAnnouncedIsReallyReadAndWritten() async throws {
        let worker = try await CodecChild()
        let folder = try TemporaryFolder()
        func make(_ file: String, _ format: ImageFormat, _ rule: RenderOutput.Rule, _ name: String) async throws
            -> RenderOutcome?
        {
            let output = RenderOutput(steps: [], rule: rule, path: folder.path + "/" + name)
            return try await worker.render(
                RenderRequest(
                    source: Fixtures.folder + "/" + file, format: format.rawValue, outputs: [output])
            ).outcomes.first
        }
        for format in CodecFormats().decoded {
            let picture = try #require(Fixtures.valid.first { $0.format == format.rawValue })
            guard case .finished(let image) = try await make(picture.file, format, .pixels, "\(format)-read") else {
                Issue.record("\(format) is not read")
                continue
            }
            #expect(image.width > 0 && image.byteCount > 0)
        }
        for format in CodecFormats().encoded {
            guard case .finished = try await make("png-rgb.png", .png, .format(format, Encoding()), "\(format)") else {
                Issue.record("\(format) is not written")
                continue
            }
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(format)")))
            let header = try bytes.withUnsafeBytes { try ImageHeader($0) }
            #expect(header.format.rawValue == format.rawValue && header.width == 61)
        }
    }

    @Test func whatAWorkerHasSaidOfItselfCountsFromThenOn() async throws {
        let standIn = try CodecStandIn(making: [1])
        let pool = CodecPool(CodecPool.Configuration(executable: standIn.path), now: EngineClock.system.monotonic)
        #expect(pool.formats == CodecFormats())
        let folder = try TemporaryFolder()
        let output = RenderOutput(steps: [], path: folder.path + "/a")
        let source = Fixtures.folder + "/png-rgb.png"
        _ = try await pool.render(RenderRequest(source: source, format: "png", outputs: [output]), cost: 1)
        #expect(pool.formats.decoded == [.png] && pool.formats.encoded == [.png])
    }
}
