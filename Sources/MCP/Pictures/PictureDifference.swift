internal import Glibc
internal import JSONRPC

/// The pixels in which two pictures differ. A plain value.
struct PictureDifference: Equatable, Sendable {
    /// The size that both have together: the larger width and height.
    let width: Int
    let height: Int
    /// `true` when both have the same size and the same pixels.
    private(set) var isIdentical: Bool
    /// The number of pixels that differ by more than is tolerated; those that only one picture has are among them.
    private(set) var changed = 0
    /// The peak signal-to-noise ratio in decibels over the pixels that both have; `nil` when these are equal.
    private(set) var psnr: Double?
    /// The rectangles around the changes, the largest first.
    private(set) var regions: [PixelRegion] = []
    /// Whether each pixel differs, row by row.
    private(set) var mask: [Bool]

    /// The side of the squares by which changes that are close to each other become one region, in pixels.
    private static let cell = 16

    /// Compares two pictures that are aligned at their top left corners.
    ///
    /// - Parameter tolerance: The largest difference of a sample that does not count, of 255.
    /// - Complexity: O(*pixels*).
    init(_ one: PixelImage, _ other: PixelImage, tolerance: Int) {
        (width, height) = (max(one.width, other.width), max(one.height, other.height))
        let (left, top) = (min(one.width, other.width), min(one.height, other.height))
        mask = [Bool](repeating: true, count: width * height)
        changed = width * height - left * top
        isIdentical = (one.width, one.height) == (other.width, other.height) && one.alpha == other.alpha
        var (squares, differing) = (0, 0)
        let stride = width
        mask.withUnsafeMutableBufferPointer { mask in
            one.rgb.withUnsafeBufferPointer { a in
                other.rgb.withUnsafeBufferPointer { b in
                    for y in 0..<top {
                        for x in 0..<left {
                            let (placeA, placeB) = (3 * (y * one.width + x), 3 * (y * other.width + x))
                            let opacities = (one.alpha[y * one.width + x], other.alpha[y * other.width + x])
                            var most = abs(Int(opacities.0) - Int(opacities.1))
                            for sample in 0..<3 {
                                let step = abs(Int(a[placeA + sample]) - Int(b[placeB + sample]))
                                squares += step * step
                                most = max(most, step)
                            }
                            mask[y * stride + x] = most > tolerance
                            if most > tolerance { differing += 1 }
                        }
                    }
                }
            }
        }
        changed += differing
        if squares > 0 {
            psnr = 10 * log10(255 * 255 * Double(3 * left * top) / Double(squares))
            isIdentical = false
        }
        regions = findRegions()
    }

    /// The part of the pixels that differ, in percent.
    var changedPercent: Double { 100 * Double(changed) / Double(width * height) }

    /// The pixels that differ in pink, over a picture in light greys.
    func shown(over picture: PixelImage) -> PixelImage {
        var rgb = [UInt8](repeating: 255, count: 3 * mask.count)
        for y in 0..<height {
            for x in 0..<width {
                let pixel = y * width + x
                let isInside = x < picture.width && y < picture.height
                let color = mask[pixel] ? .pink : isInside ? picture.color(y * picture.width + x).faded : .white
                (rgb[3 * pixel], rgb[3 * pixel + 1], rgb[3 * pixel + 2]) = (color.red, color.green, color.blue)
            }
        }
        return PixelImage(width: width, height: height, rgb: rgb)
    }

    /// Groups the squares with changes that touch each other, also at corners.
    private func findRegions() -> [PixelRegion] {
        let (columns, rows) = ((width + Self.cell - 1) / Self.cell, (height + Self.cell - 1) / Self.cell)
        var boxes = [PixelRegion?](repeating: nil, count: columns * rows)
        for y in 0..<height {
            for x in 0..<width where mask[y * width + x] {
                let place = y / Self.cell * columns + x / Self.cell
                boxes[place] = PixelRegion(x: x, y: y, width: 1, height: 1).joined(with: boxes[place])
            }
        }
        var found: [PixelRegion] = []
        for start in boxes.indices where boxes[start] != nil {
            var (open, region): ([Int], PixelRegion?) = ([start], nil)
            while let place = open.popLast() {
                guard let box = boxes[place] else { continue }
                boxes[place] = nil
                region = box.joined(with: region)
                let (column, row) = (place % columns, place / columns)
                for y in max(row - 1, 0)...min(row + 1, rows - 1) {
                    for x in max(column - 1, 0)...min(column + 1, columns - 1) { open.append(y * columns + x) }
                }
            }
            if let region { found.append(region) }
        }
        return found.sorted { $0.width * $0.height > $1.width * $1.height }
    }
}

extension PixelRegion {
    /// The smallest rectangle around both.
    func joined(with other: PixelRegion?) -> PixelRegion {
        guard let other else { return self }
        let (left, top) = (min(x, other.x), min(y, other.y))
        return PixelRegion(
            x: left, y: top, width: max(x + width, other.x + other.width) - left,
            height: max(y + height, other.y + other.height) - top)
    }

    /// The rectangle in a picture that is `factor` times as large, in whole pixels around it.
    func scaled(by factor: Double) -> PixelRegion {
        let (left, top) = (Int(Double(x) * factor), Int(Double(y) * factor))
        let (right, bottom) = (Double(x + width) * factor, Double(y + height) * factor)
        return PixelRegion(
            x: left, y: top, width: Int(right.rounded(.up)) - left, height: Int(bottom.rounded(.up)) - top)
    }

    /// The members of the rectangle in a result.
    var literal: JSONLiteral {
        ["x": .integer(x), "y": .integer(y), "width": .integer(width), "height": .integer(height)]
    }
}

extension PixelColor {
    /// A light grey of the same brightness (ITU-R BT.601), as the ground for marks.
    fileprivate var faded: PixelColor {
        let light = (299 * Int(red) + 587 * Int(green) + 114 * Int(blue)) / 1000
        let value = UInt8(160 + light * 95 / 255)
        return PixelColor(red: value, green: value, blue: value)
    }
}
