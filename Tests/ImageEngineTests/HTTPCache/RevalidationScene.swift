import TestSupport

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// An engine, and the server whose picture it keeps and checks.
struct RevalidationScene {
    let engine: TestEngine
    let web: PictureServer

    init(_ configure: (inout EngineConfiguration) -> Void = { _ in }) throws {
        engine = try TestEngine(configure)
        web = try PictureServer()
    }
}

/// Tests of one scene, in which a request names little more than how a stored image is to be checked.
protocol RevalidationSuite {
    var scene: RevalidationScene { get }
}

extension RevalidationSuite {
    var engine: TestEngine { scene.engine }
    var web: PictureServer { scene.web }
    /// A picture that is not the one the server begins with.
    var other: [UInt8] { hollowPNG(width: 8) }

    func image(
        _ mode: Revalidation, bytes: Bool = false, on other: TestEngine? = nil,
        _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        try await (other ?? engine).image(web.url, bytes: bytes) {
            $0.lookup.revalidate = mode
            change(&$0)
        }
    }

    /// Changes what the server answers, its `Cache-Control` in any case.
    func set(_ control: String?, _ change: @Sendable (inout PictureServer.State) -> Void = { _ in }) {
        web.set { state in
            state.headers["Cache-Control"] = control
            change(&state)
        }
    }

    /// Another engine on the same folder: another process, whose memory is empty.
    func restarted() throws -> TestEngine { try TestEngine(folder: engine.folder, clock: engine.clock) }
}
