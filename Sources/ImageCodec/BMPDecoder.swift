internal import ImageRecipes

/// Decodes Windows bitmaps. libvips would leave them to ImageMagick, which must not read untrusted bytes.
///
/// Bottom-up and top-down; 1, 2, 4, 8, 16, 24 and 32 bits; palettes, bit fields, RLE4 and RLE8; every header from
/// OS/2's 12 bytes to version 5's 124. Alpha is used if a header of version 4 or 5, or bit fields, specify it and it
/// varies.
struct BMPDecoder {
    private let file: SourceBytes
    private let width: Int
    private let height: Int
    private let isTopDown: Bool
    private let bits: Int
    private let compression: Int
    private var pixelPlace = 0
    private var palette: [SIMD4<UInt8>] = []
    /// The bit masks of red, green, blue and alpha.
    private var masks: [Int] = [0, 0, 0, 0]

    /// Decodes a file.
    static func decode(_ file: SourceBytes, _ limits: RenderLimits) throws(RenderFailure) -> CodecImage {
        guard file.matches("BM", at: 0), let pixels = file.little32(10) else { throw damaged("it has no header") }
        return try BMPDecoder(file, header: 14, pixels: pixels, isIcon: false, limits).image()
    }

    /// Decodes the bitmap of an icon: a header without a file header, and a mask of one bit per pixel after the image.
    static func decodeIcon(_ file: SourceBytes, at place: Int, _ limits: RenderLimits) throws(RenderFailure)
        -> CodecImage
    {
        try BMPDecoder(file, header: place, pixels: nil, isIcon: true, limits).iconImage()
    }

    /// Refuses a file that ends before the run lengths whose size its header tells: rows may be whole before their end.
    static func checkLength(_ file: SourceBytes) throws(RenderFailure) {
        guard let size = file.little32(14), size >= 40, let compression = file.little32(30),
            compression == 1 || compression == 2,
            let place = file.little32(10), let count = file.little32(34)
        else { return }
        guard place + count <= file.count else { throw damaged("it ends within its pixels") }
    }

    static func damaged(_ what: String) -> RenderFailure {
        RenderFailure(.badData, "The picture is damaged or cut off: \(what).")
    }

    private init(
        _ file: SourceBytes, header: Int, pixels: Int?, isIcon: Bool, _ limits: RenderLimits
    ) throws(RenderFailure) {
        self.file = file
        guard let size = file.little32(header), size == 12 || size == 16 || (40...256).contains(size) else {
            throw BMPDecoder.damaged("its header has an unknown size")
        }
        let isCore = size == 12
        // The header of OS/2 of 16 bytes ends before the compression.
        let isShort = size < 40
        guard let width = isCore ? file.little16(header + 4) : file.little32(header + 4),
            let coded = isCore ? file.little16(header + 6) : file.little32(header + 8),
            let bits = isCore ? file.little16(header + 10) : file.little16(header + 14),
            let compression = isShort ? 0 : file.little32(header + 16),
            let colours = isShort ? 0 : file.little32(header + 32)
        else { throw BMPDecoder.damaged("it ends within its header") }
        isTopDown = !isCore && coded >= 1 << 31
        let rows = isTopDown ? (1 << 32) - coded : coded
        guard width > 0, width < 1 << 31, rows > 0, !isIcon || rows % 2 == 0 else {
            throw BMPDecoder.damaged("its size is impossible")
        }
        self.width = width
        height = isIcon ? rows / 2 : rows
        self.bits = bits
        self.compression = compression
        try limits.check(width: self.width, height: height)
        guard BMPDecoder.isKnown(bits, compression) else {
            throw RenderFailure(.unsupported, "Bitmaps of \(bits) bits with compression \(compression) are not read.")
        }
        var next = header + size
        if bits == 16 || bits == 32 {
            try readMasks(header: header, size: size, &next)
        } else if bits <= 8 {
            let count = min(colours == 0 ? 1 << bits : colours, 256)
            let entry = isCore ? 3 : 4
            for index in 0..<count {
                guard let blue = file.byte(next + index * entry), let green = file.byte(next + index * entry + 1),
                    let red = file.byte(next + index * entry + 2)
                else { throw BMPDecoder.damaged("it ends within its palette") }
                palette.append(SIMD4(UInt8(red), UInt8(green), UInt8(blue), 255))
            }
            next += count * entry
        }
        pixelPlace = pixels ?? next
    }

