import Foundation
import TestSupport
import Testing

@testable import Platform

@Suite struct Base64Tests {
    private func encoded(_ bytes: [UInt8]) -> String {
        // One byte more, to see that nothing is written past the end.
        var text = [UInt8](repeating: 0x2A, count: Base64.encodedCount(bytes.count) + 1)
        let count = text.count - 1
        text.withUnsafeMutableBytes { text in
            bytes.withUnsafeBytes {
                Base64.encode($0, into: UnsafeMutableRawBufferPointer(rebasing: text[..<count]))
            }
        }
        #expect(text.last == 0x2A)
        return String(decoding: text.dropLast(), as: UTF8.self)
    }

    private func decoded(_ text: String) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { Base64.decode($0) }
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func encodesAndDecodesAsFoundationDoes(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = (0..<Int(seed)).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let text = Data(bytes).base64EncodedString()
        #expect(encoded(bytes) == text, "seed \(seed)")
        #expect(decoded(text) == bytes, "seed \(seed)")
        let urlSafe = text.replacing("+", with: "-").replacing("/", with: "_")
        #expect(decoded(urlSafe) == bytes, "seed \(seed)")
        #expect(decoded(urlSafe.replacing("=", with: "")) == bytes, "seed \(seed): padding may be missing")
        var spaced = Array(text)
        for _ in 0..<5 {
            let blank: [Character] = [" ", "\n", "\t", "\r"]
            spaced.insert(
                blank[Int.random(in: 0..<4, using: &generator)], at: Int.random(in: 0...spaced.count, using: &generator)
            )
        }
        #expect(decoded(String(spaced)) == bytes, "seed \(seed): white space is skipped")
    }

    @Test func largeDataIsEncodedAcrossThePieces() {
        var generator = SeededGenerator(seed: 7)
        let bytes = (0..<(3 << 20) + 5).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        #expect(encoded(bytes) == Data(bytes).base64EncodedString())
    }

    @Test(arguments: [
        "A", "AAAAA", "A===", "Zm9=v", "=Zm9", "Zm9v!", "Zm9v\u{0}", "Zé==", "Zm 9v*", "Zm9v====A", "\u{7F}AAA", "ÿÿÿÿ",
    ])
    func junkIsRefused(_ text: String) {
        #expect(decoded(text) == nil)
    }

    @Test(arguments: [
        ("", []), ("    ", []), ("Zg==", [0x66]), ("Zg=", [0x66]), ("Zg", [0x66]), ("_-8=", [0xFF, 0xEF]),
    ])
    func oddButCleanTextIsUnderstood(_ text: String, _ bytes: [UInt8]) {
        #expect(decoded(text) == bytes)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func randomTextIsDecodedRightOrRefused(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in
                UInt8.random(in: 0x20..<0x7F, using: &generator)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let clean = text.filter { $0 != " " }
            if let mine = decoded(text) {
                let standard = clean.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
                let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
                #expect(Data(mine) == Data(base64Encoded: padded), "seed \(seed): \(text)")
            } else {
                #expect(Data(base64Encoded: clean) == nil, "seed \(seed): \(text)")
            }
        }
    }
}
