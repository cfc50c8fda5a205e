import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Names, modes and leftovers in the folder of a cache.
@Suite struct DiskFolderTests {
    private let picture = hollowPNG(width: 7)

    /// Keys that lead elsewhere, differ only in case or form, or are no text for a file system.
    private static func hostileKeys() -> [String] {
        var keys = [
            "", ".", "..", "/", "../../x", "/etc/passwd", "a/../../b", "a", "A", "é", "e\u{301}", "a\u{0}", "a\u{0}b",
            "\n",
            "a ", " a", "a.", "CON", "%2e%2e/", "..\\..\\x", "~", "$HOME", "`ls`", "\u{202E}", "\u{FEFF}", "🖼️",
            String(repeating: "../", count: 400), String(repeating: "x", count: 5000),
        ]
        var generator = SeededGenerator(seed: 1)
        while keys.count < 2000 {
            let scalars = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                ["../", "/", ".", "\u{0}", "a", "B", "é", "e\u{301}", "@", "%00", "?", "#", ".png", "\u{10FFFF}"]
                    .randomElement(using: &generator) ?? ""
            }
            keys.append(scalars.joined() + "\(keys.count)")
        }
        return keys
    }

    @Test func hostileKeysStayInsideTheRootAndDoNotCollide() throws {
        let disk = try TestDisk()
        let keys = Self.hostileKeys()
        let paths = keys.map { disk.disk.path(for: CacheKey($0)) }
        let hex = Set("0123456789abcdef")
        for (key, path) in zip(keys, paths) {
            #expect(path.hasPrefix(disk.root + "/blobs/"), "\(key.debugDescription)")
            let parts = path.dropFirst(disk.root.count + "/blobs/".count).split(separator: "/")
            #expect(parts.count == 2 && parts[0].count == 2 && parts[0].allSatisfy(hex.contains))
            #expect(parts[1].prefix(64).allSatisfy(hex.contains) && parts[1].prefix(64).count == 64)
        }
        #expect(Set(paths).count == keys.count)
    }

    @Test func hostileKeysCanBeStoredFoundAndRemoved() throws {
        let disk = try TestDisk { $0.bytesLimit = 0 }
        let keys = Array(Self.hostileKeys().prefix(150))
        for (index, key) in keys.enumerated() { try disk.store(hollowPNG(width: index + 1), key) }
        #expect(disk.blobs.count == keys.count)
        for (index, key) in keys.enumerated() {
            #expect(try disk.record(key)?.header.width == index + 1, "\(key.debugDescription)")
        }
        #expect(disk.folder.files.allSatisfy { $0.hasPrefix("cache/") })
        for key in keys { #expect(try disk.disk.remove(CacheKey(key)).count == 1, "\(key.debugDescription)") }
        #expect(disk.blobs.isEmpty)
    }

    /// Thousands of requests may come before the first image is there.
    @Test func whatIsAskedOfAFolderWithoutImagesIsMissingAtOnce() throws {
        let disk = try TestDisk()
        func isMissing() throws -> Bool {
            if case .missing = try disk.disk.lookUp(CacheKey("a")) { true } else { false }
        }
        #expect(try isMissing())
        try disk.disk.folder.prepare()
        #expect(try isMissing())
        try disk.store(picture, "b")
        #expect(try isMissing())
        #expect(try disk.record("b") != nil)
    }

    @Test func pathTellsWhereAnImageIsOrWouldBe() throws {
        let disk = try TestDisk()
        let key = CacheKey("http://h/a.png")
        let foretold = disk.disk.path(for: key)
        #expect(foretold.hasSuffix(".png"))
        #expect(try disk.store(picture, key.key).path == foretold)
        #expect(!disk.disk.path(for: CacheKey("a")).contains("."), "nothing foretells an extension")
    }

    @Test func unwritableRootIsAClearErrorAndNoCrash() async throws {
        for depth in ["", "/deeper", "/deeper/still"] {
            let folder = try TemporaryFolder()
            overwrite(folder.path + "/cache", [1])
            let disk = try TestDisk(folder: folder) { $0.folder += depth }
            #expect(throws: ImageError.self, "what is in the way says nothing about images") { try disk.record("a") }
            let failure = try #require(throws: ImageError.self) { try disk.store(picture, "a") }
            guard case .storageFailed(let reason, let hint, _) = failure else {
                Issue.record("\(failure)")
                continue
            }
            #expect(reason.contains(folder.path + "/cache"), "it names the thing in the way")
            #expect(!hint.isEmpty)
            unlink(folder.path + "/cache")
            try disk.store(picture, "a")
            #expect(try disk.bytes("a") == picture, "it works as soon as the way is free")
        }
    }

    @Test func rootThatIsAFileFailsForRemovalsAndTotalsWithoutACrash() throws {
        let disk = try TestDisk()
        overwrite(disk.root, [1])
        #expect(throws: ImageError.self) { try disk.disk.remove(CacheKey("a")) }
        #expect(throws: ImageError.self) { try disk.disk.removeAll() }
        #expect(throws: ImageError.self) { try disk.disk.totals() }
        #expect(throws: ImageError.self) { try disk.check() }
        #expect(FileStamp(path: disk.root)?.size == 1, "what is not ours stays")
    }

    @Test func rootThatCannotBeLookedAtIsNeitherEmptyNorCleared() throws {
        let disk = try TestDisk()
        symlink(disk.root, disk.root)
        let key = CacheKey("a")
        #expect(throws: ImageError.self) { try disk.record("a") }
        #expect(throws: ImageError.self) { try disk.disk.remove(key) }
        #expect(throws: ImageError.self) { try disk.disk.removeAll() }
        #expect(throws: ImageError.self) { try disk.disk.totals() }
        #expect(throws: ImageError.self) { try disk.disk.removeExpired() }
        #expect(throws: ImageError.self) { try disk.disk.list(ListQuery()) }
        #expect(throws: ImageError.self) { try disk.check() }
        unlink(disk.root)
        #expect(try disk.record("a") == nil && disk.check().isClean, "a folder that is not there is an empty cache")
    }

    @Test func oldLeftoversAreCollectedAndYoungOnesAreNot() throws {
        let first = try TestDisk()
        try first.store(picture, "a")
        let partial = first.root + "/partial/"
        let now = Int(Date().timeIntervalSince1970)
        for (name, age) in [("old", 3700), ("ancient", 1_000_000), ("young", 3500), ("new", 0), ("future", -5000)] {
            overwrite(partial + name, [1])
            setModified(partial + name, now - age)
        }
        mkdir(partial + "1-2-3.cleared", 0o700)
        mkdir(partial + "1-2-3.cleared/ab", 0o700)
        overwrite(partial + "1-2-3.cleared/ab/file", [1])
        let outside = first.folder.path + "/outside"
        mkdir(outside, 0o700)
        overwrite(outside + "/kept", [1])
        symlink(outside, partial + "1-2-3.cleared/link")
        symlink(outside, partial + "link.cleared")
        try first.reopened().store(picture, "b")
        #expect(first.partials == ["cache/partial/future", "cache/partial/new", "cache/partial/young"])
        #expect(FileStamp(path: outside + "/kept") != nil, "a link is removed, not what it leads to")
        _ = try first.disk.removeAll()
        #expect(first.partials.count == 3, "clearing takes nothing that is being written")
    }

    /// The mask belongs to the whole process; no other test depends on it.
    @Test func foldersAndFilesAreForTheOwnerAloneWhateverTheMask() throws {
        for mask: mode_t in [0o000, 0o077] {
            let old = umask(mask)
            defer { umask(old) }
            let disk = try TestDisk()
            try disk.store(picture, "a")
            _ = try disk.disk.folder.write(.bytes(zeros(1000)), for: "draft", syncs: false)
            for entry in try FileManager.default.subpathsOfDirectory(atPath: disk.root) + [""] {
                let path = disk.root + "/" + entry
                let isFile = FileStamp(path: path) != nil
                #expect(mode(path) == (isFile ? 0o600 : 0o700), "\(entry) under mask \(String(mask, radix: 8))")
            }
            #expect(disk.partials.count == 1)
        }
    }

    /// The mask belongs to the whole process; no other test depends on it.
    @Test func whatIsMadeInASharedFolderIsForAllOfItsGroupWhateverTheMask() throws {
        for mask: mode_t in [0o000, 0o077] {
            let old = umask(mask)
            defer { umask(old) }
            let disk = try TestDisk(isShared: true) { $0.folder = $0.folder + "s/shared/cache" }
            let folder = disk.disk.folder
            try disk.store(picture, "a", identifier: "p")
            try disk.store(picture, "twin")
            try disk.store(hollowPNG(width: 8), "a")
            disk.disk.rewriteLog()
            disk.disk.checkIndex()
            SharedLines(folder, name: "names").add("line")
            _ = DownloadLock(folder: folder).take(Digest(of: "a"))
            let part = ResumeFolder(folder).begin(Digest(of: "a")) { _ in "note" }
            #expect(disk.disk.lend(LeaseNumber(1, fileNumber: 0), for: 60, bytes: 1))
            let entries = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            let kinds = ["entries.log", "names", "flights", "leases/table", "index.sound", "index.reserve"]
            #expect(Set(kinds).isSubset(of: entries) && entries.contains { $0.hasSuffix(".session") })
            #expect(entries.count { $0.contains("partial/resume/") } == 2)
            for entry in entries + ["", ".."] {
                let path = folder.path + "/" + entry
                let isFile = FileStamp(path: path) != nil
                #expect(mode(path) == (isFile ? 0o660 : 0o2770), "\(entry) under mask \(String(mask, radix: 8))")
            }
            #expect(mode(folder.path + "/../..") == 0o710, "others of the group may pass, and add nothing")
            withExtendedLifetime(part) {}
        }
    }

    @Test func folderIsMarkedForBackupPrograms() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let tag = try String(contentsOfFile: disk.root + "/CACHEDIR.TAG", encoding: .utf8)
        #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
    }

    @Test func nothingIsMadeBeforeTheFirstStore() throws {
        let disk = try TestDisk()
        _ = try disk.record("a")
        _ = try disk.disk.totals()
        _ = try disk.disk.remove(CacheKey("a"))
        _ = try disk.disk.removeAll()
        disk.disk.flushTouches()
        #expect(FileStamp(path: disk.root) == nil && !FileManager.default.fileExists(atPath: disk.root))
    }
}
