import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import ImageErrors
@testable import Platform

/// Something that is no folder in the place of one of a cache's: an error that names it, never a miss, and never followed.
@Suite struct ObstacleTests {
    enum Obstacle: CaseIterable { case file, link, linkToNowhere }

    private let picture = hollowPNG(width: 7, count: 3000)

    /// Puts it into the place of a folder, which is moved to `outside`.
    private func put(_ obstacle: Obstacle, at place: String, _ disk: TestDisk) {
        let outside = disk.folder.path + "/outside"
        rename(place, outside)
        switch obstacle {
        case .file: overwrite(place, [1, 2, 3])
        case .link: symlink(outside, place)
        case .linkToNowhere: symlink(outside + "/nowhere", place)
        }
    }

    private func exists(_ path: String) -> Bool { (try? Files.kind(path)) != nil }

    private func shard(_ disk: TestDisk) throws -> String {
        let path = try disk.path("a")
        return String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }

    @Test(arguments: Obstacle.allCases, [(true, true), (true, false), (false, true), (false, false)])
    func inThePlaceOfImagesItIsAnErrorAndNothingIsForgotten(
        _ obstacle: Obstacle, _ way: (isShard: Bool, restarts: Bool)
    ) throws {
        let (isShard, restarts) = way
        let first = try TestDisk()
        try first.store(picture, "a")
        try first.store(hollowPNG(width: 8, count: 3000), "b")
        let place = try isShard ? shard(first) : first.root + "/blobs"
        put(obstacle, at: place, first)
        let outside = first.folder.files.filter { $0.hasPrefix("outside") }
        let disk = try restarts ? first.reopened() : first
        // A link to the image itself shows itself when the index is opened, or the image is not as it was.
        if obstacle != .link {
            for _ in 1...2 { #expect(throws: ImageError.self) { try disk.record("a") } }
            #expect(throws: ImageError.self) { try disk.disk.inspect(CacheKey("a")) }
        } else if restarts, !isShard {
            #expect(throws: ImageError.self) { try disk.record("a") }
        }
        if !isShard {
            #expect(throws: ImageError.self) { try disk.disk.totals() }
            #expect(throws: ImageError.self) { try disk.disk.list(ListQuery()) }
        }
        let failure = #expect(throws: ImageError.self) { try disk.disk.remove(CacheKey("a")) }
        #expect("\(String(describing: failure))".contains(place), "it names what is in the way")
        #expect(throws: ImageError.self) { try disk.disk.removeAll() }
        #expect(throws: ImageError.self) { try disk.check() }
        disk.disk.checkIndex()
        disk.disk.clean()
        #expect(exists(place) && first.folder.files.filter { $0.hasPrefix("outside") } == outside)
        unlink(place)
        rename(first.folder.path + "/outside", place)
        #expect(try disk.bytes("a") == picture, "all is as before when it has gone")
        #expect(try disk.check().isClean)
    }

    @Test(arguments: Obstacle.allCases, ["blobs", "blobs/ca", "partial", "leases"])
    func aRepairMovesItAsideAndAStoreGoesOn(_ obstacle: Obstacle, _ name: String) throws {
        for repairs in [true, false] {
            let first = try TestDisk()
            try first.store(picture, "a")
            #expect(try shard(first).hasSuffix("/ca"))
            let place = first.root + "/" + name
            put(obstacle, at: place, first)
            let outside = first.folder.files.filter { $0.hasPrefix("outside") }
            let disk = try first.reopened()
            #expect(throws: ImageError.self) { try disk.check() }
            if repairs { _ = try disk.disk.verify(repairs: true) }
            try disk.store(picture, "a")
            let aside = try setAside(first)
            let only = try #require(aside.first)
            #expect(aside.count == 1 && only.hasPrefix(name.split(separator: "/").joined(separator: "-")))
            if obstacle == .file { #expect(content(first.root + "/" + only) == [1, 2, 3]) }
            #expect(try disk.bytes("a") == picture && disk.reopened().bytes("a") == picture)
            #expect(try disk.check().isClean)
            #expect(first.folder.files.filter { $0.hasPrefix("outside") } == outside)
            var status = stat()
            #expect(lstat(place, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR)
        }
    }

    /// What was in the way and has another name now.
    private func setAside(_ disk: TestDisk) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: disk.root).filter { $0.contains(".moved-") }
    }

