import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Random work against a dictionary, over restarts and with two storages at once.
@Suite struct DiskModelTests {
    @Test(arguments: 0..<4 as Range<UInt64>)
    func storageBehavesLikeADictionary(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var disk = try TestDisk { $0.bytesLimit = 0 }
        var other = try disk.reopened { $0.bytesLimit = 0 }
        var model: [String: [UInt8]] = [:]
        for step in 0..<1000 {
            let key = "key \(Int.random(in: 0..<25, using: &generator))"
            let actor = Bool.random(using: &generator) ? disk : other
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<45:
                let bytes = hollowPNG(
                    width: Int.random(in: 1...9999, using: &generator),
                    count: Int.random(in: 70...2000, using: &generator))
                let fileExtension = ["img", "png", nil].randomElement(using: &generator) ?? nil
                try actor.store(bytes, key, fileExtension: fileExtension)
                model[key] = bytes
            case 45..<65:
                let removed = try actor.disk.remove(CacheKey(key))
                #expect(removed.count == (model[key] == nil ? 0 : 1), "seed \(seed), step \(step)")
                #expect(removed.bytes == model[key]?.count ?? 0, "seed \(seed), step \(step)")
                model[key] = nil
            case 65..<97: #expect(try actor.bytes(key) == model[key], "seed \(seed), step \(step)")
            case 97:
                #expect(try actor.disk.removeAll().count == model.count, "seed \(seed), step \(step)")
                model = [:]
            case 98: disk = try disk.reopened { $0.bytesLimit = 0 }
            default: other = try disk.reopened { $0.bytesLimit = 0 }
            }
        }
        let totals = try disk.disk.totals()
        #expect(totals.count == model.count, "seed \(seed)")
        #expect(totals.bytes == model.values.reduce(0) { $0 + $1.count }, "seed \(seed)")
        #expect(totals.bytes == disk.bytesInBlobs, "seed \(seed)")
        #expect(disk.blobs.count == model.count, "seed \(seed)")
        #expect(disk.partials.isEmpty, "seed \(seed)")
        for (key, bytes) in model { #expect(try other.bytes(key) == bytes, "seed \(seed)") }
    }

    /// With a limit, what is there is right, and the sums are those of the files.
    @Test(arguments: 0..<3 as Range<UInt64>)
    func limitedStorageNeverServesWrongBytesAndItsSumsHold(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let disk = try TestDisk { $0.bytesLimit = 20_000 }
        var model: [String: [UInt8]] = [:]
        for step in 0..<500 {
            let key = "key \(Int.random(in: 0..<60, using: &generator))"
            if Bool.random(using: &generator) {
                let bytes = hollowPNG(
                    width: Int.random(in: 1...9999, using: &generator),
                    count: Int.random(in: 70...2000, using: &generator))
                // What was handed out within the last minute stays, limit or not.
                disk.clock.advance(seconds: 100)
                try disk.store(bytes, key)
                model[key] = bytes
                #expect(try disk.disk.totals().bytes <= 20_000, "seed \(seed), step \(step)")
            } else if let bytes = try disk.bytes(key) {
                #expect(bytes == model[key], "seed \(seed), step \(step)")
            }
        }
        #expect(try disk.disk.totals().bytes == disk.bytesInBlobs, "seed \(seed)")
        #expect(try disk.disk.totals().count == disk.blobs.count, "seed \(seed)")
        #expect(disk.disk.evictionCount > 0, "seed \(seed)")
    }
}
