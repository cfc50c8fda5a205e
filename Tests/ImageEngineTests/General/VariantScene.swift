import ImageRecipes
import TestSupport

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An engine, the server of its original, and a codec worker that makes the same image of all originals.
struct VariantScene {
    let standIn: CodecStandIn
    let engine: TestEngine
    let server: LocalServer

    init(making made: [UInt8] = hollowPNG(width: 3), of picture: [UInt8] = hollowPNG(width: 7)) throws {
        let standIn = try CodecStandIn(making: made)
        self.standIn = standIn
        engine = try TestEngine { $0.codec.executable = standIn.path }
        server = try LocalServer { _ in .reply(200, [:], picture) }
    }
}

/// Tests of one scene, in which processors make an image 3 pixels wide of one that is 7 pixels wide.
protocol VariantSuite {
    var scene: VariantScene { get }
}

extension VariantSuite {
    var standIn: CodecStandIn { scene.standIn }
    var engine: TestEngine { scene.engine }
    var server: LocalServer { scene.server }
    var made: [UInt8] { hollowPNG(width: 3) }
    var picture: [UInt8] { hollowPNG(width: 7) }
    var url: String { server.url("/a.png") }

    /// How often the worker made something.
    var passes: Int { standIn.requests.reduce(0) { $0 + $1.outputs.count } }

    func image(
        _ steps: [ImageProcessor], url: String? = nil, _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        try await engine.image(url ?? self.url) {
            $0.processing.recipe.processors = steps
            change(&$0)
        }
    }
}
