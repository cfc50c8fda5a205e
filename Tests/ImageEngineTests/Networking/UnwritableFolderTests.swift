import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Large bodies without a cache folder that takes them. One after the
/// other, for they share the room that such bodies may take together.
@Suite(.serialized) struct UnwritableFolderTests {
    private let engine: TestEngine
    private let web: LocalServer
    private static let large = hollowPNG(width: 8, count: 1 << 20)
    private static let digest = large.withUnsafeBytes { Digest(of: $0).bytes }
    private var large: [UInt8] { Self.large }

    init() throws {
        engine = try TestEngine()
        web = try LocalServer { _ in .reply(200, ["ETag": "\"1\"", "Accept-Ranges": "bytes"], Self.large) }
        // Something that is no folder is in the way.
        overwrite(engine.folder.path + "/cache", [])
    }

    @Test(
        arguments: [
            { _ in }, { $0.storage.cacheMemoryOnly = true },
            {
                $0.storage.cacheMemoryOnly = true
                $0.storage.keepsInMemory = false
            }, { $0.storage.waitForCache = false }, { $0.lookup.integrity = Integrity("sha256-" + base64(digest)) },
        ] as [@Sendable (inout ImageOptions) -> Void])
    func largeImageComesAsDataAllTheSame(_ change: @Sendable (inout ImageOptions) -> Void) async throws {
        let image = try await engine.image(web.url("/a"), bytes: true, change)
        #expect(image.bytes == large && image.record.path == nil && image.record.byteCount == large.count)
    }

    @Test(arguments: [false, true], [false, true])
    func madeImageComesAsDataAllTheSame(isLarge: Bool, isOnlyInMemory: Bool) async throws {
        let made = hollowPNG(width: 3, count: isLarge ? 1 << 20 : 100)
        let standIn = try CodecStandIn(making: made)
        let engine = try TestEngine(folder: engine.folder) { $0.codec.executable = standIn.path }
        func image(bytes: Bool = true) async throws -> ImageResult {
            try await engine.image(web.url("/a"), bytes: bytes) {
                $0.processing.recipe.processors = [.blackWhite]
                $0.storage.cacheMemoryOnly = isOnlyInMemory
            }
        }
        let first = try await image()
        #expect(first.bytes == made && first.record.path == nil && first.record.header.width == 3)
        #expect((first.notStored == nil) == isOnlyInMemory)
        #expect(try await image().bytes == made)
        if isOnlyInMemory { return }
        await #expect(throws: ImageError.self, "there is no file") { _ = try await image(bytes: false) }
    }

    /// Until there is a disk again, memory does what it can.
    @Test func smallImageIsLoadedOnceAndStoredWhenTheFolderCanBeWritten() async throws {
        let small = hollowPNG(width: 8)
        let web = try LocalServer { _ in .reply(200, [:], small) }
        defer { web.stop() }
        let url = web.url("/a")
        let first = try await engine.image(url, bytes: true)
        #expect(first.notStored == .diskFailed && first.bytes == small)
        let second = try await engine.image(url, bytes: true)
        #expect(second.cacheType == .memory && second.bytes == small && second.notStored == nil)
        await #expect(throws: ImageError.self, "there is no file") { _ = try await engine.image(url) }
        _ = try await engine.image(web.url("/b"), bytes: true) { $0.storage.keepsInMemory = false }
        #expect(try await engine.image(web.url("/b"), bytes: true).cacheType == .none, "memory was not to keep it")
        unlink(engine.folder.path + "/cache")
        let count = web.requests.count
        #expect(content(try #require(try await engine.image(url).record.path)) == small)
        #expect(web.requests.count == count)
    }

    @Test func asAFileItFailsAndSaysWhy() async throws {
        let failure = try await engine.failure(web.url("/a"))
        guard case .notStored(.diskFailed, .storageFailed(_, let hint, .lasting)) = failure else {
            Issue.record("there is a file where none can be")
            return
        }
        #expect(!hint.isEmpty)
    }

    @Test func otherDigestIsNoticedInATemporaryFileToo() async throws {
        let error = try await engine.failure(web.url("/a"), bytes: true) {
            $0.lookup.integrity = Integrity("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
        }
        #expect(error?.name == "badData")
    }

    // MARK: The spool

    private func body(_ place: SpoolPlace, pieces: Int = 16) throws -> [UInt8] {
        let spool = BodySpool(place)
        let size = large.count / pieces
        for start in stride(from: 0, to: large.count, by: size) {
            try large[start..<min(start + size, large.count)].withUnsafeBytes { try spool.append($0, expected: nil) }
        }
        return try spool.finish().bytes()
    }

    private static let broken: @Sendable () throws -> UnnamedFile = { throw SystemError(EACCES, "create", "it") }

    @Test func bodyGoesOnInMemoryWhenNoFolderTakesIt() throws {
        let place = SpoolPlace(
            makePath: { throw SystemError(EROFS, "create", "it") }, spares: [Self.broken, { try UnnamedFile() }])
        #expect(try body(place) == large)
    }

    /// A full device takes nothing, neither for the cache nor for what stands in.
    @Test func bodyMovesOnWhenTheDiskIsFull() throws {
        let full = engine.folder.path + "/full"
        try #require(symlink("/dev/full", full) == 0)
        let file: @Sendable () throws -> UnnamedFile = { try UnnamedFile(adopting: open(full, O_RDWR)) }
        let place = SpoolPlace(
            makePath: { throw SystemError(ENOSPC, "create", "it") }, spares: [file, { try UnnamedFile() }])
        #expect(try body(place) == large)
        #expect(try body(place, pieces: 5_000) == large, "in pieces that are written together")
    }

    @Test func withoutAnyPlaceTheFirstTroubleIsTold() {
        let place = SpoolPlace(makePath: { throw SystemError(EROFS, "create", "it") }, spares: [Self.broken])
        #expect(throws: SystemError(EROFS, "create", "it")) { try body(place) }
    }

    @Test func filesInMemoryTakeOnlySoMuchTogether() throws {
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        func fill() throws -> [UnnamedFile] {
            let files = [try UnnamedFile(), try UnnamedFile()]
            for index in 0..<(UnnamedFile.memoryLimit >> 20) + 8 {
                try piece.withUnsafeBytes { try files[index % 2].append($0) }
            }
            return files
        }
        #expect(throws: SystemError.self) { _ = try fill() }
        let next = try UnnamedFile()
        try piece.withUnsafeBytes { try next.append($0) }
        #expect(try DownloadedBody(.unnamed(next, count: piece.count)).bytes() == piece, "what is gone counts no more")
    }
}
