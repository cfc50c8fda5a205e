import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// How long things live; whatever the numbers, nothing traps.
@Suite struct StorageExpirationTests {
    private static let now = 1_800_000_000
    private static let century = 3_155_760_000

    @Test(
        arguments: [
            (StorageExpiration.never, nil), (.expired, 0), (.seconds(0), 0), (.seconds(-0.0), 0), (.seconds(1), 1),
            (.seconds(0.2), 1), (.seconds(1.5), 2), (.seconds(-1), nil), (.seconds(-1e300), nil), (.seconds(.nan), nil),
            (.seconds(.infinity), century), (.seconds(-.infinity), nil), (.seconds(1e300), century),
            (.seconds(.leastNonzeroMagnitude), 1), (.days(7), 604_800), (.days(-1), nil), (.days(1e300), century),
            (.days(.greatestFiniteMagnitude), century), (.date(now + 60), 60), (.date(now), 0), (.date(now - 60), 0),
            (.date(0), 0), (.date(.min), 0), (.date(.max), century),
        ] as [(StorageExpiration, Int?)])
    func lifetimeIsASpanOrForEver(_ expiration: StorageExpiration, _ lifetime: Int?) {
        #expect(expiration.lifetime(at: Self.now) == lifetime)
    }

    @Test(arguments: [Int.min, -1, 0, 1, Int.max])
    func noClockMakesADateTrap(_ now: Int) {
        for date in [Int.min, -1, 0, 1, Int.max] {
            let lifetime = StorageExpiration.date(date).lifetime(at: now) ?? -1
            #expect((0...Self.century).contains(lifetime))
            #expect((lifetime > 0) == (date > now))
        }
    }

    @Test(
        arguments: [
            (ExpirationExtension.none, 1100), (.cacheTime, 1150), (.expiration(.seconds(7)), 1057),
            (.expiration(.never), nil), (.expiration(.expired), 1050), (.expiration(.seconds(.nan)), nil),
            (.expiration(.seconds(-1)), nil), (.expiration(.seconds(1e300)), 1050 + century),
            (.expiration(.date(2000)), 2000), (.expiration(.date(5)), 1050),
        ] as [(ExpirationExtension, Int?)])
    func useMovesTheMomentOfExpiry(_ extending: ExpirationExtension, _ expiry: Int?) throws {
        let record = ImageRecord(
            key: CacheKey("a"), header: try ImageHeader(.png, 1, 1), byteCount: 1, path: nil, origin: ImageOrigin(),
            storedAt: 1000, life: .span(100), expiresAt: 1100, stamp: nil, checksum: nil)
        record.extend(extending, at: 1050)
        #expect(record.expiresAt == expiry)
    }

    @Test(
        arguments: [
            (ExpirationExtension.none, 1100), (.cacheTime, 1100), (.expiration(.seconds(7)), 1057),
            (.expiration(.seconds(1000)), 1100), (.expiration(.never), 1100), (.expiration(.date(2000)), 1100),
        ] as [(ExpirationExtension, Int)])
    func noUseMovesADate(_ extending: ExpirationExtension, _ expiry: Int) throws {
        let record = ImageRecord(
            key: CacheKey("a"), header: try ImageHeader(.png, 1, 1), byteCount: 1, path: nil, storedAt: 1000,
            life: EntryLife(.date(1100), now: 1000, wall: 1000), expiresAt: 1100)
        record.extend(extending, at: 1050)
        #expect(record.expiresAt == expiry)
    }

    @Test func aLifeIsOneNumberInTheIndexAndIsReadFromIt() {
        for life in [EntryLife.forever, .span(0), .span(100), .until(2), .until(1_800_000_000)] {
            #expect(EntryLife(number: life.number) == life && life.isPlausible)
        }
        for number in [Int.min, .max] { #expect(!EntryLife(number: number).isPlausible) }
    }
}
