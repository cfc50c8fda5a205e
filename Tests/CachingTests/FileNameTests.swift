import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// How files are named, and how the folders of other caches are read.
@Suite struct FileNameTests {
    private let picture = hollowPNG(width: 7)
    private let cat = "https://example.com/cat.png"

    // MARK: Names

    /// As Kingfisher before version 8 and SDWebImage name theirs.
    @Test(arguments: [
        ("https://example.com/cat.png", "", "a892c86a9d186f74f9a1196a10f5a505"),
        ("https://example.com/cat.png", "round(10)", "3d04160bdd7dbc3441baca21570b537c"),
        ("ключ", "", "c3657b66c60a307292aae11f07b04ae7"),
        ("", "", "d41d8cd98f00b204e9800998ecf8427e"),
    ])
    func filesAreNamedByTheMD5OfTheKey(_ key: String, _ identifier: String, _ hex: String) throws {
        let disk = try TestDisk { $0.fileNames = .md5 }
        let path = try #require(try disk.store(picture, key, identifier: identifier).path)
        #expect(path.hasSuffix("/blobs/\(hex.prefix(2))/\(hex).png"))
        #expect(try disk.bytes(key, identifier: identifier) == picture)
        #expect(try disk.reopened { $0.fileNames = .md5 }.bytes(key, identifier: identifier) == picture)
        #expect(try disk.disk.inspect(CacheKey(key, identifier: identifier))?.hash == hex)
        #expect(try disk.check().isClean)
        #expect(try disk.disk.remove(CacheKey(key, identifier: identifier)).count == 1)
        #expect(disk.blobs.isEmpty)
    }

    @Test func aFolderThatLostItsIndexIsAdoptedWithMD5NamesToo() async throws {
        let disk = try TestDisk { $0.fileNames = .md5 }
        for number in 1...5 { try disk.store(hollowPNG(width: number), "\(number)") }
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        let after = try disk.reopened { $0.fileNames = .md5 }
        #expect(try after.bytes("3") == hollowPNG(width: 3))
        try await eventually("the adoption is over") { !after.disk.index.isAdopting }
        #expect(try after.disk.totals().count == 5)
        #expect(try after.check().isClean)
    }

