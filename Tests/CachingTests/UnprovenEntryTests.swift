import Foundation
import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// The machine went down shortly after a store: the file's name, size and time may have reached the disk without its bytes.
@Suite struct UnprovenEntryTests {
    /// Makes a file's bytes zeros, as a power cut may, with its size and time of change.
    private func lose(_ path: String) throws {
        let stamp = try #require(FileStamp(path: path))
        let file = try Descriptor(path, O_WRONLY)
        try zeros(stamp.size).withUnsafeBytes { try file.write($0) }
        let time = timespec(tv_sec: stamp.modified / 1_000_000_000, tv_nsec: stamp.modified % 1_000_000_000)
        _ = [time, time].withUnsafeBufferPointer { utimensat(AT_FDCWD, path, $0.baseAddress, 0) }
        #expect(FileStamp(path: path)?.matches(stamp) == true)
    }

    @Test func lostBytesOfALateStoreAreNeverAnswered() throws {
        let first = try TestDisk()
        try first.store(hollowPNG(width: 1, count: 1000), "lost")
        try first.store(hollowPNG(width: 2, count: 1000), "kept")
        try lose(try first.path("lost"))
        let disk = try first.restarted()
        #expect(try disk.record("lost") == nil)
        #expect(try disk.bytes("kept") == hollowPNG(width: 2, count: 1000))
        #expect(try disk.disk.totals().count == 1)
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs)
    }

    @Test func whatWasStoredLongBeforeIsNotReadAgain() throws {
        let first = try TestDisk()
        try first.store(hollowPNG(width: 1, count: 1000), "old")
        first.wait(1000)
        try first.store(hollowPNG(width: 2, count: 1000), "new")
        // Nobody can tell without reading it, and at this age nobody reads it.
        try lose(try first.path("old"))
        let disk = try first.restarted()
        #expect(try disk.record("old") != nil)
        #expect(try disk.record("new") != nil)
    }

    @Test func eachIsReadOnce() throws {
        let first = try TestDisk()
        try first.store(hollowPNG(width: 1, count: 1000), "a")
        let disk = try first.restarted()
        let path = try disk.path("a")
        try lose(path)
        #expect(try disk.record("a") != nil, "it has been proven, and its stamp is the same")
    }

    @Test func theCheckOfTheFolderProvesAll() throws {
        let first = try TestDisk()
        try first.store(hollowPNG(width: 1, count: 1000), "lost")
        try first.store(hollowPNG(width: 2, count: 1000), "kept")
        try lose(try first.path("lost"))
        let disk = try first.restarted()
        disk.disk.checkIndex()
        #expect(try disk.disk.totals().count == 1)
        #expect(IndexFile.rows("SELECT unproven_from, unproven_to FROM totals", disk.index) == ["1|0"])
        #expect(try disk.reopened().bytes("kept") == hollowPNG(width: 2, count: 1000))
    }

    @Test func aRestartOfTheProcessAloneProvesNothing() throws {
        let first = try TestDisk()
        try first.store(hollowPNG(width: 1, count: 1000), "a")
        _ = try first.reopened().record("a")
        #expect(IndexFile.rows("SELECT unproven_from, unproven_to FROM totals", first.index) == ["1|0"])
    }
}
