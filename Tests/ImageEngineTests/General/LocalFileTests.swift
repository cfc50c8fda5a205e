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

/// Files of the user's are read where they lie and never copied.
@Suite struct LocalFileTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7)
    private var path: String { engine.folder.path + "/a b%é.png" }
    private var url: String { "file://" + engine.folder.path + "/a%20b%25%C3%A9.png" }

    init() throws { engine = try TestEngine() }

    @Test func fileIsReadWhereItLiesAndNotCopied() async throws {
        overwrite(path, picture)
        let result = try await engine.image(url, bytes: true)
        #expect(result.bytes == picture)
        #expect(result.record.path == path)
        #expect(result.record.isLocalFile)
        #expect(try await engine.image(url).cacheType == .memory)
        #expect(engine.folder.files == ["a b%é.png"], "no cache was made")
        for form in ["file:" + path.replacing("%", with: "%25"), "FILE://localhost" + url.dropFirst(7), url + "?x#y"] {
            #expect(try await engine.image(form).record.path == path, "\(form)")
        }
    }

    @Test func changedFileIsNoticed() async throws {
        overwrite(path, picture)
        _ = try await engine.image(url)
        overwrite(path, hollowPNG(width: 8, count: 130))
        setModified(path, 1_700_000_000)
        #expect(try await engine.image(url, bytes: true).record.header.width == 8)
        #expect(try await engine.image(url, bytes: true).bytes == hollowPNG(width: 8, count: 130))
        unlink(path)
        #expect(try await engine.failure(url) != nil)
        #expect(try engine.cache.cacheType(for: CacheKey(url), burst: 0, mayWait: true).value == nil)
    }

    @Test func linkIsFollowedButNotRemembered() async throws {
        overwrite(engine.folder.path + "/target", picture)
        symlink(engine.folder.path + "/target", path)
        #expect(try await engine.image(url, bytes: true).bytes == picture)
        overwrite(engine.folder.path + "/target", hollowPNG(width: 8))
        #expect(try await engine.image(url).record.header.width == 8)
    }

    @Test func removingAndClearingNeverTouchTheFile() async throws {
        overwrite(path, picture)
        _ = try await engine.image(url)
        _ = try engine.cache.remove(CacheKey(url), fromMemory: false)
        _ = try await engine.image(url)
        _ = try engine.cache.remove(CacheKey(url))
        _ = try await engine.image(url)
        _ = try engine.cache.clearDisk()
        _ = engine.cache.clearMemory()
        #expect(FileStamp(path: path)?.size == picture.count)
    }

    @Test func whatIsNoRegularFileIsRefusedAtOnce() async throws {
        mkfifo(engine.folder.path + "/fifo", 0o600)
        mkdir(engine.folder.path + "/folder", 0o700)
        symlink(engine.folder.path + "/loop", engine.folder.path + "/loop")
        for name in ["fifo", "folder", "loop", "missing", "missing/deeper", ""] {
            guard
                case .unreadableFile(_, let reason) = try await engine.failure(
                    "file://" + engine.folder.path + "/" + name)
            else {
                Issue.record("\(name) was read")
                continue
            }
            #expect(!reason.isEmpty)
        }
        #expect(try await engine.failure("file:///dev/zero")?.name == "unreadableFile")
        for url in ["file://", "file://elsewhere/a.png", "file:", "file:///a%00b"] {
            guard case .invalidURL = try await engine.failure(url) else {
                Issue.record("\(url) was read")
                continue
            }
        }
    }

    /// An error must not read files to a client that may only have pictures.
    @Test(arguments: [100, 1 << 20])
    func whatStandsInAFileThatIsNoPictureIsNotTold(_ count: Int) async throws {
        overwrite(path, ascii("root:secret") + [UInt8](repeating: 0x20, count: count))
        let stored = Result {
            try engine.manager.store(
                contentsOf: path, for: CacheKey("a"), in: engine.cache, options: ImageOptions())
        }
        let failures = [try await engine.failure(url), #expect(throws: ImageError.self) { try stored.get() }]
        for failure in failures {
            guard case .badData(_, _, let sample?) = failure else {
                Issue.record("\(String(describing: failure))")
                continue
            }
            #expect(sample.firstBytes.isEmpty && sample.type == "text/plain")
        }
        overwrite(path, Array(picture.prefix(20)))
        guard case .badData(_, _, let sample?) = try await engine.failure(url) else { return }
        #expect(sample.firstBytes == Array(picture.prefix(20)), "the beginning of a picture is told")
    }

    @Test func fileThatIsNoPictureOrTooLargeIsRefused() async throws {
        overwrite(path, ascii("hello"))
        guard case .badData = try await engine.failure(url) else {
            Issue.record("text was taken for a picture")
            return
        }
        overwrite(path, picture)
        guard case .limitExceeded("maxBytes", _, _) = try await engine.failure(url, { $0.network.limits.maxBytes = 10 })
        else {
            Issue.record("the limit was not held")
            return
        }
    }

    @Test func storedFileIsCopiedIntoTheCache() async throws {
        overwrite(path, picture)
        let result = try engine.manager.store(
            contentsOf: path, for: CacheKey("a"), in: engine.cache, options: ImageOptions())
        #expect(result.record.path != path && engine.blobs.count == 1)
        unlink(path)
        #expect(try await engine.image("nonsense", key: "a", bytes: true).bytes == picture)
        #expect(throws: ImageError.self) {
            try engine.manager.store(
                contentsOf: path, for: CacheKey("a"), in: engine.cache, options: ImageOptions())
        }
        #expect(engine.blobs.count == 1, "a failed store leaves what was there")
    }

    /// A writer that never rests, and may put the time of change back; small files are read at once, and large ones copied.
    @Test(arguments: [20_000, 3 << 20], [false, true])
    func whatIsStoredFromAFileThatIsBeingRewrittenIsOneStateOfItOrAnError(_ count: Int, _ hides: Bool) async throws {
        let states = (1...3).map { hollowPNG(width: $0, count: count) }
        overwrite(path, states[0])
        let isDone = Atomic(false)
        let gate = Platform.Semaphore()
        startThread { [path] in
            while !isDone.load(ordering: .relaxed) {
                for state in states {
                    overwrite(path, state, truncates: false)
                    if hides { setModified(path, 1_700_000_000) }
                }
            }
            gate.signal()
        }
        for number in 0..<(count > 1 << 20 ? 5 : 20) {
            do {
                let options = ImageOptions()
                _ = try engine.manager.store(
                    contentsOf: path, for: CacheKey("\(number)"), in: engine.cache, options: options)
            } catch ImageError.storageFailed(_, let hint, let cause) {
                #expect(cause == .changing && hint.contains("other program"))
                continue
            } catch let error as ImageError {
                Issue.record("\(error)")
                continue
            }
            let stored = try await engine.image("nonsense", key: "\(number)", bytes: true).bytes
            #expect(stored.map(states.contains) == true, "no mixture of two states is acknowledged")
        }
        isDone.store(true, ordering: .relaxed)
        gate.wait()
        let last = try engine.manager.store(
            contentsOf: path, for: CacheKey("last"), in: engine.cache, options: ImageOptions())
        #expect(last.record.byteCount == count)
    }

    @Test func aFileThatWasReplacedSinceItWasLookedAtIsNotCopied() throws {
        overwrite(path, picture)
        let state = try #require(FileState(following: path))
        let folder = engine.cache.disk.folder
        let draft = try folder.write(.file(path, as: state), for: "draft", syncs: false)
        #expect(try draft.checksum == folder.checksum(of: path))
        overwrite(path + "~", picture)
        rename(path + "~", path)
        #expect(throws: SystemError(ETXTBSY, "read a file while another program writes it:", path)) {
            try folder.write(.file(path, as: state), for: "draft", syncs: false)
        }
        #expect(engine.folder.files.count { $0.contains("/partial/draft") } == 1, "nothing is left of it")
    }

    @Test(arguments: [20_000, 3 << 20])
    func aFileWhoseTimeOfChangeWasPutBackIsNotCopied(_ count: Int) throws {
        overwrite(path, hollowPNG(width: 1, count: count))
        setModified(path, 1_700_000_000)
        let state = try #require(FileState(following: path))
        overwrite(path, hollowPNG(width: 2, count: count), truncates: false)
        setModified(path, 1_700_000_000)
        #expect(FileStamp(path: path) == state.stamp)
        #expect(throws: SystemError(ETXTBSY, "read a file while another program writes it:", path)) {
            try engine.cache.disk.folder.write(.file(path, as: state), for: "draft", syncs: false)
        }
    }

    /// More than may be held at once; each third cannot be stored.
    @Test func filesThatAreStoredAtTheSameTimeAreEachStoredAndHoldNothingAfterwards() async throws {
        let pictures = (1...40).map { hollowPNG(width: $0, count: 200_000) }
        let results = Mutex<[Int: Result<ImageResult, ImageError>]>([:])
        for (number, picture) in pictures.enumerated() {
            let path = "\(engine.folder.path)/\(number).png"
            overwrite(path, number % 3 == 0 ? Array(ascii("no picture")) : picture)
            engine.manager.store(
                .file(path), for: CacheKey("\(number)"), in: engine.cache, options: ImageOptions()
            ) { result in results.withLock { $0[number] = result } }
        }
        try await eventually("all are done") { results.withLock { $0.count } == pictures.count }
        for (number, picture) in pictures.enumerated() {
            let isStored = (try? results.withLock { $0[number] }?.get()) != nil
            #expect(isStored == (number % 3 != 0))
            guard isStored else { continue }
            #expect(try await engine.image("nonsense", key: "\(number)", bytes: true).bytes == picture)
        }
        try await eventually("all is given back") {
            let isFree = engine.manager.services.readAhead.take(4 << 20)
            if isFree { engine.manager.services.readAhead.giveBack(4 << 20) }
            return isFree
        }
    }

    /// What was read is held until it is stored, not only until it is written: so long it counts.
    @Test func whatWasReadAheadCountsUntilItIsStored() async throws {
        let (gate, begun, done) = (Platform.Semaphore(), Counter(), Counter())
        let all = engine.manager.services.readAhead
        @Sendable func store(_ number: Int) {
            let path = "\(engine.folder.path)/\(number).png"
            overwrite(path, hollowPNG(width: 1 + number, count: 200_000))
            engine.manager.store(
                .file(path), for: CacheKey("\(number)"), in: engine.cache, options: ImageOptions()
            ) { if case .success = $0 { done.add() } }
        }
        store(0)
        try await eventually("there is an index") { done.value == 1 }
        startThread { [engine] in
            try? engine.cache.disk.index.writeTogether { _ in
                if begun.add() == 1 { gate.wait() }
            }
        }
        try await eventually("it is held") { begun.value == 1 }
        for number in 1...4 { store(number) }
        try await eventually("all wait") { engine.cache.disk.index.commits.waitingCount == 4 }
        #expect(!all.take(4 << 20), "they are held")
        gate.signal()
        try await eventually("all are stored") { done.value == 5 }
        #expect(all.take(4 << 20))
        all.giveBack(4 << 20)
    }
}