    @Test func bothWaysOfNamingLiveInOneFolder() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let other = try disk.reopened { $0.fileNames = .md5 }
        #expect(try other.record("a") == nil)
        try other.store(hollowPNG(width: 8), "a")
        #expect(try disk.bytes("a") == picture)
        #expect(try other.bytes("a") == hollowPNG(width: 8))
        #expect(try disk.disk.totals().count == 2)
        #expect(try disk.check().isClean)
        #expect(try other.disk.list(ListQuery()).entries.count == 2)
    }

    @Test func removingTakesTheImageUnderEitherName() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let other = try disk.reopened { $0.fileNames = .md5 }
        try other.store(hollowPNG(width: 8), "a")
        #expect(try other.disk.remove(CacheKey("a")).count == 2)
        #expect(disk.blobs.isEmpty)
        #expect(try disk.record("a") == nil)
    }

    @Test(arguments: [
        ("http://h/a.jpg?x=.gif", DiskStorage.PathExtension.sniffed, "png"),
        ("http://h/a.jpg?x=.gif", .fromKey, "jpg"), ("http://h/a.jpg?x=.gif", .none, ""),
        ("http://h/a.jpg?x=.gif", .fixed("cache"), "cache"), ("http://h/a", .sniffed, "png"),
        ("http://h/a", .fromKey, ""), ("http://h/a", .fixed("A1"), "A1"), ("http://h/a.b/c", .fromKey, ""),
        ("x.tar.GZ", .fromKey, "GZ"), ("x.é", .fromKey, ""), ("x.12345678901234567", .fromKey, ""),
        (".hidden", .fromKey, ""),
    ])
    func extensionFollowsThePolicy(_ key: String, _ policy: DiskStorage.PathExtension, _ wanted: String) throws {
        let disk = try TestDisk { $0.pathExtension = policy }
        let path = try #require(try disk.store(picture, key).path)
        #expect(path.hasSuffix(StorageFolder.fileName(Digest(of: key).hex, wanted)))
        #expect(try disk.bytes(key) == picture)
        #expect(try disk.reopened().bytes(key) == picture, "a name given under another policy is found")
        for suffix in ["", "-wal", "-shm"] { unlink(disk.index + suffix) }
        let after = try disk.reopened { $0.pathExtension = policy }
        #expect(try after.bytes(key) == picture, "and without an index")
    }

    @Test func aChangedPolicyRenamesWithTheNextStore() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        var configuration = disk.disk.configuration
        configuration.pathExtension = .none
        disk.disk.configure(configuration)
        #expect(try disk.path("a").hasSuffix(".png"))
        try disk.store(picture, "a")
        #expect(!(try disk.path("a").hasSuffix(".png")))
        #expect(disk.blobs.count == 1)
        #expect(try disk.check().isClean)
    }

    // MARK: Read-only folders

    /// A folder besides the cache.
    private func place(_ folder: TemporaryFolder, _ name: String, _ files: [String: [UInt8]]) throws -> String {
        let path = folder.path + "/" + name
        for (file, bytes) in files {
            let target = path + "/" + file
            try FileManager.default.createDirectory(
                atPath: (target as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            overwrite(target, bytes)
        }
        return path
    }

    private enum Layout: CaseIterable {
        case flat, flatWithoutExtension, halcyon, halcyonWithoutExtension, halcyonOther
    }

    private func file(_ layout: Layout, _ hex: String) -> String {
        switch layout {
        case .flat: "\(hex).png"
        case .flatWithoutExtension: hex
        case .halcyon: "blobs/\(hex.prefix(2))/\(hex).png"
        case .halcyonWithoutExtension: "blobs/\(hex.prefix(2))/\(hex)"
        case .halcyonOther: "blobs/\(hex.prefix(2))/\(hex).webp"
        }
    }

    @Test(arguments: DiskStorage.FileNames.allCases)
    func imagesInReadOnlyFoldersAreFoundAndNeverWritten(_ names: DiskStorage.FileNames) throws {
        for layout in Layout.allCases {
            let folder = try TemporaryFolder()
            let hex = names == .md5 ? "a892c86a9d186f74f9a1196a10f5a505" : Digest(of: cat).hex
            let path = try place(folder, "bundle", [file(layout, hex): picture])
            let before = folder.files
            let disk = try TestDisk(folder: folder) {
                $0.readOnlyPaths = ["/nowhere", path]
                $0.fileNames = names
            }
            let at: Comment = "\(layout)"
            #expect(try disk.bytes(cat) == picture, at)
            #expect(try disk.path(cat) == path + "/" + file(layout, hex), at)
            #expect(try disk.record(cat)?.expiresAt == nil, at)
            #expect(try disk.record(cat + "x") == nil, at)
            #expect(try disk.record(cat, identifier: "blur") == nil, at)
            let details = try #require(try disk.disk.inspect(CacheKey(cat)))
            #expect(details.hash == nil && details.byteCount == picture.count, at)
            // Use, removal, clearing and cleaning leave it alone.
            let record = try #require(try disk.record(cat))
            disk.disk.touch(record, lease: 60)
            disk.disk.flushTouches()
            #expect(try disk.disk.remove(CacheKey(cat)) == .init(), at)
            #expect(try disk.disk.removeAll().count == 0, at)
            disk.disk.clean()
            #expect(try disk.disk.totals() == .init(), at)
            #expect(folder.files == before, at)
            #expect(try disk.bytes(cat) == picture, at)
        }
    }

    @Test func theCacheComesFirstAndThenTheFoldersInOrder() throws {
        let folder = try TemporaryFolder()
        let hex = Digest(of: cat).hex
        let one = try place(folder, "one", ["\(hex).png": hollowPNG(width: 1)])
        let two = try place(
            folder, "two", ["\(hex).png": hollowPNG(width: 2), Digest(of: "b").hex: hollowPNG(width: 3)])
        let disk = try TestDisk(folder: folder) { $0.readOnlyPaths = [two] }
        #expect(try disk.record(cat)?.header.width == 2)
        var configuration = disk.disk.configuration
        configuration.readOnlyPaths = [two, one]
        disk.disk.configure(configuration)
        #expect(try disk.record(cat)?.header.width == 2)
        configuration.readOnlyPaths = [one, two]
        disk.disk.configure(configuration)
        #expect(try disk.record(cat)?.header.width == 1)
        #expect(try disk.record("b")?.header.width == 3)
        try disk.store(hollowPNG(width: 9), cat)
        #expect(try disk.record(cat)?.header.width == 9)
        #expect(try disk.disk.remove(CacheKey(cat)).count == 1)
        #expect(try disk.record(cat)?.header.width == 1)
        try disk.store(hollowPNG(width: 9), cat, expiration: .seconds(10))
        disk.wait(10)
        #expect(try disk.record(cat)?.header.width == 1, "what is over hides nothing")
    }

    @Test func replacedBundledFileIsNoticed() throws {
        let folder = try TemporaryFolder()
        let path = try place(folder, "bundle", ["\(Digest(of: cat).hex).png": picture])
        let disk = try TestDisk(folder: folder) { $0.readOnlyPaths = [path] }
        let record = try #require(try disk.record(cat))
        #expect(record.isIntact(burst: 0))
        let file = try #require(record.path)
        overwrite(file + "~", hollowPNG(width: 8))
        rename(file + "~", file)
        #expect(!record.isIntact(burst: 0))
        #expect(try disk.record(cat)?.header.width == 8)
        #expect(try disk.bytes(cat) == hollowPNG(width: 8))
        overwrite(file, ascii("no picture"))
        #expect(try disk.record(cat) == nil)
        unlink(file)
        #expect(try disk.record(cat) == nil)
    }

    @Test func linksAndFoldersInReadOnlyFoldersAreNotFollowed() throws {
        let folder = try TemporaryFolder()
        let hex = Digest(of: cat).hex
        let path = try place(folder, "bundle", ["other": picture])
        symlink(path + "/other", path + "/\(hex).png")
        mkdir(path + "/\(hex)", 0o700)
        let disk = try TestDisk(folder: folder) { $0.readOnlyPaths = [path] }
        #expect(try disk.record(cat) == nil)
    }
}