    @Test(arguments: ["store", "remove", "verify"]) func aFolderInThePlaceOfAnImageIsNotLost(_ by: String) throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let path = try disk.path("a")
        unlink(path)
        mkdir(path, 0o700)
        overwrite(path + "/file", [1, 2, 3])
        switch by {
        case "store": try disk.store(picture, "a")
        case "remove": _ = try disk.disk.remove(CacheKey("a"))
        default: _ = try disk.disk.verify(repairs: true)
        }
        if by == "store", exists(path + "/file") {
            // The new file has another name.
            #expect(try disk.bytes("a") == picture)
        } else {
            let only = try #require(try setAside(disk).first)
            #expect(content(disk.root + "/" + only + "/file") == [1, 2, 3])
        }
        #expect(try disk.bytes("a") == (by == "store" ? picture : nil))
    }

    @Test(arguments: ["look", "remove", "verify"]) func aLinkInThePlaceOfAnImageIsNotLost(_ by: String) throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        let path = try disk.path("a")
        unlink(path)
        symlink("/nowhere", path)
        switch by {
        case "look": #expect(try disk.record("a") == nil)
        case "remove": _ = try disk.disk.remove(CacheKey("a"))
        default: _ = try disk.disk.verify(repairs: true)
        }
        let only = try #require(try setAside(disk).first)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: disk.root + "/" + only) == "/nowhere")
        #expect(!exists(path))
    }

    /// The variant, whose turn comes later, cannot be looked at.
    @Test func aRemovalThatFailsHalfwayTakesNothingAway() throws {
        let disk = try TestDisk()
        try disk.store(picture, "a")
        try disk.store(hollowPNG(width: 8, count: 3000), "a", identifier: "small")
        let path = try #require(try disk.record("a", identifier: "small")?.path)
        let place = String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
        #expect(try place != shard(disk))
        put(.file, at: place, disk)
        for _ in 1...2 {
            #expect(throws: ImageError.self) { try disk.disk.remove(CacheKey("a"), allVariants: true) }
            #expect(try disk.bytes("a") == picture)
        }
        unlink(place)
        rename(disk.folder.path + "/outside", place)
        #expect(try disk.disk.remove(CacheKey("a"), allVariants: true).count == 2)
        #expect(disk.blobs.isEmpty && disk.partials.isEmpty)
        #expect(try disk.check().isClean && disk.disk.totals() == .init())
    }

    @Test func asALinkThatLeadsNowhereTheFolderIsNoEmptyCache() throws {
        let first = try TestDisk()
        try first.store(picture, "a")
        let elsewhere = first.folder.path + "/elsewhere"
        rename(first.root, elsewhere)
        symlink(elsewhere, first.root)
        #expect(try first.reopened().bytes("a") == picture, "one that leads to it is followed")
        rename(elsewhere, elsewhere + "~")
        for disk in [first, try first.reopened()] {
            #expect(throws: ImageError.self) { try disk.record("a") }
            #expect(throws: ImageError.self) { try disk.disk.remove(CacheKey("a")) }
            #expect(throws: ImageError.self) { try disk.disk.removeAll() }
            #expect(throws: ImageError.self) { try disk.disk.totals() }
            #expect(throws: ImageError.self) { try disk.check() }
            #expect(throws: ImageError.self) { try disk.store(picture, "a") }
        }
        rename(elsewhere + "~", elsewhere)
        #expect(try first.bytes("a") == picture)
    }

    @Test func whatIsOnTheWayToAFolderIsNotThatItIsEmpty() throws {
        let disk = try TestDisk()
        overwrite(disk.root, [1])
        #expect(throws: SystemError.self) { try Files.names(in: disk.root) }
        #expect(throws: SystemError.self) { try Files.kind(disk.root + "/file") }
        #expect(throws: SystemError.self) { try EntryLogContents(of: disk.disk.folder) }
        #expect(try Files.names(in: disk.root + "~").isEmpty && Files.kind(disk.root + "~") == nil)
    }
}
