import Foundation
import ImageRecipes
import TestSupport
import Testing

/// The place where a picture was taken is nobody's business who gets a thumbnail of it.
@Suite struct PositionTests {
    private static let latitude: UInt32 = 0x075B_CD15
    private static let notes = "NOTESOFTHEMAKER"
    private static let date = "2021:05:17 10:11:12"

    /// A JPEG of a camera, with the place in EXIF, and in XMP if wanted.
    private func photograph(in folder: TemporaryFolder, hasXMP: Bool = false) throws -> String {
        var jpeg = [UInt8](try Data(contentsOf: URL(fileURLWithPath: Fixtures.folder + "/jpeg-420.jpg")))
        var added = segment(Array("Exif\0\0".utf8) + Self.exif)
        if hasXMP {
            added += segment(
                Array("http://ns.adobe.com/xap/1.0/\0".utf8)
                    + Array("<x:xmpmeta><exif:GPSLatitude>52,31N</exif:GPSLatitude></x:xmpmeta>".utf8))
        }
        jpeg.insert(contentsOf: added, at: 2)
        let path = folder.path + "/photograph.jpg"
        try Data(jpeg).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func segment(_ body: [UInt8], _ marker: UInt8 = 0xE1) -> [UInt8] {
        [0xFF, marker, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
    }

    /// Three directories of TIFF: the orientation, date and maker's notes, and the position (Exif 2.3, 4.6).
    private static var exif: [UInt8] {
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        func entry(_ tag: Int, _ kind: Int, _ count: Int, _ value: Int) -> [UInt8] {
            little(tag, 2) + little(kind, 2) + little(count, 4) + little(value, 4)
        }
        func directory(_ entries: [[UInt8]]) -> [UInt8] {
            little(entries.count, 2) + entries.flatMap(\.self) + little(0, 4)
        }
        let (first, second, third) = (8, 8 + 42, 8 + 42 + 30)
        let data = third + 30
        let head = Array("II".utf8) + little(42, 2) + little(8, 4)
        let body =
            directory([entry(0x0112, 3, 1, 1), entry(0x8769, 4, 1, second), entry(0x8825, 4, 1, third)])
            + directory([entry(0x9003, 2, 20, data), entry(0x927C, 7, notes.utf8.count, data + 20)])
            + directory([entry(1, 2, 2, 0x4E), entry(2, 5, 3, data + 20 + 16)])
        let values = Array(date.utf8) + [0] + Array(notes.utf8) + [0]
        return head + body + values + [Int(latitude), 1, 31, 1, 0, 1].flatMap { little($0, 4) }
            + [UInt8](repeating: 0, count: first)
    }

    /// What a file tells: the position, the notes, the date.
    private func told(by bytes: [UInt8]) -> [String: Bool] {
        let bytes = Data(bytes)
        let number = withUnsafeBytes(of: Self.latitude.littleEndian) { Data($0) }
        let text = String(decoding: bytes, as: Unicode.ASCII.self)
        let hasNumber = bytes.range(of: number) != nil || bytes.range(of: Data(number.reversed())) != nil
        return [
            "place": hasNumber || text.contains("GPSLatitude"), "notes": text.contains(Self.notes),
            "date": text.contains(Self.date),
        ]
    }

    @Test(arguments: [EncodedFormat.jpeg, .webp, .png, .jxl], [true, false])
    func madePicturesTellNeitherPlaceNorNotesUnlessAskedFor(_ format: EncodedFormat, _ hasXMP: Bool) async throws {
        let (bench, folder) = (try await CodecBench(), try TemporaryFolder())
        let source = try photograph(in: folder, hasXMP: hasXMP)
        #expect(told(by: try [UInt8](Data(contentsOf: URL(fileURLWithPath: source)))).values.allSatisfy(\.self))
        func made(_ encoding: Encoding) async throws -> [String: Bool] {
            told(by: try await bench.make(source, "jpeg", [.blackWhite], rule: .format(format, encoding)).bytes)
        }
        #expect(try await made(Encoding()) == ["place": false, "notes": false, "date": true])
        #expect(try await made(Encoding(metadata: .all)) == ["place": true, "notes": true, "date": true])
        #expect(try await made(Encoding(metadata: .none)) == ["place": false, "notes": false, "date": false])
    }

    /// A resource of Photoshop's with data of the IPTC, or others.
    private static func resource(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
        ascii("8BIM") + [4, number, 0, 0] + big32(UInt32(bytes.count)) + bytes + zeros(bytes.count % 2)
    }

    @Test(
        "Nor do they tell a place by the data of the IPTC, of Photoshop or by XMP, which stay where they tell none"
    )
    func otherBlocks() async throws {
        let bench = try await CodecBench()
        func iptc(_ set: UInt8) -> [UInt8] {
            Self.resource(4, [0x1C, 2, set, 0, 10] + ascii("SECRETTEXT"))
        }
        func xmp(_ name: String) -> [UInt8] {
            segment(
                ascii(
                    "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><rdf:Description \(name)=\"SECRETTEXT\"/></x:xmpmeta>"
                ))
        }
        let photoshop = ascii("Photoshop 3.0\0")
        let places =
            [90, 92, 101].map { segment(photoshop + iptc($0), 0xED) } + [
                segment(photoshop + Self.resource(0x22, Self.exif + ascii("SECRETTEXT")), 0xED),
                xmp("photoshop:City"),
                xmp("Iptc4xmpCore:Location"),
            ]
        let others = [segment(photoshop + iptc(120), 0xED), xmp("dc:creator")]
        let plain = try Fixtures.bytes("jpeg-420.jpg")
        for (number, added) in (places + others).enumerated() {
            let source = try bench.file(plain[..<2] + added + plain[2...])
            for (metadata, isTold) in [
                (Encoding.Metadata.withoutPosition, number >= places.count), (.all, true),
            ] {
                let made = try await bench.make(
                    source, "jpeg", [.blackWhite], rule: .format(.jpeg, Encoding(metadata: metadata)))
                #expect(
                    (made.bytes.firstRange(of: ascii("SECRETTEXT")) != nil) == isTold, "\(number) \(metadata)"
                )
            }
        }
    }

    @Test(
        "An animated PNG keeps its EXIF like every other picture, without the place unless asked for")
    func animations() async throws {
        let bench = try await CodecBench()
        let drawn = Drawn.animation(8, 8, frames: 2) { frame, x, y in
            [UInt8(frame * 90), UInt8(x), UInt8(y), 255]
        }
        let source = try bench.file(drawn[..<33] + Bombs.chunk("eXIf", Self.exif) + drawn[33...])
        for metadata in [Encoding.Metadata.all, .withoutPosition, .none] {
            let made = try await bench.make(
                source, "png", [.blackWhite], rule: .format(.png, Encoding(metadata: metadata)))
            #expect(try made.outcome.image.frameCount == 2)
            let isAll = metadata == .all
            #expect(
                told(by: made.bytes) == ["place": isAll, "notes": isAll, "date": metadata != .none],
                "\(metadata)")
        }
    }
}
