import JSONRPC
import TestSupport
import Testing

/// The writer is ours and the parser is jansson's: what one writes the other must read.
@Suite struct JSONWriterTests {
    @Test(arguments: [false, true])
    func whatIsWrittenReadsBackEqualToTheBit(indented: Bool) throws {
        for seed in 0..<2500 as Range<UInt64> {
            var random = SeededGenerator(seed: seed)
            let tree = Tree.random(depth: 4, using: &random)
            let document = try JSONDocument(parsing: tree.text(indented: indented))
            #expect(Tree(document.root) == tree, "seed \(seed)")
        }
    }

    @Test func everyScalarOfUnicodeReadsBack() throws {
        var text = ""
        for value in 0...0x10FFFF as ClosedRange<UInt32> where value < 0x3000 || value % 17 == 0 {
            if let scalar = Unicode.Scalar(value) { text.unicodeScalars.append(scalar) }
        }
        let tree = Tree.string(Array(text.utf8))
        let document = try JSONDocument(parsing: tree.text(indented: false))
        #expect(Tree(document.root) == tree)
    }

    @Test func doublesAreWrittenInTheShortestFormThatReadsBack() {
        let forms: [(Double, String)] = [
            (0.1, "0.1"), (-0.0, "-0.0"), (1, "1.0"), (1e16, "1e+16"), (.leastNonzeroMagnitude, "5e-324"),
            (0.1 + 0.2, "0.30000000000000004"),
            (.infinity, "null"), (-.infinity, "null"), (.nan, "null"),
        ]
        for (value, form) in forms {
            var writer = JSONWriter()
            writer.write(value)
            #expect(String(decoding: writer.bytes, as: UTF8.self) == form)
        }
    }

    @Test func textIsEscapedWhereItMustBeAndNowhereElse() {
        var writer = JSONWriter()
        writer.write("\"\\/\n\r\t\u{00}\u{08}\u{0F}\u{10}\u{1F}\u{7F}é\u{2028}😀")
        let expected = #""\"\\/\n\r\t\u0000\u0008\u000f\u0010\u001f"# + "\u{7F}é\u{2028}😀\""
        #expect(writer.bytes == Array(expected.utf8))
    }

    @Test func indentedTextHasOneValueALine() {
        let tree = Tree.object([
            .init(name: Array("a".utf8), value: .array([.integer(1), .object([]), .array([])])),
            .init(name: Array("b".utf8), value: .object([.init(name: Array("c".utf8), value: .null)])),
        ])
        let expected = """
            {
              "a": [
                1,
                {},
                []
              ],
              "b": {
                "c": null
              }
            }
            """
        #expect(String(decoding: tree.text(indented: true), as: UTF8.self) == expected)
        #expect(String(decoding: tree.text(indented: false), as: UTF8.self) == #"{"a":[1,{},[]],"b":{"c":null}}"#)
    }

    @Test func rawAndUnescapedValuesStandInTheirPlaces() {
        var writer = JSONWriter()
        writer.array { array in
            array.writeRaw("1e999")
            array.writeRaw(Array("[2]".utf8))
            array.writeUnescaped(count: 3) { space in space.copyBytes(from: "abc".utf8) }
            array.writeUnescaped(count: 0) { _ in }
            array.write(Int.min)
        }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == #"[1e999,[2],"abc","",-9223372036854775808]"#)
    }

    @Test func aWriterThatWasResetWritesAsANewOne() {
        var writer = JSONWriter()
        writer.array { $0.write(String(repeating: "long", count: 50_000)) }
        writer.reset()
        writer.array { $0.write(true) }
        #expect(String(decoding: writer.bytes, as: UTF8.self) == "[true]")
        #expect(writer.bytes.capacity < 1 << 16)
    }
}
