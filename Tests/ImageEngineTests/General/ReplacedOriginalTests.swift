import Glibc
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

/// Images whose original has been replaced since they were made: by this process, in one tier alone, or by another process.
@Suite struct ReplacedOriginalTests: VariantSuite {
    let scene: VariantScene

    init() throws { scene = try VariantScene() }

    @Test func whatWasMadeOfAnOriginalIsMadeAnewWhenThatIsReplaced() async throws {
        _ = try await image([.blackWhite])
        _ = try engine.manager.store(hollowPNG(width: 9), for: CacheKey(url), in: engine.cache, options: ImageOptions())
        #expect(try await image([.blackWhite]).cacheType == .none)
        #expect(passes == 2 && server.requests.count == 1)
        #expect(try await image([.blackWhite]).cacheType != .none)
        // When the original is gone, what was made of it still counts.
        _ = try engine.cache.remove(CacheKey(url))
        #expect(try await image([.blackWhite]).cacheType != .none)
        #expect(passes == 2 && server.requests.count == 1)
    }

    @Test(arguments: [true, false])
    func whatWasMadeOfAnOriginalIsMadeAnewWhenThatIsReplacedInOneTierAlone(_ isInMemory: Bool) async throws {
        _ = try await image([.blackWhite])
        let storing = ImageOptions {
            ($0.storage.keepsInMemory, $0.storage.cacheMemoryOnly) = (isInMemory, isInMemory)
        }
        _ = try engine.manager.store(hollowPNG(width: 9), for: CacheKey(url), in: engine.cache, options: storing)
        let asked = ImageOptions { $0.processing.recipe.processors = [.blackWhite] }
        let glance = try engine.manager.glance(
            at: engine.cache.resource(url), in: engine.cache, options: asked, needs: .file, burst: 0)
        if case .found = glance { Issue.record("what was made of the old one is answered at once") }
        #expect(try await image([.blackWhite]).cacheType == .none)
    }

    @Test(arguments: [true, false])
    func whatWasMadeOfAnOriginalIsMadeAnewWhenAnotherProcessReplacesThat(_ keepsInMemory: Bool) async throws {
        let asked = ImageOptions {
            $0.processing.recipe.processors = [.blackWhite]
            $0.storage.keepsInMemory = keepsInMemory
        }
        func isAnswered() throws -> Bool {
            let glance = try engine.manager.glance(
                at: engine.cache.resource(url), in: engine.cache, options: asked, needs: .file, burst: 0)
            if case .found = glance { return true }
            return false
        }
        _ = try await image([.blackWhite]) { $0 = asked }
        #expect(try isAnswered())
        let other = try TestEngine(folder: engine.folder) { $0.codec.executable = standIn.path }
        let newer = hollowPNG(width: 9, count: 99)
        _ = try other.manager.store(newer, for: CacheKey(url), in: other.cache, options: ImageOptions())
        #expect(try !isAnswered())
        #expect(try await image([.blackWhite]) { $0 = asked }.cacheType == .none)
        #expect(passes == 2)
        #expect(try isAnswered())
    }

    /// Another program writes there, and tells nobody.
    @Test(arguments: [true, false], [true, false])
    func whatWasMadeOfAnOriginalInAnotherFolderIsMadeAnewWhenThatIsReplaced(
        _ isNewProcess: Bool, _ keepsOriginal: Bool
    ) async throws {
        let other = try TemporaryFolder()
        let place = "\(other.path)/\(engine.cache.disk.name(of: CacheKey(url)).hex).png"
        func readEngine() throws -> TestEngine {
            let engine = try TestEngine(folder: engine.folder) { $0.codec.executable = standIn.path }
            var configuration = engine.cache.disk.configuration
            configuration.readOnlyPaths = [other.path]
            engine.cache.disk.configure(configuration)
            return engine
        }
        var reader = try readEngine()
        func ask() async throws -> CacheType {
            try await reader.image(url) {
                $0.processing.recipe.processors = [.blackWhite]
                $0.storage.keepsInMemory = keepsOriginal
            }.cacheType
        }
        for number in 1...3 {
            overwrite(place + ".new", hollowPNG(width: 8 + number, count: 100 * number))
            rename(place + ".new", place)
            if isNewProcess { reader = try readEngine() }
            #expect(try await ask() == .none, "\(number)")
            #expect(try await ask() != .none)
            #expect(passes == number)
        }
        // When the original is gone, what was made of it still counts.
        unlink(place)
        #expect(try await ask() != .none)
        #expect(server.requests.isEmpty)
    }

    // MARK: Originals that are not kept

    @Test func anOriginalThatIsLoadedAnewAndNotKeptOutdatesTheStoredOne() async throws {
        _ = try engine.manager.store(hollowPNG(width: 9), for: CacheKey(url), in: engine.cache, options: ImageOptions())
        func refresh(_ options: inout ImageOptions) {
            (options.lookup.forceRefresh, options.processing.cacheOriginalImage) = (true, false)
        }
        _ = try await image([.blackWhite], refresh)
        #expect(passes == 1 && server.requests.count == 1)
        #expect(try await image([.blackWhite]).cacheType != .none, "it was made of the newest")
        #expect(passes == 1 && server.requests.count == 1)
        #expect(try await engine.image(url).record.header.width != 9)
        #expect(server.requests.count == 2)
        // One that is the same stays.
        _ = try await image([.blackWhite], refresh)
        #expect(try await engine.image(url).cacheType != .none)
        #expect(server.requests.count == 3)
    }

    @Test func whatIsStoredProcessedCountsThoughAnotherOriginalWasStored() async throws {
        _ = try engine.manager.store(hollowPNG(width: 9), for: CacheKey(url), in: engine.cache, options: ImageOptions())
        let options = ImageOptions {
            ($0.processing.recipe.processors, $0.processing.cacheOriginalImage) = ([.blackWhite], false)
        }
        _ = try await engine.manager.storeVariant(
            of: .bytes(hollowPNG(width: 8)), for: CacheKey(url), in: engine.cache, options: options)
        #expect(try await image([.blackWhite]).cacheType != .none)
        #expect(passes == 1 && server.requests.isEmpty)
    }

    @Test func aProcessedStoreOutlivesTheRemovalOfItsOriginal() async throws {
        try standIn.set(.lose)
        let options = ImageOptions { $0.processing.recipe.processors = [.blackWhite] }
        let stored = try await engine.manager.storeVariant(
            of: .bytes(picture), for: CacheKey(url), in: engine.cache, options: options)
        #expect(stored.record.path != nil && standIn.requests.count == 2)
    }

    @Test func theImageInMemoryTellsNothingOfOneThatAnotherProcessMade() async throws {
        let otherCodec = try CodecStandIn(making: hollowPNG(width: 4))
        let other = try TestEngine(folder: engine.folder) { $0.codec.executable = otherCodec.path }
        let asked = ImageOptions { $0.processing.recipe.processors = [.blackWhite] }
        func store(_ width: Int) throws {
            _ = try engine.manager.store(
                hollowPNG(width: width), for: CacheKey(url), in: engine.cache, options: ImageOptions())
        }
        try store(8)
        _ = try await other.image(url) { $0 = asked }
        try store(9)
        _ = try await image([.blackWhite])
        try store(8)
        let key = asked.processing.recipe.cacheKey(CacheKey(url))
        func isKnown(_ mayWait: Bool) throws -> Bool? {
            try other.manager.isOfKnownOriginal(key, in: other.cache, options: asked, mayWait: mayWait)
        }
        #expect(try isKnown(false) != true)
        #expect(try isKnown(true) == false)
    }
}
