/// Files that promise, or expand to, more than anyone wants.
enum Bombs {
    static func big32(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    static func little32(_ value: Int) -> [UInt8] { big32(value).reversed() }
    static func little16(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }

    static func chunk(_ kind: String, _ body: [UInt8]) -> [UInt8] {
        let content = Array(kind.utf8) + body
        var checksum = ~UInt32(0)
        for byte in content {
            checksum ^= UInt32(byte)
            for _ in 0..<8 { checksum = checksum & 1 == 1 ? 0xEDB8_8320 ^ checksum >> 1 : checksum >> 1 }
        }
        return big32(body.count) + content + big32(Int(~checksum))
    }

    /// A PNG of that size, with hardly any pixels.
    static func png(_ width: Int, _ height: Int) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            + chunk("IHDR", big32(width) + big32(height) + [8, 2, 0, 0, 0])
            + chunk("IDAT", [0x78, 0x9C, 0x63, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01]) + chunk("IEND", [])
    }

    /// An APNG whose canvas and frames have that size.
    static func animatedPNG(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        bytes +=
            chunk("IHDR", big32(width) + big32(height) + [8, 6, 0, 0, 0]) + chunk("acTL", big32(frames) + big32(0))
        for index in 0..<frames {
            let size = big32(width) + big32(height) + big32(0) + big32(0)
            bytes += chunk("fcTL", big32(index * 2) + size + [0, 1, 0, 10, 0, 0])
            let pixels: [UInt8] = [0x78, 0x9C, 0x63, 0x00, 0x00, 0x00, 0x01, 0x00, 0x01]
            bytes += index == 0 ? chunk("IDAT", pixels) : chunk("fdAT", big32(index * 2 + 1) + pixels)
        }
        return bytes + chunk("IEND", [])
    }

    /// A GIF of that size with so many pictures of it, of which hardly a pixel is there.
    static func gif(_ width: Int, _ height: Int, frames: Int) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + little16(width) + little16(height) + [0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        for _ in 0..<frames {
            bytes += [0x21, 0xF9, 4, 0, 1, 0, 0, 0, 0x2C, 0, 0, 0, 0]
            bytes += little16(width) + little16(height) + [0, 2, 2, 0x44, 1, 0]
        }
        return bytes + [0x3B]
    }

    /// A JPEG that says it has that size.
    static func jpeg(_ width: Int, _ height: Int, isProgressive: Bool = false) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
        bytes += [0xFF, isProgressive ? 0xC2 : 0xC0, 0, 11, 8, UInt8(height >> 8), UInt8(height & 255)]
        bytes += [UInt8(width >> 8), UInt8(width & 255), 1, 1, 0x11, 0]
        bytes += [0xFF, 0xC4, 0, 20, 0, 1] + [UInt8](repeating: 0, count: 15) + [0]
        bytes += [0xFF, 0xC4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 15) + [0]
        return bytes + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, isProgressive ? 0 : 63, 0, 0x55, 0x55, 0xFF, 0xD9]
    }

    /// A WebP without loss that says it has that size, at most 16,384 either way.
    static func webp(_ width: Int, _ height: Int) -> [UInt8] {
        let size = (width - 1) | (height - 1) << 14
        let body = [0x2F] + little32(size) + [UInt8](repeating: 0, count: 11)
        let riff = Array("WEBPVP8L".utf8) + little32(body.count) + body
        return Array("RIFF".utf8) + little32(riff.count) + riff
    }

    /// A TIFF of that size whose only strip is one byte.
    static func tiff(_ width: Int, _ height: Int) -> [UInt8] {
        let tags: [(Int, Int, Int)] = [
            (256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1),
            (278, 4, height), (279, 4, 1),
        ]
        var bytes = Array("II".utf8) + little16(42) + little32(12) + [0, 0, 0, 0] + little16(tags.count)
        for (tag, kind, value) in tags { bytes += little16(tag) + little16(kind) + little32(1) + little32(value) }
        return bytes + little32(0)
    }

    /// A bitmap that says it has that size.
    static func bmp(_ width: Int, _ height: Int) -> [UInt8] {
        Array("BM".utf8) + little32(58) + little32(0) + little32(54) + little32(40) + little32(width) + little32(height)
            + little16(1) + little16(24) + [UInt8](repeating: 0, count: 28)
    }

    /// The head of a JPEG XL of that size, and hardly more.
    static func jxl(_ width: Int, _ height: Int) -> [UInt8] {
        var bits: [UInt8] = []
        func add(_ value: Int, _ count: Int) { for place in 0..<count { bits.append(UInt8(value >> place & 1)) } }
        for (value, count) in [(0x0AFF, 16), (0, 1), (3, 2), (height - 1, 30), (0, 3), (3, 2), (width - 1, 30), (3, 2)]
        {
            add(value, count)
        }
        let bytes: [UInt8] = stride(from: 0, to: bits.count, by: 8).map { start in
            (start..<min(start + 8, bits.count)).reduce(0) { $0 | bits[$1] << ($1 - start) }
        }
        return bytes + [UInt8](repeating: 0, count: 99)
    }

    /// A drawing whose entities name each other ten times, nine levels deep.
    static let laughs: [UInt8] = {
        var text = "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY a0 \"ha\">"
        for level in 1...9 {
            text += "<!ENTITY a\(level) \"" + String(repeating: "&a\(level - 1);", count: 10) + "\">"
        }
        text += "]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"10\"><text>&a9;</text></svg>"
        return Array(text.utf8)
    }()

    /// A drawing whose groups use each other ten times, eight levels deep.
    static let uses: [UInt8] = {
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"10\" height=\"10\"><defs>"
        text += "<g id=\"a0\"><rect width=\"1\" height=\"1\"/></g>"
        for level in 1...8 {
            text +=
                "<g id=\"a\(level)\">" + String(repeating: "<use xlink:href=\"#a\(level - 1)\"/>", count: 10) + "</g>"
        }
        return Array((text + "</defs><use xlink:href=\"#a8\"/></svg>").utf8)
    }()

    /// A drawing that takes minutes: noise over millions of pixels, again and again.
    static let slow: [UInt8] = {
        var text =
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4000\" height=\"4000\"><filter id=\"f\" x=\"0\" y=\"0\" width=\"1\" height=\"1\">"
        for index in 0..<40 { text += "<feTurbulence baseFrequency=\"0.0\(index + 1)\" numOctaves=\"20\"/>" }
        return Array((text + "</filter><rect width=\"4000\" height=\"4000\" filter=\"url(#f)\"/></svg>").utf8)
    }()

    /// A drawing of that size.
    static func drawing(_ width: Int, _ height: Int) -> [UInt8] {
        Array(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\"><rect width=\"9\" height=\"9\"/></svg>"
                .utf8)
    }
}
