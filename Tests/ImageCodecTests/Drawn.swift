/// Pictures that tests draw pixel by pixel, without loss.
enum Drawn {
    /// A bitmap with alpha, by a header of version 4.
    static func bitmap(_ width: Int, _ height: Int, _ pixel: (Int, Int) -> [UInt8]) -> [UInt8] {
        var file: [UInt8] = [0x42, 0x4D]
        func append(_ values: [Int]) {
            for value in values {
                for shift in [0, 8, 16, 24] { file.append(UInt8(truncatingIfNeeded: value >> shift)) }
            }
        }
        append([122 + width * height * 4, 0, 122, 108, width, -height])
        file += [1, 0, 32, 0]
        append([3, width * height * 4, 0, 0, 0, 0, 0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000, 0x7352_4742])
        file += [UInt8](repeating: 0, count: 48)
        for y in 0..<height {
            for x in 0..<width {
                let colour = pixel(x, y)
                file += [colour[2], colour[1], colour[0], colour[3]]
            }
        }
        return file
    }

    /// An animated PNG with alpha, its frames drawn by their numbers.
    static func animation(_ width: Int, _ height: Int, frames: Int, _ pixel: (Int, Int, Int) -> [UInt8]) -> [UInt8] {
        let size = Bombs.big32(width) + Bombs.big32(height)
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        bytes += Bombs.chunk("IHDR", size + [8, 6, 0, 0, 0])
        bytes += Bombs.chunk("acTL", Bombs.big32(frames) + Bombs.big32(0))
        var sequence = 0
        for frame in 0..<frames {
            bytes += Bombs.chunk(
                "fcTL", Bombs.big32(sequence) + size + Bombs.big32(0) + Bombs.big32(0) + [0, 1, 0, 10, 0, 0])
            var samples: [UInt8] = []
            for y in 0..<height { samples += [0] + (0..<width).flatMap { pixel(frame, $0, y) } }
            let data = stored(samples)
            sequence += frame == 0 ? 1 : 2
            bytes +=
                frame == 0
                ? Bombs.chunk("IDAT", data) : Bombs.chunk("fdAT", Bombs.big32(sequence - 1) + data)
        }
        return bytes + Bombs.chunk("IEND", [])
    }

    /// A zlib stream of stored blocks (RFC 1950 and 1951).
    private static func stored(_ samples: [UInt8]) -> [UInt8] {
        var (bytes, low, high): ([UInt8], Int, Int) = ([0x78, 0x01], 1, 0)
        for start in stride(from: 0, to: samples.count, by: 65_535) {
            let part = samples[start..<min(start + 65_535, samples.count)]
            bytes.append(start + part.count == samples.count ? 1 : 0)
            bytes += Bombs.little16(part.count) + Bombs.little16(~part.count & 0xFFFF) + part
        }
        for sample in samples {
            low = (low + Int(sample)) % 65_521
            high = (high + low) % 65_521
        }
        return bytes + Bombs.big32(high << 16 | low)
    }
}
