/// A TIFF of one uncompressed strip, or one tile for each band, made by hand (TIFF 6.0, section 2): what encoders do not write.
package struct HandmadeTIFF {
    /// The pixels across and down.
    package var width: Int
    package var height: Int
    /// The samples of a pixel.
    package var bands: Int
    /// The bits of a sample.
    package var bits: Int
    /// The kind of the samples: 1 unsigned, 2 signed, 3 floating point, 6 complex.
    package var kind: Int
    /// The samples, little-endian.
    package var samples: [UInt8]

    /// Describes a picture.
    package init(width: Int, height: Int, bands: Int, bits: Int, kind: Int, samples: [UInt8]) {
        (self.width, self.height, self.bands, self.bits) = (width, height, bands, bits)
        (self.kind, self.samples) = (kind, samples)
    }

    /// The file; with planes apart, tiles of 16 × 16 hold the samples, and their content does not matter.
    package func bytes(tiledPlanes: Bool = false, isBig: Bool = false, next: Int = 0) -> [UInt8] {
        let colours = bands < 3 ? 1 : 3
        var tags: [(tag: Int, values: [Int])] = [
            (256, [width]), (257, [height]), (258, Array(repeating: bits, count: bands)), (259, [1]),
            (262, [colours == 1 ? 1 : 2]), (277, [bands]), (284, [tiledPlanes ? 2 : 1]),
            (339, Array(repeating: kind, count: bands)),
        ]
        if bands > colours { tags.append((338, [2])) }
        if tiledPlanes {
            tags += [
                (322, [16]), (323, [16]), (324, Array(repeating: 0, count: bands)),
                (325, Array(repeating: 256 * bits / 8, count: bands)),
            ]
        } else {
            tags += [(273, [0]), (278, [height]), (279, [samples.count])]
        }
        tags.sort { $0.tag < $1.tag }
        let (head, entry, inside) = isBig ? (16, 20, 8) : (8, 12, 4)
        let directoryEnd = head + (isBig ? 8 : 2) + entry * tags.count + inside
        let outside = tags.reduce(0) { $0 + ($1.values.count * 4 > inside ? $1.values.count * 4 : 0) }
        var directory = isBig ? little32(UInt32(tags.count)) + zeros(4) : little16(UInt16(tags.count))
        var values: [UInt8] = []
        for (tag, numbers) in tags {
            var numbers = numbers
            if tag == 273 || tag == 324 { numbers = numbers.map { _ in directoryEnd + outside } }
            directory += little16(UInt16(tag)) + little16(4) + little32(UInt32(numbers.count))
            if isBig { directory += zeros(4) }
            let bytes = numbers.flatMap { little32(UInt32($0)) }
            if bytes.count <= inside {
                directory += bytes + zeros(inside - bytes.count)
            } else {
                directory += little32(UInt32(directoryEnd + values.count)) + zeros(inside - 4)
                values += bytes
            }
        }
        directory += little32(UInt32(next)) + zeros(inside - 4)
        let start: [UInt8] =
            isBig ? [0x49, 0x49, 43, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0] : [0x49, 0x49, 42, 0, 8, 0, 0, 0]
        return start + directory + values + samples
    }
}
