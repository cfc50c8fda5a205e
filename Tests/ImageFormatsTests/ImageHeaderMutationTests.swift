import TestSupport
import Testing

@testable import ImageFormats

/// Bytes that are almost a picture: refused or read, but never a trap, and the same from memory and from a file.
@Suite struct ImageHeaderMutationTests {
    /// Where something is left out at the end and the picture can still be told whole.
    private static let mayEndEarly: Set<String> = ["gif", "svg", "pnm", "pdf"]

    @Test(arguments: Fixtures.valid.filter { $0.format != "svg" && $0.byteCount <= 7000 })
    func everyProperPrefixIsRefusedOrTellsTheSame(_ picture: Fixtures.Picture) throws {
        let bytes = try picture.bytes
        let whole = headerInMemory(bytes)
        for count in 0..<bytes.count {
            let outcome = headerInMemory(Array(bytes.prefix(count)))
            guard case .success = outcome else { continue }
            if picture.format == "gif", case .success(let header) = outcome, case .success(let all) = whole {
                // Every picture may be the last: encoders forget the trailer.
                #expect(header.frameCount <= all.frameCount, "\(count) of \(bytes.count) bytes")
                #expect(header.width == all.width && header.height == all.height, "\(count) of \(bytes.count) bytes")
                continue
            }
            #expect(outcome == whole, "\(count) of \(bytes.count) bytes")
            // A codestream without boxes, and what stands behind it in boxes.
            let mayEndEarly = picture.format == "jxl" || Self.mayEndEarly.contains(picture.format ?? "")
            #expect(mayEndEarly, "\(count) of \(bytes.count) bytes pass for whole")
        }
    }

    @Test(arguments: Fixtures.valid)
    func mutationsNeverTrapAndFileAgreesWithMemory(_ picture: Fixtures.Picture) throws {
        let original = try picture.bytes
        let file = try ScratchFile()
        let rounds = min(2000, max(200, 2_000_000 / (original.count + 1)))
        for seed in 0..<UInt64(rounds) {
            var generator = SeededGenerator(seed: seed)
            let bytes = Self.mutated(original, &generator)
            let outcome = headerInMemory(bytes)
            if case .success(let header) = outcome {
                #expect(header.width > 0 && header.height > 0 && header.frameCount > 0, "seed \(seed)")
            }
            if seed % 8 == 0 { #expect(file.header(bytes) == outcome, "seed \(seed)") }
        }
    }

    /// One to four changes, most of them near the start, where the numbers are.
    private static func mutated(_ original: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = original
        for _ in 0...Int.random(in: 0...3, using: &generator) where !bytes.isEmpty {
            let reach = Bool.random(using: &generator) ? min(bytes.count, 400) : bytes.count
            let place = Int.random(in: 0..<reach, using: &generator)
            let length = min(Int.random(in: 1...8, using: &generator), bytes.count - place)
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: for index in place..<place + length { bytes[index] = 0xFF }
            case 3: for index in place..<place + length { bytes[index] = 0 }
            case 4: bytes.removeSubrange(place..<place + length)
            case 5: bytes.insert(contentsOf: bytes[place..<place + length], at: place)
            default: bytes[place] = [0x01, 0x7F, 0x80, 0xFE].randomElement(using: &generator) ?? 0
            }
        }
        if Int.random(in: 0..<10, using: &generator) == 0 {
            bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator))
        }
        return bytes
    }
}
