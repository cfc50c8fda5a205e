import Foundation
import ImageRecipes
import TestSupport
import Testing

/// Pictures with colour profiles made by hand.
@Suite struct ProfileTests {
    /// An RGB profile of version 2 that shows every colour as the Lab colour 50, 70, 60, an orange red, by a table for
    /// one intent (ICC.1:2001-04, sections 6.1 and 6.5.9): A2B0 perceptual, A2B1 colorimetric, A2B2 saturation.
    private static func profile(_ table: String) -> [UInt8] {
        var curve: [UInt8] = []
        for value in 0...255 { curve.append(UInt8(value)) }
        var lut = ascii("mft1") + zeros(4) + [3, 3, 2, 0]
        for number in 0..<9 { lut += big32(number % 4 == 0 ? 65_536 : 0) }
        lut += curve + curve + curve
        // L of 0…100 is 0…255, a and b are 128 more.
        for _ in 0..<8 { lut += [128, 198, 188] }
        lut += curve + curve + curve
        return profile(of: "RGB Lab ", [(table, lut)])
    }

    /// An RGB profile with the colours of sRGB, of which green and blue are exchanged.
    private static var exchanged: [UInt8] {
        func primary(_ x: UInt32, _ y: UInt32, _ z: UInt32) -> [UInt8] {
            ascii("XYZ ") + zeros(4) + big32(x) + big32(y) + big32(z)
        }
        let curve = ascii("curv") + zeros(4) + big32(1) + [2, 0x33, 0, 0]
        return profile(
            of: "RGB XYZ ",
            [
                ("rXYZ", primary(0x6FA2, 0x38F5, 0x0390)), ("gXYZ", primary(0x24A0, 0x0F84, 0xB6CF)),
                ("bXYZ", primary(0x6299, 0xB785, 0x18DA)), ("rTRC", curve), ("gTRC", curve),
                ("bTRC", curve),
            ])
    }

    /// A grey profile with a gamma of 4: middle grey is nearly black.
    private static var gray: [UInt8] {
        profile(of: "GRAYXYZ ", [("kTRC", ascii("curv") + zeros(4) + big32(1) + [4, 0, 0, 0])])
    }

    /// A profile from one space of colours to another, with parts besides those that all have.
    private static func profile(of spaces: String, _ more: [(String, [UInt8])]) -> [UInt8] {
        let white = ascii("XYZ ") + zeros(4) + big32(0xF6D6) + big32(0x10000) + big32(0xD32D)
        let text = ascii("text") + zeros(4) + ascii("none") + zeros(4)
        let parts = [("wtpt", white), ("cprt", text)] + more
        var tags = big32(UInt32(parts.count))
        var data: [UInt8] = []
        for (name, bytes) in parts {
            tags += ascii(name) + big32(UInt32(128 + 4 + 12 * parts.count + data.count)) + big32(UInt32(bytes.count))
            data += bytes + zeros((4 - bytes.count % 4) % 4)
        }
        var head = big32(UInt32(128 + tags.count + data.count)) + zeros(4) + big32(0x0240_0000)
        head += ascii("mntr" + spaces) + zeros(12) + ascii("acsp") + zeros(28)
        head += big32(0xF6D6) + big32(0x10000) + big32(0xD32D)
        return head + zeros(128 - head.count) + tags + data
    }

    /// A fixture of JPEG with a profile in a segment (ICC.1:2010, B.4).
    private func jpeg(_ fixture: String, _ profile: [UInt8]) throws -> [UInt8] {
        let bytes = try Fixtures.bytes(fixture)
        let body = ascii("ICC_PROFILE") + [0, 1, 1] + profile
        return bytes[..<2] + [0xFF, 0xE2] + big16(UInt16(body.count + 2)) + body + bytes[2...]
    }

    @Test("A profile that has the tables of one intent only is applied by that, whichever it is")
    func singleIntents() async throws {
        let bench = try await CodecBench()
        for table in ["A2B0", "A2B1", "A2B2"] {
            let source = try bench.file(try jpeg("jpeg-444.jpg", Self.profile(table)))
            let pixel = try await bench.pixels(of: source, "jpeg")[3, 3].map(Int.init)
            // Lab 50, 70, 60 lies at the edge of sRGB: about 219, 10, 9.
            #expect(pixel[0] > 190 && pixel[1] < 60 && pixel[2] < 60, "\(table): \(pixel)")
            let made = try await bench.make(
                source, "jpeg", rule: .format(.png, Encoding(metadata: .none, profile: .sRGB)))
            let again = try await bench.pixels(of: try bench.file(made.bytes), "png")[3, 3].map(Int.init)
            #expect(zip(pixel, again).allSatisfy { abs($0 - $1) <= 1 }, "\(table): \(again)")
        }
    }