    private static func isKnown(_ bits: Int, _ compression: Int) -> Bool {
        switch compression {
        case 0: [1, 2, 4, 8, 16, 24, 32].contains(bits)
        case 1: bits == 8
        case 2: bits == 4
        case 3, 6: bits == 16 || bits == 32
        default: false
        }
    }

    private mutating func readMasks(header: Int, size: Int, _ next: inout Int) throws(RenderFailure) {
        guard compression == 3 || compression == 6 else {
            masks = bits == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, size >= 56 ? 0xFF00_0000 : 0]
            return
        }
        let count = size >= 56 || compression == 6 ? 4 : 3
        for index in 0..<count {
            guard let mask = file.little32(header + 40 + 4 * index) else {
                throw BMPDecoder.damaged("it ends within its bit fields")
            }
            masks[index] = mask
        }
        if size == 40 { next += 4 * count }
    }

    // MARK: - Pixels

    private func image() throws(RenderFailure) -> CodecImage {
        let rgba = try pixels()
        return try BMPDecoder.image(rgba, width, height, usesAlpha: masks[3] != 0)
    }

    /// An image of RGBA samples; alpha is ignored when it is 0 or 255 in every pixel.
    private static func image(
        _ rgba: [UInt8], _ width: Int, _ height: Int, usesAlpha: Bool
    ) throws(RenderFailure) -> CodecImage {
        var (isClear, isOpaque) = (true, true)
        if usesAlpha {
            for place in stride(from: 3, to: rgba.count, by: 4) {
                if rgba[place] != 0 { isClear = false }
                if rgba[place] != 255 { isOpaque = false }
            }
        }
        if usesAlpha, !isClear, !isOpaque { return try .pixels(rgba, width: width, height: height, bands: 4) }
        let rgb = [UInt8](unsafeUninitializedCapacity: width * height * 3) { rgb, count in
            count = width * height * 3
            for pixel in 0..<width * height {
                for sample in 0..<3 { rgb[3 * pixel + sample] = rgba[4 * pixel + sample] }
            }
        }
        return try .pixels(rgb, width: width, height: height, bands: 3)
    }

    private func iconImage() throws(RenderFailure) -> CodecImage {
        var rgba = try pixels()
        if bits == 32, stride(from: 3, to: rgba.count, by: 4).contains(where: { rgba[$0] != 0 }) {
            return try BMPDecoder.image(rgba, width, height, usesAlpha: true)
        }
        // The mask after the pixels: a set bit is a transparent pixel.
        let row = (width + 31) / 32 * 4
        let start = pixelPlace + (width * bits + 31) / 32 * 4 * height
        for y in 0..<height {
            for x in 0..<width {
                guard let byte = file.byte(start + (height - 1 - y) * row + x / 8) else {
                    throw BMPDecoder.damaged("it ends within its mask")
                }
                rgba[(y * width + x) * 4 + 3] = byte >> (7 - x % 8) & 1 == 1 ? 0 : 255
            }
        }
        return try .pixels(rgba, width: width, height: height, bands: 4)
    }

    private func pixels() throws(RenderFailure) -> [UInt8] {
        if compression == 1 || compression == 2 { return try runLengths() }
        let row = (width * bits + 31) / 32 * 4
        guard pixelPlace >= 0, pixelPlace <= file.count, (file.count - pixelPlace) / row >= height else {
            throw BMPDecoder.damaged("it ends within its pixels")
        }
        var rgba = [UInt8](repeating: 255, count: width * height * 4)
        let channels = masks.map(Channel.init)
        for y in 0..<height {
            let start = pixelPlace + (isTopDown ? y : height - 1 - y) * row
            var place = y * width * 4
            for x in 0..<width {
                switch bits {
                case 24:
                    rgba[place] = file.bytes[start + 3 * x + 2]
                    rgba[place + 1] = file.bytes[start + 3 * x + 1]
                    rgba[place + 2] = file.bytes[start + 3 * x]
                case 16, 32:
                    let value = (bits == 16 ? file.little16(start + 2 * x) : file.little32(start + 4 * x)) ?? 0
                    for index in 0..<3 { rgba[place + index] = channels[index].value(value) }
                    if masks[3] != 0 || bits == 32 {
                        rgba[place + 3] =
                            masks[3] != 0 ? channels[3].value(value) : UInt8(truncatingIfNeeded: value >> 24)
                    }
                default:
                    let byte = Int(file.bytes[start + x * bits / 8])
                    let index = byte >> (8 - bits - x * bits % 8) & ((1 << bits) - 1)
                    set(index, at: place, in: &rgba)
                }
                place += 4
            }
        }
        return rgba
    }

    /// Decodes RLE4 and RLE8 ("Bitmap Compression" of the Windows documentation). Skipped pixels get the first colour.
    private func runLengths() throws(RenderFailure) -> [UInt8] {
        var indices = [UInt8](repeating: 0, count: width * height)
        var (x, y, place) = (0, 0, pixelPlace)
        func put(_ value: Int) {
            if x < width, y < height { indices[(isTopDown ? y : height - 1 - y) * width + x] = UInt8(value) }
            x += 1
        }
        reading: while y < height {
            guard let count = file.byte(place), let value = file.byte(place + 1) else {
                throw BMPDecoder.damaged("it ends within its pixels")
            }
            place += 2
            if count > 0 {
                for index in 0..<count { put(bits == 8 ? value : index % 2 == 0 ? value >> 4 : value & 15) }
                continue
            }
            switch value {
            case 0: (x, y) = (0, y + 1)
            case 1: break reading
            case 2:
                guard let right = file.byte(place), let up = file.byte(place + 1) else {
                    throw BMPDecoder.damaged("it ends within its pixels")
                }
                (x, y, place) = (x + right, y + up, place + 2)
            default:
                let length = bits == 8 ? value : (value + 1) / 2
                for index in 0..<value {
                    guard let byte = file.byte(place + (bits == 8 ? index : index / 2)) else {
                        throw BMPDecoder.damaged("it ends within its pixels")
                    }
                    put(bits == 8 ? byte : index % 2 == 0 ? byte >> 4 : byte & 15)
                }
                place += (length + 1) / 2 * 2
            }
        }
        var rgba = [UInt8](repeating: 255, count: indices.count * 4)
        for place in indices.indices { set(Int(indices[place]), at: 4 * place, in: &rgba) }
        return rgba
    }

    /// Sets a pixel to a colour of the palette; to black for a number that it lacks, as in browsers.
    private func set(_ index: Int, at place: Int, in rgba: inout [UInt8]) {
        let colour = index < palette.count ? palette[index] : SIMD4(0, 0, 0, 255)
        for sample in 0..<4 { rgba[place + sample] = colour[sample] }
    }

    /// The bits of one channel in a pixel.
    private struct Channel {
        let mask: Int
        let shift: Int
        let most: Int

        init(_ mask: Int) {
            self.mask = mask
            shift = mask == 0 ? 0 : mask.trailingZeroBitCount
            most = mask >> shift
        }

        func value(_ pixel: Int) -> UInt8 {
            most == 0 ? 0 : UInt8(clamping: (((pixel & mask) >> shift) * 255 + most / 2) / most)
        }
    }
}
