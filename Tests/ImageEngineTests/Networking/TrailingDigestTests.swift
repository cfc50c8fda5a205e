import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Large bodies are hashed while they come; what is stored still has the checksum of its file.
@Suite struct TrailingDigestTests {
    private let engine: TestEngine
    private var folder: StorageFolder { engine.cache.disk.folder }

    init() throws { engine = try TestEngine() }

    private func stored() throws -> ImageRecord { try #require(try engine.cache.disk.record(for: CacheKey("a"))) }

    private var place: SpoolPlace {
        let folder = folder
        return SpoolPlace(makePath: { try folder.partialPath() }, resume: ResumeFolder(folder), observer: ScanMap())
    }

    private static func digest(_ bytes: [UInt8]) -> Digest { bytes.withUnsafeBytes { Digest(of: $0) } }

    private static func append(_ bytes: some Collection<UInt8>, to spool: BodySpool, pieces: Int = 16 << 10) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try Array(rest.prefix(pieces)).withUnsafeBytes { try spool.append($0, expected: bytes.count) }
            rest = rest.dropFirst(pieces)
        }
    }

    private func body(_ bytes: [UInt8], pieces: Int = 16 << 10) throws -> DownloadedBody {
        let spool = BodySpool(place)
        try Self.append(bytes, to: spool, pieces: pieces)
        return try spool.finish()
    }

    private static func path(of body: DownloadedBody) throws -> String {
        guard case .file(let path, _) = body.storage else { throw SystemError(ENOENT, "find", "the file") }
        return path
    }

    /// What the body's own digest is, for the file as it is now.
    private static func known(_ body: DownloadedBody) throws -> Digest? {
        body.checksum(of: FileStamp(path: try path(of: body)))
    }

    /// That a body of so many bytes can be gone on with.
    private static func note(_ count: Int) throws -> ResumeNote {
        var response = DownloadResponse()
        response.status = 200
        response.etag = "\"1\""
        response.fields = ["accept-ranges": "bytes"]
        return try #require(ResumeNote(response, length: count))
    }

    private func store(_ body: DownloadedBody) throws -> ImageRecord {
        try store(body, StoreRequest(key: CacheKey("a"), header: try body.header()))
    }

    private func store(_ body: DownloadedBody, _ request: StoreRequest) throws -> ImageRecord {
        try BlockingWait.wait { queue, then in
            engine.cache.disk.store(.body(body), request, in: queue, then: then)
        }.get().record
    }

    @Test func smallPiecesAreWrittenTogether() throws {
        let bytes = hollowPNG(width: 7, count: BodySpool.memoryLimit + 100_000)
        let spool = BodySpool(place)
        try Self.append(Array(bytes[..<BodySpool.memoryLimit]), to: spool, pieces: 1 << 20)
        var sizes: Set<Int> = []
        for start in stride(from: BodySpool.memoryLimit, to: bytes.count, by: 10) {
            try Self.append(Array(bytes[start..<(start + 10)]), to: spool, pieces: 10)
            let partial = folder.path + "/partial"
            sizes.formUnion(
                try Files.names(in: partial).compactMap { FileStamp(path: partial + "/" + $0) }.map(\.size))
        }
        #expect((2...10).contains(sizes.count), "so often it was written")
        #expect(try spool.finish().bytes() == bytes)
    }

    @Test(
        arguments: [
            BodySpool.memoryLimit, BodySpool.memoryLimit + 1, TrailingDigest.least - 1, TrailingDigest.least,
            TrailingDigest.least + 1, 3 * TrailingDigest.stride + 17, 5_000_001,
        ], [1_000, 16 << 10, 1 << 20])
    func imageOfAnySizeIsStoredWithTheChecksumOfItsFile(_ count: Int, _ pieces: Int) throws {
        let bytes = hollowPNG(width: 7, count: count)
        let body = try body(bytes, pieces: pieces)
        if count > BodySpool.memoryLimit {
            #expect(try Self.known(body) == (count < TrailingDigest.least ? nil : Self.digest(bytes)))
        }
        let record = try store(body)
        #expect(record.checksum == Self.digest(bytes) && record.byteCount == count)
        #expect(try engine.cache.disk.data(of: try stored()) == bytes)
        #expect(try engine.cache.verify(repairs: false).isClean)
    }

    @Test func largeFileIsLinkedAndNotCopied() throws {
        let body = try body(hollowPNG(width: 7, count: 2 << 20))
        let inode = FileStamp(path: try Self.path(of: body))?.inode
        _ = try store(body)
        #expect(FileStamp(path: try stored().path ?? "")?.inode == inode && inode != nil)
    }

    // MARK: Files that somebody changes

    enum Change: CaseIterable { case rewritten, shortened, lengthened, replaced, removedAndMade }

    @Test(arguments: Change.allCases)
    func fileThatWasChangedSinceIsHashedAsItIs(_ change: Change) throws {
        let bytes = hollowPNG(width: 7, count: 2 << 20)
        let body = try body(bytes)
        let path = try Self.path(of: body)
        let header = try body.header()
        #expect(try Self.known(body) == Self.digest(bytes))
        switch change {
        case .rewritten: overwrite(path, [0x55, 0xAA], at: 1 << 20, truncates: false)
        case .shortened: truncate(path, 1 << 20)
        case .lengthened: overwrite(path, [1, 2, 3], at: bytes.count, truncates: false)
        case .replaced:
            overwrite(path + "~", hollowPNG(width: 8, count: 2 << 20))
            rename(path + "~", path)
        case .removedAndMade:
            unlink(path)
            overwrite(path, hollowPNG(width: 8, count: 2 << 20))
        }
        // The time of a change is told only every few milliseconds.
        setModified(path, 1_700_000_000)
        let now = try #require(content(path))
        #expect(now != bytes)
        #expect(try Self.known(body) == nil)
        let request = StoreRequest(key: CacheKey("a"), header: header)
        let record = try store(body, request)
        #expect(record.checksum == Self.digest(now) && record.byteCount == now.count)
        #expect(try engine.cache.verify(repairs: false).isClean)
    }

    /// It cannot be noticed by the stamp, and so it must be by the checksum.
    @Test func changeThatHidesItselfIsFoundByTheFullCheck() throws {
        let bytes = hollowPNG(width: 7, count: 2 << 20)
        let body = try body(bytes)
        let path = try Self.path(of: body)
        let stamp = try #require(FileStamp(path: path))
        #expect(try Self.known(body) == Self.digest(bytes))
        overwrite(path, [bytes[1 << 20] ^ 1], at: 1 << 20, truncates: false)
        let seconds = stamp.modified / 1_000_000_000
        let time = timespec(tv_sec: seconds, tv_nsec: stamp.modified % 1_000_000_000)
        _ = [time, time].withUnsafeBufferPointer { utimensat(AT_FDCWD, path, $0.baseAddress, 0) }
        #expect(try store(body).checksum == Self.digest(bytes))
        #expect(try engine.cache.verify(repairs: false).damaged == 1)
    }

    // MARK: Bodies in several parts

    @Test(arguments: [100_000, TrailingDigest.least - 1, 1_700_001], [1, 300_000, 3_000_000])
    func bodyThatIsGoneOnWithHasTheChecksumOfTheWhole(_ first: Int, _ rest: Int) async throws {
        let bytes = hollowPNG(width: 7, count: first + rest)
        let request = try DownloadRequest(url: "http://127.0.0.1/a", options: NetworkOptions())
        let note = try Self.note(bytes.count)
        let begun = BodySpool(place)
        begun.makeResumable(as: request, note)
        try Self.append(bytes[..<first], to: begun)
        begun.interrupt(keeps: true)
        // A process that another test is just starting may hold the lock for a moment.
        let taken = Mutex<ResumePart?>(nil)
        try await eventually("nobody else holds it") {
            taken.withLock { taken in
                taken = place.resume?.part(of: request.resumeIdentity)
                return taken != nil
            }
        }
        let part = try #require(taken.withLock { $0 })
        #expect(part.file.count == first)
        let spool = BodySpool(place)
        spool.resume(with: part)
        try Self.append(bytes[first...], to: spool)
        let body = try spool.finish()
        #expect(try Self.known(body) == (bytes.count < TrailingDigest.least ? nil : Self.digest(bytes)))
        #expect(try store(body).checksum == Self.digest(bytes))
        #expect(try engine.cache.disk.data(of: try stored()) == bytes)
        #expect(try engine.cache.verify(repairs: false).isClean)
    }

    /// What is hashed is what lies there, and not what came in an earlier process.
    @Test func beginningThatWasDamagedMeanwhileIsHashedAsItLies() throws {
        let bytes = hollowPNG(width: 7, count: 2 << 20)
        let file = engine.folder.path + "/file"
        overwrite(file, bytes)
        let digest = try #require(TrailingDigest(of: file))
        overwrite(file, [bytes[100] ^ 1], at: 100, truncates: false)
        digest.wrote(bytes.count)
        digest.seal()
        let lies = try #require(content(file))
        #expect(lies != bytes && digest.digest(of: FileStamp(path: file)) == Self.digest(lies))
    }

    @Test func fileThatCannotBeReadToItsEndHasNoDigest() throws {
        let file = engine.folder.path + "/file"
        overwrite(file, zeros(1 << 20))
        let digest = try #require(TrailingDigest(of: file))
        truncate(file, 700_000)
        digest.wrote(1 << 20)
        _ = digest.observer
        truncate(file, 1 << 20)
        digest.seal()
        #expect(digest.digest(of: FileStamp(path: file)) == nil)
        #expect(TrailingDigest(of: file + "~") == nil)
        symlink(file, file + "~")
        #expect(TrailingDigest(of: file + "~") == nil, "no link is followed")
    }

    /// A download that is cancelled keeps neither its file open nor the thread from others.
    @Test func digestThatNobodyWantsAnyMoreEndsAtOnce() async throws {
        let left = try leave()
        try await eventually("the digest is gone") { left.digest == nil }
    }

    private struct Left: Sendable { weak let digest: TrailingDigest? }

    /// A digest that nobody holds and that has minutes of work before it.
    private func leave() throws -> Left {
        let file = engine.folder.path + "/file"
        overwrite(file, [1])
        try #require(truncate(file, 1 << 38) == 0)
        let digest = try #require(TrailingDigest(of: file))
        digest.wrote(1 << 38)
        return Left(digest: digest)
    }

    @Test func bodyThatBreaksOffLetsGoOfItsFile() async throws {
        let bytes = hollowPNG(width: 7, count: 1 << 20)
        let spool = BodySpool(place)
        let request = try DownloadRequest(url: "http://127.0.0.1/a", options: NetworkOptions())
        spool.makeResumable(as: request, try Self.note(bytes.count))
        try Self.append(bytes, to: spool)
        #expect(openFiles(in: folder.path) == 2, "for who writes, and for who reads")
        spool.interrupt(keeps: true)
        try await eventually("both are closed") { [folder] in openFiles(in: folder.path) == 0 }
        withExtendedLifetime(spool) {}
    }

    @Test func manyFilesAreHashedAtOnce() throws {
        let bytes = (0..<12).map { hollowPNG(width: $0 + 1, count: 1_500_000 + $0) }
        let spools = bytes.map { _ in BodySpool(place) }
        for start in stride(from: 0, to: 1_500_012, by: 16 << 10) {
            for (bytes, spool) in zip(bytes, spools) where start < bytes.count {
                try Self.append(bytes[start..<min(start + 16 << 10, bytes.count)], to: spool)
            }
        }
        for (bytes, spool) in zip(bytes, spools) { #expect(try Self.known(spool.finish()) == Self.digest(bytes)) }
    }

    // MARK: Over the network

    @Test func largeImageFromAServerHasTheChecksumOfItsFile() async throws {
        let bytes = hollowPNG(width: 7, count: 3 << 20)
        let server = try LocalServer { _ in .reply(200, [:], bytes) }
        defer { server.stop() }
        let engine = try TestEngine { $0.downloader.proxy = .none }
        let record = try await engine.image(server.url("/a")).record
        #expect(record.checksum == Self.digest(bytes))
        #expect(record.path.flatMap(content) == bytes)
    }

    @Test(arguments: ["sha256", "sha384", "sha512"])
    func integrityOfALargeImageIsThatOfItsBytes(_ kind: String) async throws {
        let bytes = hollowPNG(width: 7, count: 1 << 20)
        let server = try LocalServer { _ in .reply(200, [:], bytes) }
        defer { server.stop() }
        let engine = try TestEngine { $0.downloader.proxy = .none }
        func integrity(_ bytes: [UInt8]) throws -> Integrity? {
            let digest = RunningDigest(try #require(RunningDigest.Kind(rawValue: kind)))
            bytes.withUnsafeBytes { digest.update($0) }
            return Integrity("\(kind)-" + base64(digest.finishedBytes()))
        }
        let (good, bad) = (try integrity(bytes), try integrity([1]))
        #expect(try await engine.failure(server.url("/a")) { $0.lookup.integrity = bad }?.name == "badData")
        #expect(engine.blobs.isEmpty)
        #expect(try await engine.failure(server.url("/a")) { $0.lookup.integrity = good } == nil)
    }

    /// Long scans, of which only the stretches with markers are read again.
    @Test(arguments: [true, false])
    func largeJPEGIsTakenWholeAndRefusedCutOff(_ isWhole: Bool) async throws {
        let small = try #require(Fixtures.valid.first { $0.format == "jpeg" }).bytes
        var generator = SeededGenerator(seed: 1)
        let noise = (0..<2 << 20).map { _ in UInt8(truncatingIfNeeded: generator.next()) & 0xFE }
        let bytes = small.dropLast(2) + noise + (isWhole ? [0xFF, 0xD9] : [0, 0])
        let server = try LocalServer { _ in .reply(200, [:], Array(bytes)) }
        defer { server.stop() }
        let engine = try TestEngine { $0.downloader.proxy = .none }
        let error = try await engine.failure(server.url("/a"))
        #expect(isWhole ? error == nil : error?.name == "badData")
    }
}

/// How many descriptors of this process are those of bodies that are being gathered in a cache folder.
private func openFiles(in folder: String) -> Int {
    ((try? Files.names(in: "/proc/self/fd")) ?? []).count { name in
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        return readlink("/proc/self/fd/\(name)", &target, target.count - 1) > 0
            && String(decoding: target.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                .hasPrefix(folder + "/partial/")
    }
}