    @Test(
        "A profile that cannot be read or is for other colours leaves the colours as they are, of grey, of RGB and of inks"
    )
    func unusableProfiles() async throws {
        let bench = try await CodecBench()
        let broken = Array(repeating: UInt8(7), count: 300)
        for (fixture, profile) in [
            ("jpeg-gray.jpg", broken), ("jpeg-444.jpg", broken), ("jpeg-cmyk.jpg", broken),
            ("jpeg-gray.jpg", Self.profile("A2B0")), ("jpeg-444.jpg", Self.gray),
            ("jpeg-cmyk.jpg", Self.gray),
        ] {
            let source = try bench.file(try jpeg(fixture, profile))
            let plain = try await bench.pixels(fixture)
            #expect(try await bench.pixels(of: source, "jpeg") == plain, "\(fixture)")
            for (format, encoding) in [(EncodedFormat.png, Encoding(profile: .sRGB)), (.bmp, Encoding())] {
                let made = try await bench.make(source, "jpeg", rule: .format(format, encoding))
                let again = try await bench.pixels(of: try bench.file(made.bytes), format.rawValue)
                #expect(again == plain, "\(fixture) \(format)")
            }
        }
    }

    @Test("Grey with a profile of its own looks the same in every format")
    func grayProfiles() async throws {
        let bench = try await CodecBench()
        let source = try bench.file(try jpeg("jpeg-gray.jpg", Self.gray))
        let shown = try await bench.pixels(of: source, "jpeg")
        #expect(try await shown.likeness(bench.pixels("jpeg-gray.jpg")) < 20)
        for format in EncodedFormat.allCases where bench.worker.facts.encodes.contains(format.rawValue) {
            let made = try await bench.make(source, "jpeg", rule: .format(format, Encoding(quality: 98)))
            let again = try await bench.pixels(of: try bench.file(made.bytes), format.rawValue)
            #expect(again.likeness(shown) > 30, "\(format)")
        }
    }

    @Test("A profile that could not be applied stays in the file that is made")
    func unappliedProfiles() async throws {
        let bench = try await CodecBench()
        let broken = Array(ascii("no profile")) + zeros(290)
        let source = try bench.file(try jpeg("jpeg-444.jpg", broken))
        let made = try await bench.make(source, "jpeg", rule: .format(.jpeg, Encoding(profile: .sRGB)))
        _ = try made.outcome.image
        #expect(made.bytes.firstRange(of: ascii("no profile")) != nil)
    }

    @Test("The colours of processors are those of sRGB, whatever the profile of the picture")
    func colours() async throws {
        let bench = try await CodecBench()
        let source = try bench.file(try jpeg("jpeg-444.jpg", Self.exchanged))
        let blue = RecipeColor(red: 0, green: 0, blue: 255)
        let mark = Drawn.animation(9, 9, frames: 1) { _, _, _ in [0, 0, 255, 255] }
        let wide = try PixelSize(width: 200, height: 200)
        let all: [ImageProcessor] = [
            .tint(blue), .pad(try Pad(size: wide, background: blue)),
            .border(try Border(color: blue, width: 8)),
            .overlay(try Overlay(color: blue, fraction: 0)),
            .roundCorner(try RoundCorner(radius: .pixels(20), background: blue)),
            .watermark(try Watermark(data: mark, format: "png", digest: "blue", gravity: .topLeft)),
            .compositing(try Compositing(operation: .destinationOver, background: blue)),
        ]
        // What is blue here is green there; the curves are not quite the same.
        for processor in all {
            let pixel = try await bench.pixels(of: source, "jpeg", [processor])[0, 0].map(Int.init)
            let isBlue = zip(pixel, [0, 0, 255, 255]).allSatisfy { abs($0 - $1) <= 24 }
            #expect(isBlue, "\(processor.identifier): \(pixel)")
        }
        let round = ImageProcessor.roundCorner(try RoundCorner(radius: .pixels(20)))
        let made = try await bench.make(
            source, "jpeg", [round], rule: .format(.jpeg, Encoding(quality: 98, background: blue)))
        #expect(made.bytes.firstRange(of: ascii("ICC_PROFILE")) != nil)
        let pixel = try await bench.pixels(of: try bench.file(made.bytes), "jpeg")[0, 0].map(Int.init)
        #expect(zip(pixel, [0, 0, 255, 255]).allSatisfy { abs($0 - $1) <= 12 }, "\(pixel)")
    }
}
