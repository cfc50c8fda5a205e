/// Decoded pixels of eight bits, over white where they are transparent; rows without gaps.
struct PixelImage: Equatable, Sendable {
    let width: Int
    let height: Int
    /// Red, green and blue of each pixel.
    private(set) var rgb: [UInt8]
    /// How opaque each pixel was.
    let alpha: [UInt8]

    /// Pixels as RGBA, not premultiplied; `nil` unless there are four bytes for each.
    init?(width: Int, height: Int, rgba: [UInt8]) {
        guard width > 0, height > 0, rgba.count == width * height * 4 else { return nil }
        (self.width, self.height) = (width, height)
        var alpha = [UInt8](repeating: 255, count: width * height)
        rgb = [UInt8](unsafeUninitializedCapacity: 3 * alpha.count) { target, count in
            count = target.count
            rgba.withUnsafeBufferPointer { source in
                for pixel in alpha.indices {
                    let opacity = source[4 * pixel + 3]
                    alpha[pixel] = opacity
                    for sample in 0..<3 {
                        let value = source[4 * pixel + sample]
                        target[3 * pixel + sample] = opacity == 255 ? value : Self.over(value, opacity)
                    }
                }
            }
        }
        self.alpha = alpha
    }

    /// Opaque pixels.
    init(width: Int, height: Int, rgb: [UInt8]) {
        (self.width, self.height, self.rgb) = (width, height, rgb)
        alpha = [UInt8](repeating: 255, count: width * height)
    }

    /// A sample over white.
    static func over(_ value: UInt8, _ opacity: UInt8) -> UInt8 {
        let (value, opacity) = (Int(value), Int(opacity))
        return UInt8((value * opacity + 255 * (255 - opacity) + 127) / 255)
    }

    /// The bytes of a row.
    func row(_ y: Int) -> ArraySlice<UInt8> {
        let stride = 3 * width
        return rgb[y * stride..<(y + 1) * stride]
    }
}

/// A colour without transparency.
struct PixelColor: Equatable, Sendable {
    var red: UInt8
    var green: UInt8
    var blue: UInt8

    static let white = PixelColor(red: 255, green: 255, blue: 255)
    static let black = PixelColor(red: 0, green: 0, blue: 0)
    static let gray = PixelColor(red: 200, green: 200, blue: 200)
    static let pink = PixelColor(red: 255, green: 130, blue: 130)
    static let red = PixelColor(red: 230, green: 0, blue: 0)

    /// The colour as `#rrggbb`.
    var text: String {
        let digits = Array("0123456789abcdef")
        return [red, green, blue].reduce("#") { $0 + String([digits[Int($1 >> 4)], digits[Int($1 & 15)]]) }
    }
}

/// A picture that is drawn here, opaque: pictures side by side, boxes and numbers.
struct PixelCanvas: Sendable {
    let width: Int
    let height: Int
    private var rgb: [UInt8]

    init(width: Int, height: Int, _ color: PixelColor = .white) {
        (self.width, self.height) = (width, height)
        rgb = [UInt8](repeating: 255, count: width * height * 3)
        if color != .white { fill(PixelRegion(x: 0, y: 0, width: width, height: height), color) }
    }

    /// Fills the part of a rectangle that lies on the canvas.
    mutating func fill(_ region: PixelRegion, _ color: PixelColor) {
        let (left, right) = (max(region.x, 0), min(region.x + region.width, width))
        guard left < right else { return }
        let row = Array(repeatElement([color.red, color.green, color.blue], count: right - left).joined())
        for y in max(region.y, 0)..<max(min(region.y + region.height, height), max(region.y, 0)) {
            put(row[...], x: left, y: y)
        }
    }

    /// Replaces pixels of a row.
    private mutating func put(_ samples: ArraySlice<UInt8>, x: Int, y: Int) {
        let start = 3 * (y * width + x)
        rgb.replaceSubrange(start..<start + samples.count, with: samples)
    }

    /// Draws the outline of a rectangle, `thickness` pixels wide, around it.
    mutating func outline(_ region: PixelRegion, _ color: PixelColor, thickness: Int) {
        let (x, y, wide) = (region.x - thickness, region.y - thickness, region.width + 2 * thickness)
        fill(PixelRegion(x: x, y: y, width: wide, height: thickness), color)
        fill(PixelRegion(x: x, y: region.y + region.height, width: wide, height: thickness), color)
        fill(PixelRegion(x: x, y: region.y, width: thickness, height: region.height), color)
        fill(PixelRegion(x: region.x + region.width, y: region.y, width: thickness, height: region.height), color)
    }

