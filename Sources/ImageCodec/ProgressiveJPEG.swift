internal import CVips
internal import ImageRecipes

/// The first scan of a progressive JPEG (ITU T.81, annex G): the means of the blocks of 8 × 8 pixels.
///
/// They are the image at an eighth of its size, which is sufficient for a thumbnail. The rest of the file, most of it,
/// is not decoded; libjpeg would keep every coefficient in memory. Unusual files give nil and are left to libjpeg.
struct ProgressiveJPEG {
    private let file: SourceBytes
    private var quantisers = [[Int]](repeating: [], count: 4)
    private var tables = [HuffmanTable?](repeating: nil, count: 4)
    private var components: [Component] = []
    private var width = 0
    private var height = 0
    private var restartInterval = 0
    private var adobeTransform: Int?
    /// The number of bits of the means that later scans add.
    private var shift = 0

    /// The coarsest step of the means, in units of the coefficient, eight of which are a level: what later scans would add
    /// is then 2.5 levels at most. At the quality 40 of libjpeg a step is 40; larger ones tint the image.
    private static let coarsestStep = 40

    private struct Component {
        let identifier: Int
        let across: Int
        let down: Int
        let quantiser: Int
        var table = 0
        /// The number of blocks in a row of the plane; ``means`` holds their values.
        var stride = 0
        var means: [Int16] = []
    }

    /// The image at an eighth of its size; nil for other JPEGs, for those whose first scan is too coarse, for damaged ones,
    /// and for files that end too early.
    static func eighth(of file: SourceBytes) -> (samples: [UInt8], size: Extent, bands: Int)? {
        guard file.big16(0) == 0xFFD8, endsProperly(file) else { return nil }
        var reader = ProgressiveJPEG(file: file)
        guard let data = reader.readHeader(), reader.readMeans(from: data) else { return nil }
        return reader.picture()
    }

    private init(file: SourceBytes) { self.file = file }

    /// `true` when the file has an end marker; libjpeg reports a truncated file otherwise.
    private static func endsProperly(_ file: SourceBytes) -> Bool {
        // Cameras write few bytes after the end marker; a file with more is decoded in the ordinary way.
        let start = max(2, file.count - 256)
        return (start..<max(start, file.count - 1)).contains { file.bytes[$0] == 0xFF && file.bytes[$0 + 1] == 0xD9 }
    }

    // MARK: - Header

    /// Reads the segments up to the first scan; returns the offset of its data if it holds the means of all components.
    private mutating func readHeader() -> Int? {
        var place = 2
        while let mark = file.byte(place), mark == 0xFF, let kind = file.byte(place + 1) {
            if kind == 0xFF {
                place += 1
                continue
            }
            guard let length = file.big16(place + 2), length >= 2, place + 2 + length <= file.count else { return nil }
            let body = (place + 4)..<(place + 2 + length)
            switch kind {
            case 0xC2: guard readFrame(body) else { return nil }
            case 0xC0, 0xC1, 0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: return nil
            case 0xC4: guard readTables(body) else { return nil }
            case 0xDB: guard readQuantisers(body) else { return nil }
            case 0xDD: restartInterval = file.big16(body.lowerBound) ?? 0
            case 0xEE where file.matches("Adobe", at: body.lowerBound): adobeTransform = file.byte(body.lowerBound + 11)
            case 0xDA: return readScan(body) ? body.upperBound : nil
            default: break
            }
            place = body.upperBound
        }
        return nil
    }

    private mutating func readFrame(_ body: Range<Int>) -> Bool {
        let start = body.lowerBound
        guard components.isEmpty, file.byte(start) == 8, let height = file.big16(start + 1), height > 0,
            let width = file.big16(start + 3), width > 0, let count = file.byte(start + 5), count == 1 || count == 3,
            body.count == 6 + 3 * count
        else { return false }
        (self.width, self.height) = (width, height)
        for index in 0..<count {
            guard let identifier = file.byte(start + 6 + 3 * index), let sampling = file.byte(start + 7 + 3 * index),
                let quantiser = file.byte(start + 8 + 3 * index), (1...4).contains(sampling >> 4),
                (1...4).contains(sampling & 15), quantiser < 4
            else { return false }
            components.append(
                Component(identifier: identifier, across: sampling >> 4, down: sampling & 15, quantiser: quantiser))
        }
        if count == 1 { return true }
        // Accepts only the sampling that cameras and encoders use: full luminance, and full or halved chrominance.
        return components[1].across == 1 && components[1].down == 1 && components[2].across == 1
            && components[2].down == 1 && components[0].across <= 2 && components[0].down <= 2
    }

