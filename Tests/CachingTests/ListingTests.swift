import Glibc
import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// What a cache holds can be looked through without loading an image or prolonging its life.
@Suite struct ListingTests {
    private func disk(_ count: Int) throws -> TestDisk {
        let disk = try TestDisk()
        for number in 0..<count {
            try disk.store(hollowPNG(width: number + 1), "http://h\(number % 3).example/\(number)?é")
        }
        return disk
    }

    private func all(_ disk: TestDisk, _ limit: Int = 100, _ change: (inout ListQuery) -> Void = { _ in }) throws
        -> [String]
    {
        var query = ListQuery()
        query.limit = limit
        change(&query)
        var keys: [String] = []
        while true {
            let page = try disk.disk.list(query)
            #expect(page.entries.count <= limit)
            keys += page.entries.compactMap(\.key)
            guard let next = page.next else { return keys }
            #expect(page.entries.count == limit, "only the last page is short")
            query.cursor = next
        }
    }

    @Test func everyEntryIsOnOnePageWhateverTheLimit() throws {
        let disk = try disk(23)
        let expected = Set((0..<23).map { "http://h\($0 % 3).example/\($0)?é" })
        let order = try all(disk)
        #expect(Set(order) == expected && order.count == 23)
        for limit in 1...25 { #expect(try all(disk, limit) == order, "limit \(limit)") }
        #expect(try all(try TestDisk()).isEmpty)
    }

    @Test func pagesGoOnWhereTheyWereWhateverIsUsedStoredOrRemovedMeanwhile() throws {
        let disk = try disk(30)
        let order = try all(disk)
        var query = ListQuery()
        query.limit = 10
        let first = try disk.disk.list(query)
        disk.wait(100)
        for key in order.reversed() { disk.disk.touch(try #require(try disk.record(key)), lease: 60) }
        disk.disk.flushTouches()
        // What ended the page before may be gone.
        _ = try disk.disk.remove(CacheKey(order[9]))
        _ = try disk.disk.remove(CacheKey(order[20]))
        for number in 100..<120 { try disk.store(hollowPNG(width: number), "new \(number)") }
        query.cursor = try #require(first.next)
        query.limit = 1000
        let rest = try disk.disk.list(query).entries.compactMap(\.key).filter { !$0.hasPrefix("new") }
        #expect(rest == order[10...].filter { $0 != order[20] })
    }

    @Test func filtersTakeHostPrefixFormatAndAge() throws {
        let disk = try disk(9)
        try disk.store(try Fixtures.bytes("gif-static.gif"), "gif % _ é")
        try disk.store(hollowPNG(width: 50), "redirected") { $0.origin.url = "http://H0.example:81/x" }
        #expect(try all(disk) { $0.host = "h1.example" }.count == 3)
        #expect(try all(disk) { $0.host = "H0.EXAMPLE" }.contains("redirected"))
        #expect(try all(disk) { $0.host = "example" }.isEmpty)
        #expect(try all(disk) { $0.prefix = "http://h2" }.count == 3)
        #expect(try all(disk) { $0.prefix = "HTTP" }.isEmpty)
        #expect(try all(disk) { $0.prefix = "gif % _ é" } == ["gif % _ é"])
        #expect(try all(disk) { $0.prefix = "gif _ %" }.isEmpty)
        try disk.store(hollowPNG(width: 55), "nul\0l")
        #expect(try all(disk) { $0.prefix = "nul\0" } == ["nul\0l"])
        #expect(try all(disk) { $0.prefix = "nul\0m" }.isEmpty)
        _ = try disk.disk.remove(CacheKey("nul\0l"))
        #expect(try all(disk) { $0.prefix = "" }.count == 11)
        #expect(try all(disk) { $0.format = .gif } == ["gif % _ é"])
        #expect(try all(disk) { $0.format = .heic }.isEmpty)
        #expect(try all(disk, 2) { ($0.host, $0.format) = ("h2.example", .png) }.count == 3)
        disk.wait(100)
        try disk.store(hollowPNG(width: 60), "young")
        disk.wait(10)
        #expect(try all(disk) { $0.maxAge = 10 } == ["young"])
        #expect(try all(disk) { $0.maxAge = 9 }.isEmpty)
        #expect(try all(disk) { $0.minAge = 10.5 }.count == 11)
        #expect(try all(disk) { $0.minAge = 10 }.count == 12)
        #expect(try all(disk) { ($0.minAge, $0.maxAge) = (11, 1e300) }.count == 11)
        #expect(try all(disk) { $0.minAge = 1e300 }.isEmpty)
    }

    @Test func whatIsOverIsNotListed() throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 1), "short", expiration: .seconds(10))
        try disk.store(hollowPNG(width: 2), "ever", expiration: .never)
        #expect(try all(disk).count == 2)
        disk.wait(10)
        #expect(try all(disk) == ["ever"])
        #expect(try all(disk.reopened()) == ["ever"])
    }

