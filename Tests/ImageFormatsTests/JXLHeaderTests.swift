import TestSupport
import Testing

@testable import ImageFormats

/// The first bytes of a codestream, and of a file of boxes.
private let jxlStart: [UInt8] = [0xFF, 0x0A]
private let jxlSignature: [UInt8] = [0, 0, 0, 0x0C] + ascii("JXL ") + [0x0D, 0x0A, 0x87, 0x0A]

/// The head of a JPEG XL, made up bit by bit, and the boxes that it may lie in.
@Suite struct JXLHeaderTests {
    /// Fields of a codestream, the lowest bit first.
    private struct Fields {
        private(set) var bits: [UInt8] = []

        init() { for byte in jxlStart { number(Int(byte), 8) } }

        mutating func number(_ value: Int, _ count: Int) {
            for place in 0..<count { bits.append(UInt8(value >> place & 1)) }
        }

        mutating func flag(_ value: Bool) { number(value ? 1 : 0, 1) }

        /// One of four ways, and the number of it.
        mutating func choice(_ way: Int, _ value: Int = 0, _ count: Int = 0) {
            number(way, 2)
            number(value, count)
        }

        var bytes: [UInt8] {
            stride(from: 0, to: bits.count, by: 8).map { start in
                (start..<min(start + 8, bits.count)).reduce(0) { $0 | bits[$1] << ($1 - start) }
            }
        }
    }

    /// 40 by 30, and then what is said besides.
    private func picture(_ more: (inout Fields) -> Void = { $0.flag(true) }) -> [UInt8] {
        var fields = Fields()
        fields.flag(false)
        fields.choice(0, 29, 9)
        fields.number(0, 3)
        fields.choice(0, 39, 9)
        more(&fields)
        return fields.bytes
    }