    private mutating func readQuantisers(_ body: Range<Int>) -> Bool {
        var place = body.lowerBound
        while place < body.upperBound {
            guard let kind = file.byte(place), kind & 15 < 4, kind >> 4 < 2 else { return false }
            let size = kind >> 4 + 1
            guard place + 1 + 64 * size <= body.upperBound,
                let first = size == 1 ? file.byte(place + 1) : file.big16(place + 1)
            else { return false }
            quantisers[kind & 15] = [first]
            place += 1 + 64 * size
        }
        return true
    }

    private mutating func readTables(_ body: Range<Int>) -> Bool {
        var place = body.lowerBound
        while place < body.upperBound {
            guard let kind = file.byte(place), kind & 15 < 4, place + 17 <= body.upperBound else { return false }
            let counts = (1...16).map { Int(file.bytes[place + $0]) }
            let total = counts.reduce(0, +)
            guard place + 17 + total <= body.upperBound else { return false }
            if kind >> 4 == 0 {
                guard let table = HuffmanTable(counts, Array(file.bytes[(place + 17)..<(place + 17 + total)])) else {
                    return false
                }
                tables[kind & 15] = table
            }
            place += 17 + total
        }
        return true
    }

    /// Ns, a pair for each component, Ss, Se, Ah and Al (T.81, B.2.3).
    private mutating func readScan(_ body: Range<Int>) -> Bool {
        let start = body.lowerBound
        let parameters = start + 1 + 2 * components.count
        guard !components.isEmpty, file.byte(start) == components.count, body.count == 4 + 2 * components.count,
            file.byte(parameters) == 0, file.byte(parameters + 1) == 0, let approximation = file.byte(parameters + 2),
            approximation >> 4 == 0, approximation <= 13
        else { return false }
        shift = approximation
        for index in components.indices {
            guard file.byte(start + 1 + 2 * index) == components[index].identifier,
                let selector = file.byte(start + 2 + 2 * index), selector >> 4 < 4, tables[selector >> 4] != nil,
                let step = quantisers[components[index].quantiser].first, step << shift <= Self.coarsestStep
            else { return false }
            components[index].table = selector >> 4
        }
        return true
    }

    // MARK: - Data

    /// Reads the mean of every block.
    private mutating func readMeans(from start: Int) -> Bool {
        let isSingle = components.count == 1
        let (most, tallest) = isSingle ? (1, 1) : (components[0].across, components[0].down)
        let unitsAcross = (width + 8 * most - 1) / (8 * most)
        let unitsDown = (height + 8 * tallest - 1) / (8 * tallest)
        var means: [[Int16]] = []
        for index in components.indices {
            let (across, down) = isSingle ? (1, 1) : (components[index].across, components[index].down)
            components[index].stride = unitsAcross * across
            means.append(Array(repeating: 0, count: unitsAcross * across * unitsDown * down))
        }
        var bits = BitReader(file.bytes, from: start)
        var units = 0
        let layout = components.map { component in
            (
                across: isSingle ? 1 : component.across, down: isSingle ? 1 : component.down, stride: component.stride,
                table: tables[component.table], quantiser: quantisers[component.quantiser].first ?? 0
            )
        }
        var sums = [Int](repeating: 0, count: components.count)
        for row in 0..<unitsDown {
            for column in 0..<unitsAcross {
                if restartInterval > 0, units > 0, units % restartInterval == 0 {
                    guard bits.skipRestart() else { return false }
                    for index in sums.indices { sums[index] = 0 }
                }
                units += 1
                for index in layout.indices {
                    let part = layout[index]
                    guard let table = part.table else { return false }
                    for y in 0..<part.down {
                        for x in 0..<part.across {
                            guard let difference = bits.difference(table) else { return false }
                            sums[index] = max(-32_768, min(32_767, sums[index] + difference))
                            // A mean is the coefficient divided by eight, relative to the middle of the range. The bits
                            // that later scans add are assumed to be half of their maximum.
                            let doubled = ((sums[index] << (shift + 1)) + (1 << shift) - 1) * part.quantiser
                            let value = 128 + (doubled + 8) >> 4
                            means[index][(row * part.down + y) * part.stride + column * part.across + x] =
                                Int16(max(0, min(255, value)))
                        }
                    }
                }
            }
        }
        for index in components.indices { components[index].means = means[index] }
        return true
    }

    // MARK: - Pixels