    /// Draws a picture.
    mutating func draw(_ picture: PixelImage, x left: Int, y top: Int) {
        for y in 0..<max(min(picture.height, height - top), 0) {
            put(picture.row(y).prefix(3 * max(width - left, 0)), x: left, y: top + y)
        }
    }

    /// Draws a number in digits of 5 × 7 dots, white on black.
    mutating func draw(number: Int, x left: Int, y top: Int, dot: Int) {
        let digits = String(number).utf8.map { Int($0) - 48 }
        fill(PixelRegion(x: left, y: top, width: (6 * digits.count + 1) * dot, height: 9 * dot), .black)
        for (place, digit) in digits.enumerated() {
            for (row, bits) in Self.digits[digit].enumerated() {
                for column in 0..<5 where bits & (16 >> column) != 0 {
                    let x = left + (1 + 6 * place + column) * dot
                    fill(PixelRegion(x: x, y: top + (1 + row) * dot, width: dot, height: dot), .white)
                }
            }
        }
    }

    /// The rows of each digit, a bit for a dot.
    private static let digits: [[UInt8]] = [
        [14, 17, 19, 21, 25, 17, 14], [4, 12, 4, 4, 4, 4, 14], [14, 17, 1, 2, 4, 8, 31], [31, 2, 4, 2, 1, 17, 14],
        [2, 6, 10, 18, 31, 2, 2], [31, 16, 30, 1, 1, 17, 14], [6, 8, 16, 30, 17, 17, 14], [31, 1, 2, 4, 8, 8, 8],
        [14, 17, 17, 14, 17, 17, 14], [14, 17, 17, 15, 1, 2, 12],
    ]

    /// The canvas as the file of a BMP of 24 bits, which the engine reads like any other picture.
    var bitmap: [UInt8] {
        let rowBytes = (3 * width + 3) / 4 * 4
        func little(_ value: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(value >> (8 * $0) & 255) } }
        var file: [UInt8] = [0x42, 0x4D] + little(54 + rowBytes * height, 4) + little(0, 4) + little(54, 4)
        file += little(40, 4) + little(width, 4) + little(height, 4) + little(1, 2) + little(24, 2)
        file += [UInt8](repeating: 0, count: 24 + rowBytes * height)
        // The last row comes first, and each pixel as blue, green, red.
        rgb.withUnsafeBufferPointer { source in
            file.withUnsafeMutableBufferPointer { target in
                for y in 0..<height {
                    var (from, to) = (3 * y * width, 54 + (height - 1 - y) * rowBytes)
                    for _ in 0..<width {
                        target[to] = source[from + 2]
                        target[to + 1] = source[from + 1]
                        target[to + 2] = source[from]
                        from += 3
                        to += 3
                    }
                }
            }
        }
        return file
    }
}

extension PixelImage {
    /// The colour of a pixel.
    func color(_ pixel: Int) -> PixelColor {
        PixelColor(red: rgb[3 * pixel], green: rgb[3 * pixel + 1], blue: rgb[3 * pixel + 2])
    }

    /// The most frequent colours and their parts of the picture, the most frequent first; colours that are alike count as one.
    func dominantColors(most: Int) -> [(color: PixelColor, part: Double)] {
        var sums: [Int: (count: Int, red: Int, green: Int, blue: Int)] = [:]
        var all = 0
        for pixel in alpha.indices where alpha[pixel] >= 128 {
            let color = color(pixel)
            let bucket = Int(color.red >> 5) << 6 | Int(color.green >> 5) << 3 | Int(color.blue >> 5)
            var sum = sums[bucket] ?? (0, 0, 0, 0)
            sum.count += 1
            sum.red += Int(color.red)
            sum.green += Int(color.green)
            sum.blue += Int(color.blue)
            sums[bucket] = sum
            all += 1
        }
        return sums.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.prefix(most)
            .map { _, sum in
                let color = PixelColor(
                    red: UInt8(sum.red / sum.count), green: UInt8(sum.green / sum.count),
                    blue: UInt8(sum.blue / sum.count))
                return (color, Double(sum.count) / Double(all))
            }
    }
}
