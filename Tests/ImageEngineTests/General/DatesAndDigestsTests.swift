import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

@Suite struct DatesAndDigestsTests {
    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-21T07:42:00Z", 1_795_246_920),
            ("2026-11-21t07:42:00z", 1_795_246_920),
            ("2026-11-21 07:42:00Z", 1_795_246_920), ("2026-11-21T07:42:00", 1_795_246_920),
            ("2026-11-21T07:42", 1_795_246_920), ("2026-11-21T07:42:00.999Z", 1_795_246_920),
            ("2026-11-21T09:42:00+02:00", 1_795_246_920), ("2026-11-21T02:12:00-05:30", 1_795_246_920),
            ("2026-11-21", 1_795_219_200), ("2024-02-29", 1_709_164_800), ("2000-02-29", 951_782_400),
            ("1969-12-31T23:59:59Z", -1), ("9999-12-31T23:59:59Z", 253_402_300_799), ("0001-01-01", -62_135_596_800),
            ("2026-02-29", nil), ("1900-02-29", nil), ("2026-04-31", nil), ("2026-13-01", nil), ("2026-00-01", nil),
            ("2026-01-00", nil), ("2026-11-21T24:00:00Z", nil), ("2026-11-21T07:60:00Z", nil),
            ("2026-11-21T07:42:61Z", nil),
            ("2026-11-21T07:42:00Zx", nil), ("2026-11-21T07:42:00+2", nil), ("2026-11-21T07:42:00+25:00", nil),
            ("2026-11-21T", nil), ("2026-11-21T07", nil), ("2026-1-1", nil), ("26-11-21", nil), ("", nil), ("now", nil),
            ("٢٠٢٦-11-21", nil), ("-026-11-21", nil), ("2026-11-21T07:42:00Z ", nil),
        ] as [(String, Int?)])
    func dateIsReadOrRefused(_ text: String, _ seconds: Int?) {
        #expect(ISO8601.seconds(text) == seconds)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func writtenDateReadsAsItself(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let seconds = Int.random(in: 0..<253_402_300_800, using: &generator)
        #expect(ISO8601.seconds(ISO8601.text(seconds)) == seconds, "seed \(seed)")
    }

    @Test func everyDayOfFourCenturiesIsThatOfTheSystemsCalendar() {
        var wrong: [String] = []
        for day in -62_091...146_097 {
            var (time, parts) = (day * 86_400 + 3661, tm())
            gmtime_r(&time, &parts)
            let (year, month, day) = (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
            let seconds = ISO8601.seconds(year: year, month: month, day: day, hour: 1, minute: 1, second: 1)
            if seconds != time { wrong.append(ISO8601.text(time)) }
        }
        #expect(wrong.isEmpty)
    }

    @Test func digestsThatAreMadeAtOnceAreThoseOfTheirOwnTexts() async {
        let texts = (0..<64).map { String(repeating: "\($0)", count: 1 + $0 * 97) }
        let alone = texts.map { text in
            let digest = RunningDigest()
            Array(text.utf8).withUnsafeBytes { digest.update($0) }
            return digest.finish()
        }
        await withTaskGroup(of: [Digest].self) { group in
            for _ in 0..<8 { group.addTask { texts.map { Digest(of: $0) } } }
            for await digests in group { #expect(digests == alone) }
        }
    }

    @Test func datesFarAwayAreWrittenWithoutATrap() {
        #expect(ISO8601.text(1_795_246_920) == "2026-11-21T07:42:00Z")
        #expect(ISO8601.text(.max) == "9999-12-31T23:59:59Z")
        for seconds in [Int.min, -1, 253_402_300_800, 1 << 50] { #expect(ISO8601.text(seconds).hasSuffix("Z")) }
    }

    /// Vectors of FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ])
    func digestIsThatOfTheStandard(_ text: String, _ hex: String) {
        #expect(Digest(of: text).hex == hex)
        let running = RunningDigest()
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 977) {
            bytes[start..<min(start + 977, bytes.count)].withUnsafeBytes { running.update($0) }
        }
        #expect(running.finish().hex == hex)
    }

    @Test func rowNumbersArePositiveAndDiffer() {
        let numbers = (0..<2000).map { Digest(of: "key \($0)").rowNumber }
        #expect(numbers.allSatisfy { $0 >= 0 })
        #expect(Set(numbers).count == 2000)
    }
}
