import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

private let start = 1_800_000_000
private let key = CacheKey("http://a.example/cat.png?token=secret")

/// What machines tell each other of an image.
@Suite struct PortableRecordTests {
    private let header = Result { try ImageHeader(.png, 7, 7) }

    /// A clock whose wall clock shows a time, and whose machine has run for another one.
    private func clock(wall: Int = start, boot: Int = 5000) -> CacheClock {
        CacheClock(EngineClock(monotonic: { 0 }, wall: { wall }, boot: { boot * 1_000_000_000 }))
    }

    private func record(
        _ key: CacheKey = key, storedAt: Int = start, receivedAt: Int = start, life: EntryLife = .span(1000),
        control: String? = "max-age=500"
    ) throws -> ImageRecord {
        var origin = ImageOrigin(url: key.key, etag: "\"1\"", lastModified: nil)
        origin.http =
            HTTPMetadata(
                control.map { ["cache-control": $0] } ?? [:], to: HTTPScope(), at: receivedAt, wall: receivedAt
            ).text
        origin.facts = ImageFacts(preview: "p", sourceMark: "m", verdict: .sound)
        return ImageRecord(
            key: key, header: try header.get(), byteCount: 100, path: nil, origin: origin, storedAt: storedAt,
            life: life)
    }

    private func read(_ bytes: [UInt8], _ clock: CacheClock, as other: CacheKey = key) -> ImageRecord? {
        try? ImageRecord(portable: bytes, of: other, from: "http://a.example/cat.png?token=other", clock)
    }

    @Test func aRecordIsReadAsItWasWritten() throws {
        let found = try #require(read(try record().portable(clock()), clock()))
        #expect(found.header == (try header.get()) && found.byteCount == 100 && found.etag == "\"1\"")
        #expect(found.storedAt == start && found.remainingSeconds(clock()) == 1000)
        #expect(found.answer?.metadata.receivedAt == start && found.path == nil)
        // What was made knows its original; what was found out about bytes is found out again.
        #expect(found.origin.facts == ImageFacts(sourceMark: "m"))
    }

    @Test func theKeyAndTheQueryOfTheURLAreNotInIt() throws {
        let text = String(decoding: try record().portable(clock()), as: UTF8.self)
        #expect(!text.contains("secret") && !text.contains("a.example"))
        #expect(read(try record().portable(clock()), clock())?.url == "http://a.example/cat.png?token=other")
    }

    @Test func aRecordOfAnotherKeyIsNone() throws {
        let bytes = try record().portable(clock())
        #expect(read(bytes, clock(), as: CacheKey("http://a.example/dog.png")) == nil)
        #expect(read(bytes, clock(), as: CacheKey(key.key, identifier: "resize.1(width=1)")) == nil)
    }

    @Test(arguments: [-1200, -1, 0, 1, 101, 102])
    func ageAndLifeGoByTheWallClocksAndNeverBelowNothing(ahead: Int) throws {
        // The machine that wrote it was ahead by so much, and it is read 100 s later.
        let bytes = try record(storedAt: start, receivedAt: start).portable(clock(wall: start))
        let reader = clock(wall: start + 100 - ahead, boot: 77)
        let found = try #require(read(bytes, reader))
        let age = max(0, 100 - ahead)
        #expect(found.answer?.metadata.age(at: reader.now) == age)
        #expect(reader.now - found.storedAt == age)
        #expect(found.remainingSeconds(reader) == 1000 - age)
        #expect(found.isExpired == (age >= 1000))
    }

    @Test(arguments: [3, 1200, 86_400], [true, false])
    func aRecordOfAMachineWhoseClockIsAheadIsNotUsed(ahead: Int, isReceived: Bool) throws {
        let future = start + ahead
        let bytes = try record(storedAt: isReceived ? start : future, receivedAt: isReceived ? future : start)
            .portable(clock(wall: start))
        #expect(throws: PortableRecordFault.ahead) {
            try ImageRecord(portable: bytes, of: key, from: "http://a.example/cat.png", clock())
        }
    }

    @Test(arguments: [-10, 0, 10])
    func aFixedEndIsTheSameMomentOnBothMachines(left: Int) throws {
        let bytes = try record(life: .until(start + 100)).portable(clock())
        let reader = clock(wall: start + 100 - left, boot: 77)
        let found = try #require(read(bytes, reader))
        #expect(found.isExpired == (left <= 0) && found.remainingSeconds(reader) == max(0, left))
    }

    @Test func aRecordWithoutEndHasNone() throws {
        #expect(read(try record(life: .forever).portable(clock()), clock())?.remainingSeconds(clock()) == nil)
    }

    @Test func bytesThatWereChangedAreNoneOrMakeAPlausibleRecord() throws {
        var random = SeededGenerator(seed: 28)
        let reader = clock()
        let whole = try record().portable(reader)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = .random(in: .min ... .max, using: &random)
                case 1: bytes[place] ^= 0x80
                case 2: for offset in place..<min(place + 8, bytes.count) { bytes[offset] = 0xFF }
                default: bytes.removeLast(bytes.count - max(1, place))
                }
            }
            guard let found = read(bytes, reader) else { continue }
            #expect(found.storedAt <= reader.now)
            #expect(found.answer?.metadata.age(at: reader.now) ?? 0 >= 0)
            _ = (found.isExpired, found.remainingSeconds(reader), found.answer?.freshness.verdict(age: 1))
            _ = found.portable(reader)
        }
    }

    @Test(arguments: [Int.min, -1, 0, Int.max, Int.max - 1, 1 << 60])
    func hostileNumbersInTheAnswerOfAServerDoNoHarm(number: Int) throws {
        var origin = ImageOrigin()
        for text in [
            "r\(number)\na0\nd0", "r\(start)\na\(number)\nd0", "r\(start)\na0\nd\(number)", "r1\na1\nd1\ns\(number)",
        ] {
            origin.http = text
            let row = IndexRow(
                name: Digest(of: key.computed), key: "", identifier: "", fileExtension: "png", header: try header.get(),
                byteCount: 1, allocated: 0, checksum: nil, origin: origin, storedAt: start, life: .span(10),
                modified: 0,
                content: 0)
            guard let found = read(EntryRecord(row: row, metadata: nil).bytes, clock()) else { continue }
            let age = found.answer?.metadata.age(at: start) ?? 0
            #expect(age >= 0)
            _ = found.answer?.freshness.verdict(age: age)
            _ = found.portable(clock())
        }
    }
}
