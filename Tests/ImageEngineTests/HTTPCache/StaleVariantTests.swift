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

/// What is made of an image says of it what the image itself would say.
@Suite struct StaleVariantTests: RevalidationSuite {
    let scene: RevalidationScene
    private let codec: CodecStandIn

    init() throws {
        let codec = try CodecStandIn(making: hollowPNG(width: 3))
        self.codec = codec
        scene = try RevalidationScene { $0.codec.executable = codec.path }
    }

    private func blur(_ radius: Double) throws -> ImageProcessor { .blur(try Blur(radius: radius)) }

    /// What a processor makes of the server's picture.
    private func made(
        _ mode: Revalidation, _ step: ImageProcessor, on other: TestEngine? = nil,
        _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageResult {
        let result = try await image(mode, on: other) {
            $0.processing.recipe.processors = [step]
            change(&$0)
        }
        #expect(result.record.header.width == 3)
        return result
    }

    @Test(arguments: ["stale-while-revalidate", "stale-if-error"])
    func whatIsMadeOfAStaleImageIsStaleUntilThatIsConfirmed(_ directive: String) async throws {
        set("max-age=10, \(directive)=60")
        #expect(try await made(.http, blur(1)).isStale == false)
        engine.clock.advance(seconds: 20)
        web.set { $0.failure = 503 }
        for _ in 1...2 {
            for radius in [1.0, 2] {
                let old = try await made(.http, blur(radius))
                #expect(old.isStale && !old.isRevalidated, "\(radius)")
            }
        }
        try await eventually("the end of the refreshes") { [engine] in engine.manager.refreshCount == 0 }
        web.set { $0.failure = nil }
        let confirmed = try await made(.always, blur(1))
        #expect(confirmed.isRevalidated && !confirmed.isStale)
        for engine in try [engine, restarted()] {
            for radius in [1.0, 2] {
                let fresh = try await made(.http, blur(radius), on: engine)
                #expect(fresh.cacheType != .none && !fresh.isStale && !fresh.isRevalidated, "\(radius)")
            }
        }
        #expect(codec.requests.count == 2)
    }

    @Test func whatIsMadeOfAConfirmedImageIsRevalidatedWheneverItWasMade() async throws {
        #expect(try await made(.always, blur(1)).isRevalidated == false)
        for radius in [1.0, 2, 2] { #expect(try await made(.always, blur(radius)).isRevalidated, "\(radius)") }
        #expect(try await made(.never, blur(2)).isRevalidated == false)
        #expect(web.conditions == [nil, "\"1\"", "\"1\"", "\"1\""])
        web.set { [other] state in (state.picture, state.etag) = (other, "\"2\"") }
        let new = try await made(.always, blur(1))
        #expect(new.cacheType == .none && !new.isRevalidated && !new.isStale)
    }

    @Test(arguments: Revalidation.allCases, [true, false])
    func whatIsMadeOfAnExpiredImageThatStandsInIsStale(_ mode: Revalidation, _ isOffline: Bool) async throws {
        _ = try await made(mode, blur(1)) { $0.storage.diskCacheExpiration = .seconds(100) }
        engine.clock.advance(seconds: 10_000)
        web.set { $0.failure = 503 }
        for radius in [1.0, 2] {
            let old = try await made(mode, blur(radius)) {
                $0.lookup.offline = isOffline
                $0.lookup.staleIfError = isOffline ? nil : 20_000
            }
            #expect(old.isStale && !old.isRevalidated, "\(radius)")
            #expect(content(try #require(old.record.path)) != nil, "its path is good for its lease")
            #expect(old.notStored == .expired, "what is made now expires at once: \(radius)")
        }
        web.set { [other] state in (state.failure, state.picture, state.etag) = (nil, other, "\"2\"") }
        for radius in [1.0, 2] {
            let new = try await made(mode, blur(radius))
            #expect(!new.isStale, "it does not live on: \(radius)")
        }
        #expect(codec.requests.count == 5)
    }
}
