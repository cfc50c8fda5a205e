import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Images that were looked for in vain need not be looked for again until somebody has stored something.
@Suite struct KnownMissesTests {
    private func look(_ disk: TestDisk, _ key: String) throws -> Bool {
        if case .missing = try disk.disk.lookUp(CacheKey(key)) { true } else { false }
    }

    @Test func aMissIsKnownUntilTheImageIsStoredByAnybody() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "first")
        #expect(!disk.disk.isStillMissing(CacheKey("a")), "nobody has looked")
        let other = try disk.reopened()
        for (number, writer) in [disk, other].enumerated() {
            let key = "a\(number)"
            #expect(try look(disk, key))
            #expect(disk.disk.isStillMissing(CacheKey(key)))
            try writer.store(hollowPNG(width: 2 + number), key)
            #expect(!disk.disk.isStillMissing(CacheKey(key)))
            #expect(try !look(disk, key))
            _ = try writer.disk.remove(CacheKey(key))
            #expect(!disk.disk.isStillMissing(CacheKey(key)), "it may have been there")
            #expect(try look(disk, key))
            #expect(disk.disk.isStillMissing(CacheKey(key)))
        }
    }

    @Test func aMissIsKnownNoLongerOnceACheckHasTakenTheImageIn() throws {
        let disk = try TestDisk()
        let path = try #require(try disk.store(hollowPNG(width: 1), "a").path)
        let others = [disk, try disk.reopened()]
        rename(path, disk.folder.path + "/away")
        _ = try disk.disk.verify(repairs: true)
        for other in others { #expect(try look(other, "a") && other.disk.isStillMissing(CacheKey("a"))) }
        rename(disk.folder.path + "/away", path)
        #expect(try disk.disk.verify(repairs: true).adopted == 1)
        for other in others { #expect(try !other.disk.isStillMissing(CacheKey("a")) && !look(other, "a")) }
    }

    /// More than are remembered, so that some are forgotten; none is taken for another.
    @Test func manyMissesAreToldApart() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "first")
        for number in 0..<5000 { #expect(try look(disk, "\(number)")) }
        let known = (0..<5000).count { disk.disk.isStillMissing(CacheKey("\($0)")) }
        #expect((1...4096).contains(known))
        #expect((5000..<10_000).allSatisfy { !disk.disk.isStillMissing(CacheKey("\($0)")) })
    }

    @Test func nothingIsKnownWhereOthersCannotTellOfTheirStores() throws {
        let disk = try TestDisk()
        #expect(try look(disk, "a") && !disk.disk.isStillMissing(CacheKey("a")), "there is no folder")
        try disk.store(hollowPNG(width: 1), "first")
        #expect(try look(disk, "a") && disk.disk.isStillMissing(CacheKey("a")))
        // Another folder in its place, as after a restore from a backup.
        rename(disk.disk.folder.path, disk.disk.folder.path + ".old")
        let other = try disk.reopened()
        try other.store(hollowPNG(width: 2), "a")
        #expect(try !look(disk, "a"))
        #expect(!disk.disk.isStillMissing(CacheKey("a")))
    }
}