    private func picture() -> (samples: [UInt8], size: Extent, bands: Int)? {
        // A block counts as a whole one or not at all, which moves the opposite edge: by half a block at most.
        let size = Extent(width: max(1, (width + 4) / 8), height: max(1, (height + 4) / 8))
        let light = components[0]
        if components.count == 1 {
            var samples: [UInt8] = []
            samples.reserveCapacity(size.width * size.height)
            for y in 0..<size.height {
                for x in 0..<size.width { samples.append(UInt8(light.means[y * light.stride + x])) }
            }
            return (samples, size, 1)
        }
        // Without an Adobe marker the colours are YCbCr, unless the components are named R, G and B.
        let isRGB = adobeTransform == 0 || (adobeTransform == nil && light.identifier == 0x52)
        let (blue, red) = (components[1], components[2])
        var samples = [UInt8](repeating: 0, count: size.width * size.height * 3)
        func clipped(_ value: Int) -> UInt8 { UInt8(max(0, min(255, value))) }
        for y in 0..<size.height {
            for x in 0..<size.width {
                let place = (y * size.width + x) * 3
                let luma = Int(light.means[y * light.stride + x])
                let colour = y / light.down * blue.stride + x / light.across
                let (second, third) = (Int(blue.means[colour]), Int(red.means[colour]))
                if isRGB {
                    samples[place] = UInt8(luma)
                    samples[place + 1] = UInt8(second)
                    samples[place + 2] = UInt8(third)
                } else {
                    // JFIF 1.02: R = Y + 1.402 Cr, G = Y − 0.344136 Cb − 0.714136 Cr, B = Y + 1.772 Cb, with 16 bits of
                    // fraction.
                    let (cb, cr) = (second - 128, third - 128)
                    samples[place] = clipped(luma + (91_881 * cr + 32_768) >> 16)
                    samples[place + 1] = clipped(luma - (22_554 * cb + 46_802 * cr + 32_768) >> 16)
                    samples[place + 2] = clipped(luma + (116_130 * cb + 32_768) >> 16)
                }
            }
        }
        return (samples, size, 3)
    }
}

/// The codes of a Huffman table, indexed by the next sixteen bits.
private struct HuffmanTable {
    /// Length << 8 | symbol; 0 for an unused code.
    let entries: [UInt16]

    /// A table with the given number of codes of each length from 1 to 16; nil if they overlap.
    init?(_ counts: [Int], _ symbols: [UInt8]) {
        var entries = [UInt16](repeating: 0, count: 65_536)
        var (code, next) = (0, 0)
        for length in 1...16 {
            for _ in 0..<counts[length - 1] {
                let span = 1 << (16 - length)
                guard code + span <= 65_536, symbols[next] <= 16 else { return nil }
                for place in code..<(code + span) { entries[place] = UInt16(length) << 8 | UInt16(symbols[next]) }
                code += span
                next += 1
            }
        }
        self.entries = entries
    }
}

/// Reads the bits of a scan, without the stuffed bytes.
private struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var place: Int
    private var buffer: UInt64 = 0
    private var count = 0

    init(_ bytes: UnsafeRawBufferPointer, from place: Int) {
        self.bytes = bytes
        self.place = place
    }

    /// Reads bytes up to the next marker.
    private mutating func fill() {
        while count <= 48, place < bytes.count {
            let byte = bytes[place]
            if byte == 0xFF {
                guard place + 1 < bytes.count, bytes[place + 1] == 0 else { return }
                place += 1
            }
            place += 1
            buffer = buffer << 8 | UInt64(byte)
            count += 8
        }
    }

    /// The difference of a mean from the previous one (T.81, F.2.2.1); nil at a marker, or for an invalid code.
    mutating func difference(_ table: HuffmanTable) -> Int? {
        if count < 32 { fill() }
        let next = count >= 16 ? buffer >> UInt64(count - 16) : buffer << UInt64(16 - count)
        let entry = table.entries[Int(next & 0xFFFF)]
        let (length, size) = (Int(entry >> 8), Int(entry & 255))
        guard length > 0, length + size <= count else { return nil }
        count -= length + size
        guard size > 0 else { return 0 }
        let value = Int(buffer >> UInt64(count) & (1 << UInt64(size) - 1))
        return value >= 1 << (size - 1) ? value : value - (1 << size) + 1
    }

    /// Skips a restart marker; `false` when the next bytes are not one.
    mutating func skipRestart() -> Bool {
        (buffer, count) = (0, 0)
        guard place + 1 < bytes.count, bytes[place] == 0xFF, (0xD0...0xD7).contains(bytes[place + 1]) else {
            return false
        }
        place += 2
        return true
    }
}