    @Test func everythingThatIsKnownIsTold() throws {
        let disk = try TestDisk()
        let picture = hollowPNG(width: 7, count: 3000)
        let key = CacheKey("http://h.example/a.png", identifier: "blur")
        try disk.store(picture, key.key, identifier: "blur", expiration: .seconds(1000)) {
            $0.origin = ImageOrigin(url: "http://cdn.example/x", etag: "\"1\"", lastModified: "yesterday")
            $0.metadata = #"{"title":"a cat"}"#
        }
        try disk.store(picture, "twin")
        disk.wait(100)
        disk.disk.touch(try #require(try disk.record(key.key, identifier: "blur")), lease: 60)
        disk.disk.flushTouches()
        disk.wait(10)
        let details = try #require(try disk.disk.inspect(key))
        #expect(details.key == key.key)
        #expect(details.processorIdentifier == "blur")
        #expect(details.hash == Digest(of: "http://h.example/a.png@blur").hex)
        #expect(details.path == disk.disk.path(for: key))
        #expect(details.header == (try ImageHeader(.png, 7, 1)))
        #expect(details.byteCount == 3000)
        #expect(details.allocatedBytes == FileStamp(path: disk.disk.path(for: key))?.allocated)
        #expect(details.checksum == picture.withUnsafeBytes { Digest(of: $0) }.hex)
        #expect(details.origin == ImageOrigin(url: "http://cdn.example/x", etag: "\"1\"", lastModified: "yesterday"))
        #expect(details.host == "cdn.example")
        #expect(details.metadata == #"{"title":"a cat"}"#)
        #expect(details.storedAt == 1_800_000_000)
        #expect(details.usedAt == 1_800_000_100)
        #expect(details.expiresAt == 1_800_001_000, "looking prolongs nothing")
        #expect(details.leasedUntil == 1_800_000_161)
        #expect(details.sharers == 2)
        let other = try #require(try disk.reopened().disk.inspect(CacheKey("twin")))
        #expect(other.metadata == nil && other.host == nil && other.leasedUntil == nil)
        #expect(try disk.disk.inspect(CacheKey("twin", identifier: "blur")) == nil)
        #expect(try disk.reopened().disk.list(ListQuery()).entries.first { $0.key == key.key }?.metadata != nil)
    }

    @Test(arguments: [50, 1000, nil] as [Int?])
    func theExpiryIsThatOfTheLatestUseBeforeThatIsWritten(_ seconds: Int?) throws {
        let disk = try TestDisk()
        try disk.store(hollowPNG(width: 7), "k", expiration: .seconds(100))
        let record = try #require(try disk.record("k"))
        record.extend(.expiration(seconds.map { .seconds(Double($0)) } ?? .never), at: disk.clock.seconds)
        disk.disk.touch(record)
        func told() throws -> [Int?] {
            try [#require(try disk.disk.inspect(CacheKey("k")))].map(\.expiresAt)
                + disk.disk.list(ListQuery()).entries.map(\.expiresAt)
        }
        let end = seconds.map { 1_800_000_000 + $0 }
        #expect(try told() == [end, end])
        disk.disk.flushTouches()
        #expect(try told() == [end, end])
        #expect(try disk.disk.inspect(CacheKey("k"))?.usedAt == 1_800_000_000)
    }

    @Test func inspectingIsNoUse() throws {
        let disk = try TestDisk(small)
        try disk.store(hollowPNG(width: 1, count: 1000), "1")
        try disk.store(hollowPNG(width: 2, count: 1000), "2")
        disk.wait(100)
        _ = try disk.disk.inspect(CacheKey("1"))
        _ = try all(disk)
        try disk.store(hollowPNG(width: 3, count: 1000), "3")
        #expect(try disk.record("1") == nil)
    }

    @Test func anAdoptedImageGetsItsKeyWhenItIsAskedFor() throws {
        let first = try TestDisk()
        let key = "http://h.example/a.png"
        try first.store(hollowPNG(width: 7), key)
        for suffix in ["", "-wal", "-shm"] { unlink(first.index + suffix) }
        unlink(first.root + "/entries.log")
        let disk = try first.reopened()
        _ = try disk.disk.verify(repairs: true)
        let listed = try #require(try disk.disk.list(ListQuery()).entries.first)
        #expect(listed.key == nil)
        #expect(listed.hash == Digest(of: key).hex)
        #expect(try disk.disk.inspect(CacheKey(key))?.key == key)
        #expect(try disk.disk.list(ListQuery()).entries.map(\.key) == [key])
        #expect(try all(disk) { $0.host = "h.example" } == [key])
        #expect(try disk.check().isClean)
    }
}
