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

/// Whatever a request says besides, no image is answered whose bytes `integrity` does not name, and one that it names is
/// answered as it would be without.
@Suite struct IntegrityTests {
    private enum Server: CaseIterable { case same, changed, down }
    private enum Tier: CaseIterable { case memory, memoryWithBytes, disk, diskForBytes }

    /// A stored image, its server, and a request that names one of their digests.
    private struct Case: CustomStringConvertible {
        var mode = Revalidation.never
        var isOffline = false
        var staleIfError: Double?
        var isExpired = false
        var server = Server.same
        /// The picture that is named: 7 is stored, 8 is what a changed server has.
        var width = 7
        var kind = RunningDigest.Kind.sha256
        var tier = Tier.memory
        var bytes: Bool { tier == .memoryWithBytes || tier == .diskForBytes }

        static var all: [Case] {
            var all = [Case()]
            func vary<Value>(_ path: WritableKeyPath<Case, Value>, _ values: [Value]) {
                all = all.flatMap { one in
                    values.map { value in
                        var other = one
                        other[keyPath: path] = value
                        return other
                    }
                }
            }
            vary(\.mode, Revalidation.allCases)
            vary(\.isOffline, [false, true])
            vary(\.staleIfError, [nil, 1000])
            vary(\.isExpired, [false, true])
            vary(\.server, Server.allCases)
            vary(\.width, [7, 8])
            vary(\.tier, Tier.allCases)
            // Both kinds beside each value of the rest, but not beside each combination.
            for number in all.indices { all[number].kind = (number + number / 4).isMultiple(of: 2) ? .sha256 : .sha512 }
            return all
        }

        var description: String {
            "\(mode) offline=\(isOffline) staleIfError=\(staleIfError ?? 0) expired=\(isExpired) \(server) "
                + "names \(width) \(kind) \(tier)"
        }

        func options(_ options: inout ImageOptions) {
            options.lookup.revalidate = mode
            options.lookup.offline = isOffline
            options.lookup.staleIfError = staleIfError
            options.lookup.integrity = IntegrityTests.integrity(of: hollowPNG(width: width), kind)
        }
    }

    private static func integrity(of bytes: [UInt8], _ kind: RunningDigest.Kind = .sha256) -> Integrity? {
        let digest = RunningDigest(kind)
        bytes.withUnsafeBytes { digest.update($0) }
        return Integrity("\(kind.rawValue)-\(base64(digest.finishedBytes()))")
    }

    private let codec: CodecStandIn
    private let engine: TestEngine
    private let web: PictureServer

    init() throws {
        let codec = try CodecStandIn(making: hollowPNG(width: 3))
        self.codec = codec
        engine = try TestEngine { $0.codec.executable = codec.path }
        web = try PictureServer()
    }

