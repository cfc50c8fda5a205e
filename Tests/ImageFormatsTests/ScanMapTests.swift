import Glibc
import TestSupport
import Testing

@testable import ImageFormats

/// The map of a JPEG hides no marker, however its bytes came.
@Suite struct ScanMapTests {
    private static let stretch = ScanMap.stretch

    private static func map(_ bytes: [UInt8], _ generator: inout SeededGenerator, _ most: Int) -> ScanMap {
        var map = ScanMap()
        bytes.withUnsafeBytes { bytes in
            var place = 0
            while place < bytes.count {
                let end = min(place + Int.random(in: 1...most, using: &generator), bytes.count)
                map.add(UnsafeRawBufferPointer(rebasing: bytes[place..<end]))
                place = end
            }
        }
        return map
    }

    /// The places where a marker begins that ends a scan.
    private static func marks(_ bytes: [UInt8]) -> [Int] {
        bytes.indices.dropLast().filter { bytes[$0] == 0xFF && ScanMap.endsScan(bytes[$0 + 1]) }
    }

    /// Bytes with a few markers, some of them over the edges of stretches.
    private static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xFF, count: Int.random(in: 2...5 * stretch, using: &generator))
        let fillings: [[UInt8]] = [[0xFF], [0xFF, 0x00], [0xFF, 0xD3, 0x11], [0x11], [0x00]]
        let filling = fillings[Int.random(in: fillings.indices, using: &generator)]
        for index in bytes.indices { bytes[index] = filling[index % filling.count] }
        bytes[0] = 0xFF
        bytes[1] = 0xD8
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let edge = Int.random(in: 0...5, using: &generator) * stretch + Int.random(in: -3...3, using: &generator)
            guard edge > 2, edge + 1 < bytes.count else { continue }
            bytes[edge] = 0xFF
            bytes[edge + 1] = [0xD9, 0xDA, 0xC4, 0x01, 0x00, 0xD0].randomElement(using: &generator) ?? 0
        }
        return bytes
    }

    @Test(arguments: 0..<120 as Range<UInt64>) func noMarkerIsPassedOver(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let bytes = Self.bytes(&generator)
        let marks = Self.marks(bytes)
        let map = Self.map(bytes, &generator, seed % 3 == 0 ? 3 * Self.stretch : seed % 3 == 1 ? 50_000 : 700)
        #expect(map.count == bytes.count)
        let places = (0..<50).map { _ in Int.random(in: 0...bytes.count, using: &generator) }
        for place in places + marks + marks.map({ $0 + 1 }) {
            let next = map.nextPlace(from: place)
            #expect(next >= place && next <= max(place, bytes.count))
            #expect(!marks.contains { $0 >= place && $0 < next }, "from \(place) to \(next), seed \(seed)")
        }
    }

    /// A marker at every place around the edge of a stretch, in pieces that end at every place around it.
    @Test func markerBetweenPiecesIsNotPassedOver() {
        for mark in 2 * Self.stretch - 3...2 * Self.stretch + 1 {
            var bytes = zeros(4 * Self.stretch)
            bytes.replaceSubrange(0..<2, with: [0xFF, 0xD8])
            bytes.replaceSubrange(mark..<mark + 2, with: [0xFF, 0xD9])
            for cut in mark - 2...mark + 3 {
                var map = ScanMap()
                bytes.withUnsafeBytes {
                    map.add(UnsafeRawBufferPointer(rebasing: $0[..<cut]))
                    map.add(UnsafeRawBufferPointer(rebasing: $0[cut...]))
                }
                let found = mark / Self.stretch * Self.stretch
                #expect(map.nextPlace(from: Self.stretch) == found, "a marker at \(mark), cut at \(cut)")
            }
        }
    }

    @Test func stretchesWithoutMarkersAreSkipped() {
        var generator = SeededGenerator(seed: 1)
        var bytes = zeros(10 * Self.stretch)
        bytes[0] = 0xFF
        bytes[1] = 0xD8
        bytes[7 * Self.stretch - 1] = 0xFF
        bytes[7 * Self.stretch] = 0xD9
        let map = Self.map(bytes, &generator, 5000)
        #expect(map.nextPlace(from: 5) == 5, "there is one in the first")
        #expect(map.nextPlace(from: Self.stretch + 5) == 6 * Self.stretch)
        #expect(map.nextPlace(from: 7 * Self.stretch) == 9 * Self.stretch, "of the end nobody knows")
    }

    @Test(arguments: [[], [0xFF], [0xFF, 0xD7], [0x89, 0x50], [0, 0xD8]] as [[UInt8]])
    func nothingIsSkippedInOtherFiles(_ start: [UInt8]) {
        var map = ScanMap()
        for byte in start { withUnsafeBytes(of: byte) { map.add($0) } }
        if start.count > 1 { zeros(5 * Self.stretch).withUnsafeBytes { map.add($0) } }
        #expect(map.nextPlace(from: 70_000) == 70_000 && map.nextPlace(from: -1) == -1)
    }

    @Test(arguments: Fixtures.valid.filter { $0.format == "jpeg" })
    func headerIsTheSameWithTheMap(_ picture: Fixtures.Picture) throws {
        let small = try picture.bytes
        var generator = SeededGenerator(seed: 3)
        for count in [0, 100, Self.stretch, 6 * Self.stretch] {
            for isWhole in [true, false] {
                let scan = [UInt8](repeating: 0x5A, count: count)
                let bytes = Array(small.dropLast(2)) + scan + (isWhole ? small.suffix(2) : [])
                let outcome = headerInMemory(bytes)
                let map = Self.map(bytes, &generator, 70_000)
                #expect(try ScratchFile().header(bytes, map: map) == outcome, "\(count) more")
                // A file that was shortened since.
                let short = Array(bytes.prefix(bytes.count / 2))
                #expect(try ScratchFile().header(short, announced: bytes.count, map: map) == headerInMemory(short))
            }
        }
    }
}