    private func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
        big32(UInt32(content.count + 8)) + ascii(type) + content
    }

    private func boxed(_ boxes: [UInt8]...) -> [UInt8] {
        jxlSignature + box("ftyp", ascii("jxl ") + zeros(4) + ascii("jxl ")) + boxes.joined()
    }

    private func part(_ number: UInt32, _ content: some Collection<UInt8>, isLast: Bool = false) -> [UInt8] {
        box("jxlp", big32(number | (isLast ? 1 << 31 : 0)) + content)
    }

    /// What the start of the bytes tells; no part of them tells something else.
    private func probe(_ bytes: [UInt8]) -> ImageProbe? {
        let whole = bytes.withUnsafeBytes { try? ImageProbe(start: $0, of: $0.count) }
        for count in 0..<bytes.count {
            let cut = bytes[..<count].withUnsafeBytes { try? ImageProbe(start: $0, of: bytes.count) }
            if let cut { #expect(cut == whole, "\(count) of \(bytes.count)") }
        }
        return whole
    }

    @Test func sizesAreSaidInPixelsInEighthsOrByARatio() throws {
        func size(_ fill: (inout Fields) -> Void) -> [Int]? {
            var fields = Fields()
            fill(&fields)
            fields.flag(true)
            return (try? headerInMemory(fields.bytes).get()).map { [$0.width, $0.height] }
        }
        for (way, bits, most) in [(0, 9, 1 << 9), (1, 13, 1 << 13), (2, 18, 1 << 18), (3, 30, 1 << 30)] {
            let found = size {
                $0.flag(false)
                $0.choice(way, most - 1, bits)
                $0.number(0, 3)
                $0.choice(0, 6, 9)
            }
            #expect(found == [7, most])
        }
        #expect(
            size {
                $0.flag(true)
                $0.number(3, 5)
                $0.number(0, 3)
                $0.number(31, 5)
            } == [256, 32])
        for (ratio, width) in [(1, 55), (2, 66), (3, 73), (4, 82), (5, 97), (6, 68), (7, 110)] {
            #expect(
                size {
                    $0.flag(false)
                    $0.choice(0, 54, 9)
                    $0.number(ratio, 3)
                } == [width, 55], "\(ratio)")
        }
        let narrow = size {
            $0.flag(false)
            $0.choice(0, 0, 9)
            $0.number(1, 3)
        }
        #expect(narrow == [1, 1])
    }

    @Test func orientationIsTheCodestreamsWhateverElseIsSaidBeforeIt() {
        for orientation in 1...8 {
            let bytes = picture {
                $0.flag(false)
                $0.flag(true)
                $0.number(orientation - 1, 3)
                // Another size to be shown at, and a preview of 64 by 33 pixels, in eighths.
                $0.flag(true)
                $0.flag(true)
                $0.number(9, 5)
                $0.number(1, 3)
                $0.flag(true)
                $0.flag(true)
                $0.choice(2, 7, 5)
                $0.number(0, 3)
                $0.choice(3, 0, 9)
                $0.flag(false)
                $0.flag(false)
                $0.choice(0)
                $0.flag(true)
                $0.choice(0)
            }
            let found = probe(bytes)
            #expect(found?.orientation == orientation && found?.width == 40 && found?.height == 30)
            #expect(found?.hasAlpha == false && found?.frameCount == 1)
        }
        #expect(probe(picture())?.orientation == 1)
    }

    @Test func anAnimationDoesNotSayHowManyFramesItHas() throws {
        let bytes = picture {
            $0.flag(false)
            $0.flag(true)
            $0.number(0, 3)
            $0.flag(false)
            $0.flag(false)
            $0.flag(true)
            $0.choice(3, 29, 30)
            $0.choice(1)
            $0.choice(3, 7, 32)
            $0.flag(true)
            $0.flag(true)
            $0.choice(3, 31, 6)
            $0.number(7, 4)
            $0.flag(false)
            $0.choice(1)
            $0.flag(true)
        }
        let found = try #require(probe(bytes))
        #expect(found.frameCount == nil && found.hasAlpha == true && found.width == 40)
        #expect(try headerInMemory(bytes).get() == ImageHeader(.jxl, 40, 30))
        #expect(try wholeProbe(bytes).frameCount == nil)
    }

    /// A channel that is no plain alpha: its kind, and then what goes with that.
    private func channel(_ fields: inout Fields, _ kind: Int, name: Int = 0) {
        fields.flag(false)
        switch kind {
        case 0, 1: fields.choice(kind)
        case 2..<18: fields.choice(2, kind - 2, 4)
        default: fields.choice(3, kind - 18, 6)
        }
        fields.flag(false)
        fields.choice(1)
        fields.choice(3, 2, 3)
        switch name {
        case 0: fields.choice(0)
        case 1..<16: fields.choice(1, name, 4)
        case 16..<48: fields.choice(2, name - 16, 5)
        default: fields.choice(3, name - 48, 10)
        }
        for index in 0..<name { fields.number(97 + index % 26, 8) }
        switch kind {
        case 0: fields.flag(true)
        case 2: for _ in 0..<4 { fields.number(0x3C00, 16) }
        case 5: fields.choice(3, 9, 8)
        default: break
        }
    }

    @Test func onlyAChannelForTransparencyIsTransparency() {
        func found(_ kinds: [Int], name: Int) -> Bool? {
            probe(
                picture { fields in
                    fields.flag(false)
                    fields.flag(false)
                    fields.flag(false)
                    fields.choice(3, 11, 6)
                    fields.flag(false)
                    if kinds.count == 1 { fields.choice(1) } else { fields.choice(2, kinds.count - 2, 4) }
                    for kind in kinds { channel(&fields, kind, name: name) }
                })?.hasAlpha
        }
        for name in [0, 1, 15, 16, 47, 48, 300] {
            #expect(found([0], name: name) == true, "\(name)")
            for kind in [1, 2, 3, 4, 5, 6, 15, 16, 20] {
                #expect(found([kind], name: name) == false, "\(kind) \(name)")
                #expect(found([kind, 0], name: name) == true, "\(kind) \(name)")
            }
        }
        #expect(found(Array(repeating: 5, count: 16) + [0], name: 33) == true)
    }

    @Test func theCodestreamMayLieInBoxesWholeOrInParts() throws {
        let stream = picture()
        let files = [
            boxed(box("jxlc", stream)), boxed(box("Exif", zeros(90_000)), box("jxlc", stream)),
            boxed(part(0, stream[..<1]), box("free", []), part(1, []), part(2, stream[1...], isLast: true)),
            boxed(part(0, stream), part(1, [], isLast: true), box("xml ", [1])),
            boxed(part(0, stream, isLast: true)),
            // As far as the file goes, and with a length of eight bytes.
            boxed(big32(0) + ascii("jxlc") + stream),
            boxed(big32(1) + ascii("jxlc") + big32(0) + big32(UInt32(16 + stream.count)) + stream),
        ]
        for (number, file) in files.enumerated() {
            #expect(try headerInMemory(file).get() == ImageHeader(.jxl, 40, 30), "\(number)")
            #expect(try ScratchFile().header(file).get() == ImageHeader(.jxl, 40, 30), "\(number)")
            let start = file.withUnsafeBytes { try? ImageProbe(start: $0, of: $0.count) }
            #expect(start?.width == 40 && start?.height == 30 && start?.orientation == 1, "\(number)")
        }
        for file in files where file.count < 1000 {
            for count in jxlSignature.count..<file.count {
                let outcome = headerInMemory(Array(file[..<count]))
                if case .success(let header) = outcome {
                    // Whatever follows the codestream may be missing, and a box that goes as far as the file never is.
                    #expect(header == (try ImageHeader(.jxl, 40, 30)))
                } else {
                    #expect(outcome == .failure(.cutOff(.jxl)), "\(count)")
                }
            }
        }
    }

    @Test func boxesThatContradictThemselvesAreRefused() throws {
        let stream = picture()
        func expect(
            _ bytes: [UInt8], _ failure: ImageHeader.Failure, _ what: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            #expect(headerInMemory(bytes) == .failure(failure), "\(what)", sourceLocation: sourceLocation)
            #expect(try ScratchFile().header(bytes) == .failure(failure), "\(what)", sourceLocation: sourceLocation)
            #expect(probe(bytes) == nil, "\(what)", sourceLocation: sourceLocation)
        }
        try expect(boxed(), .cutOff(.jxl), "no codestream")
        try expect(boxed(box("jxlc", [])), .cutOff(.jxl), "an empty one")
        try expect(boxed(box("jxlc", [0xFF])), .cutOff(.jxl), "half a signature")
        try expect(boxed(box("jxlc", [0xFF, 0x0B] + stream)), .malformed(.jxl), "another signature")
        try expect(boxed(big32(2) + ascii("free")), .malformed(.jxl), "a box of two bytes")
        try expect(boxed(big32(.max) + ascii("free")), .cutOff(.jxl), "a box beyond the end")
        try expect(boxed(big32(1) + ascii("free") + big32(.max) + big32(9)), .cutOff(.jxl), "2^64 bytes")
        try expect(boxed(big32(1) + ascii("free") + big32(0) + big32(8)), .malformed(.jxl), "a long box of nothing")
        try expect(boxed(big32(0) + ascii("free")), .cutOff(.jxl), "a box up to the end")
        try expect(boxed(part(1, stream, isLast: true)), .malformed(.jxl), "the second part first")
        try expect(boxed(part(0, stream[..<2]), part(0, stream[2...])), .malformed(.jxl), "the first part twice")
        try expect(boxed(part(0, stream[..<2]), box("jxlc", stream)), .malformed(.jxl), "whole and in parts")
        try expect(boxed(box("jxlp", [0, 0])), .malformed(.jxl), "a part without its number")
        #expect(headerInMemory(boxed(part(0, stream), part(1, []))) == .failure(.cutOff(.jxl)), "no last part")
        let many = Array(repeatElement(box("free", []), count: 70_000).joined())
        #expect(headerInMemory(boxed(many, box("jxlc", stream))) == .failure(.malformed(.jxl)), "70,000 boxes")
        // Behind the head, so that the start tells what the whole refuses.
        let beyond = boxed(big32(UInt32(8 + stream.count + 1)) + ascii("jxlc") + stream)
        #expect(headerInMemory(beyond) == .failure(.cutOff(.jxl)))
    }

    @Test func bitsOfAnyKindAreReadOrRefusedAndNeverTrap() throws {
        var random = SeededGenerator(seed: 18_181)
        for turn in 0..<20_000 {
            let noise = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let stream = jxlStart + noise
            let cut = Int.random(in: 0...stream.count, using: &random)
            let file =
                turn % 3 == 0
                ? boxed(part(0, stream[..<cut]), part(1, stream[cut...], isLast: true))
                : turn % 3 == 1 ? stream : boxed(noise)
            if case .success(let header) = headerInMemory(file) {
                #expect((1...(1 << 31)).contains(header.width) && (1...(1 << 30)).contains(header.height), "\(turn)")
            }
            _ = file.withUnsafeBytes { try? ImageProbe(start: $0, of: .max) }
        }
    }
}