    /// Stores the picture 7, and lets the time pass until the request of the case.
    ///
    /// - Returns: The URL, and the number of requests that have been made until then.
    private func prepare(
        _ one: Case, _ number: Int, store: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> (url: String, before: Int) {
        let url = web.url + "?\(number)"
        web.set { $0 = PictureServer.State(headers: ["Cache-Control": "max-age=10"]) }
        _ = try await engine.image(url, bytes: one.tier == .memoryWithBytes) {
            $0.storage.diskCacheExpiration = .seconds(100)
            $0.storage.diskCacheAccessExtendingExpiration = ExpirationExtension.none
            store(&$0)
        }
        if one.tier == .disk || one.tier == .diskForBytes { _ = engine.cache.clearMemory() }
        engine.clock.advance(seconds: one.isExpired ? 150 : 50)
        switch one.server {
        case .same: break
        case .changed: web.set { ($0.picture, $0.etag) = (hollowPNG(width: 8), "\"2\"") }
        case .down: web.set { $0.failure = 503 }
        }
        return (url, web.count)
    }

    private func explain(_ url: String, _ change: (inout ImageOptions) -> Void) throws -> Explanation {
        try engine.manager.explain(Resource(url: url), in: engine.cache, options: ImageOptions(change))
    }

    /// What the request does is what was told, and its answer is what it names.
    @Test func noOtherBytesAreAnsweredAndExplainSaysWhatRetrieveDoes() async throws {
        for (number, one) in Case.all.enumerated() {
            let (url, before) = try await prepare(one, number)
            let at = Comment(rawValue: one.description)
            let told = try explain(url, one.options)
            let end: Result<ImageResult, any Error>
            do { end = .success(try await engine.image(url, bytes: one.bytes, one.options)) } catch {
                end = .failure(error)
            }
            let image = try? end.get()
            if let image {
                let bytes = try image.bytes ?? #require(image.record.path.flatMap(content))
                #expect(bytes == hollowPNG(width: one.width), at)
            }
            let asked = web.conditions.dropFirst(before)
            #expect(told.usesNetwork == !asked.isEmpty, at)
            switch told.verdict {
            case .answer: #expect(image?.cacheType != CacheType.none && image?.isStale == false, at)
            case .answerStale: #expect(image?.cacheType != CacheType.none && image?.isStale == true, at)
            case .revalidate: #expect(asked.first == "\"1\"", at)
            case .load: #expect(asked.first == .some(nil), at)
            case .fail: #expect(image == nil && told.error != nil, at)
            case .answerAndRefresh: Issue.record(at)
            }
            // What is stored is as good as if nothing had been named.
            if one.width == 7, one.server != .changed {
                func options(_ options: inout ImageOptions) {
                    one.options(&options)
                    options.lookup.integrity = nil
                }
                let (url, before) = try await prepare(one, -number - 1)
                let other = try? await engine.image(url, bytes: one.bytes, options)
                #expect(other?.cacheType == image?.cacheType && other?.isStale == image?.isStale, at)
                #expect(
                    other?.isRevalidated == image?.isRevalidated
                        && Array(web.conditions.dropFirst(before)) == Array(asked), at)
            }
            if one.width == 8 { #expect((image != nil) == (one.server == .changed && !one.isOffline), at) }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func ofWhatProcessorsMakeTheOriginalIsMeant(keepsOriginal: Bool, isMade: Bool) async throws {
        let blur = try Blur(radius: 1)
        for (number, one) in Case.all.enumerated() where one.tier == .memory && one.staleIfError == nil {
            func recipe(_ options: inout ImageOptions) {
                options.processing.recipe.processors = [.blur(blur)]
                options.processing.cacheOriginalImage = keepsOriginal
            }
            let (url, before) = try await prepare(one, number) { if isMade { recipe(&$0) } }
            func options(_ options: inout ImageOptions) {
                one.options(&options)
                recipe(&options)
            }
            let at = Comment(rawValue: "\(one) keepsOriginal=\(keepsOriginal) isMade=\(isMade)")
            let told = try explain(url, options)
            let image = try? await engine.image(url, options)
            let asked = web.conditions.dropFirst(before)
            #expect(told.usesNetwork == !asked.isEmpty, at)
            #expect(told.verdict != .fail || image == nil, at)
            #expect((told.verdict == .revalidate) == (asked.first == "\"1\""), at)
            if let image {
                let original = hollowPNG(width: one.width).withUnsafeBytes { Digest(of: $0) }
                #expect(VariantSource.mark(of: image.record) == VariantSource.mark(original), at)
            }
            if one.width == 8 { #expect((image != nil) == (one.server == .changed && !one.isOffline), at) }
            if one.width == 7, one.server == .same, !one.isOffline { #expect(image != nil, at) }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func ofAGivenImageItsOwnBytesAreMeantAndNotWhatIsMade(keepsOriginal: Bool, verifies: Bool) async throws {
        let blur = try Blur(radius: 1)
        func store(_ width: Int, _ file: String?) async throws -> ImageResult {
            let options = ImageOptions {
                $0.lookup.integrity = Self.integrity(of: hollowPNG(width: 7))
                $0.lookup.verifyDecode = verifies
                $0.processing.recipe.processors = [.blur(blur)]
                $0.processing.cacheOriginalImage = keepsOriginal
            }
            return try await engine.manager.storeVariant(
                of: file.map { .file($0) } ?? .bytes(hollowPNG(width: width)), for: CacheKey("k\(width)"),
                in: engine.cache, options: options)
        }
        for isFile in [false, true] {
            func file(_ width: Int) throws -> String? {
                guard isFile else { return nil }
                let path = engine.folder.path + "/\(width).png"
                try Data(hollowPNG(width: width)).write(to: URL(fileURLWithPath: path))
                return path
            }
            #expect(try await store(7, file(7)).record.header.width == 3)
            let passes = codec.requests.count
            await #expect(throws: ImageError.self) { try await store(8, file(8)) }
            #expect(codec.requests.count == passes)
        }
        #expect(engine.blobs.count == (keepsOriginal ? 2 : 1))
    }

    @Test func aProbeTellsOfNoOtherBytes() async throws {
        for (number, one) in Case.all.enumerated() where !one.bytes && one.staleIfError == nil {
            let url = try await prepare(one, number).url
            let at = Comment(rawValue: one.description)
            let probed = try? await engine.manager.probe(
                Resource(url: url), in: engine.cache, options: ImageOptions(one.options))
            if let probed { #expect(probed.probe.width == one.width, at) }
            if one.width == 8 { #expect((probed != nil) == (one.server == .changed && !one.isOffline), at) }
            if one.width == 7, !one.isExpired {
                #expect(probed?.cacheType == (one.tier == .disk ? .disk : .memory), at)
            }
        }
    }

    @Test func aPrefetchSkipsAndKeepsNoOtherBytes() async throws {
        for (number, one) in Case.all.enumerated() where !one.bytes && one.kind == .sha256 {
            let (url, before) = try await prepare(one, number)
            let at = Comment(rawValue: one.description)
            let told = try explain(url, one.options)
            let report = try await ImagePrefetcher(
                [url], manager: engine.manager, cache: engine.cache, options: ImageOptions(one.options)
            ).run()
            #expect(told.usesNetwork == (web.count > before), at)
            #expect(report.skipped.isEmpty || one.width == 7, at)
            let isThere = try? await engine.image(url) {
                $0.lookup.integrity = Self.integrity(of: hollowPNG(width: one.width))
                $0.lookup.onlyFromCache = true
            }
            if !report.completed.isEmpty { #expect(isThere != nil, at) }
            if one.width == 8 { #expect(!report.failed.isEmpty == (one.server != .changed || one.isOffline), at) }
        }
    }

    /// What cannot be read now may be right all the same.
    @Test func bytesThatCannotBeReadAreNotCalledWrong() throws {
        let integrity = try #require(Self.integrity(of: hollowPNG(width: 7)))
        let missing = engine.folder.path + "/missing.png"
        #expect(throws: SystemError.self) { try integrity.allows(.file(missing)) }
        let body = DownloadedBody(.file(path: missing, count: 100))
        var options = ImageOptions()
        options.lookup.integrity = integrity
        let store = PendingStore(
            content: .body(body), key: CacheKey("a"), cache: engine.cache, source: "http://h/a.png",
            origin: ImageOrigin(), options: options, needs: .file)
        let error = #expect(throws: ImageError.self) { try store.header() }
        #expect(error?.name == "storageFailed")
    }
}
