internal import Glibc
internal import JSONRPC

/// The pixels in which two pictures differ. A plain value.
struct PictureDifference: Sendable {
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
    /// The places that differ, at the size that they are shown at.
    private var map: ChangeMap
    /// The number of pixels that at least one of them has.
    private let all: Int

    /// The bytes of each picture that are read at a time.
    private static let pieceBytes = 1 << 20

    /// Compares two pictures that are aligned at their top left corners. Waits for the disk.
    ///
    /// - Parameters:
    ///   - tolerance: The largest difference of a sample that does not count, of 255.
    ///   - shown: The size that both together are shown at.
    /// - Complexity: O(*pixels*), with a few megabytes of memory for pictures of any size.
    init(_ one: PixelRows, _ other: PixelRows, tolerance: Int, shown: (width: Int, height: Int)) throws {
        (width, height) = (max(one.width, other.width), max(one.height, other.height))
        let (left, top) = (min(one.width, other.width), min(one.height, other.height))
        all = one.width * one.height + other.width * other.height - left * top
        isIdentical = (one.width, one.height) == (other.width, other.height)
        map = ChangeMap(width: width, height: height, shown: shown)
        var figures = PixelFigures()
        let rows = max(Self.pieceBytes / (4 * max(one.width, other.width)), 1)
        for start in stride(from: 0, to: top, by: rows) {
            let piece = start..<min(start + rows, top)
            let (a, b) = (try one.bytes(ofRows: piece), try other.bytes(ofRows: piece))
            a.withUnsafeBytes { a in
                b.withUnsafeBytes { b in
                    for y in piece {
                        let line = y - piece.lowerBound
                        figures.compare(
                            UnsafeRawBufferPointer(rebasing: a[(line * 4 * one.width)...].prefix(4 * left)),
                            UnsafeRawBufferPointer(rebasing: b[(line * 4 * other.width)...].prefix(4 * left)),
                            tolerance: tolerance
                        ) { map.mark($0, y: y) }
                    }
                }
            }
        }
        if figures.differs { isIdentical = false }
        if figures.squares > 0 { psnr = 10 * log10(255 * 255 * Double(3 * left * top) / Double(figures.squares)) }
        changed = figures.changed + all - left * top
        regions = map.regions
        if width > left {
            let high = one.width > left ? one.height : other.height
            regions.append(PixelRegion(x: left, y: 0, width: width - left, height: high))
        }
        if height > top { regions.append(PixelRegion(x: 0, y: top, width: left, height: height - top)) }
        for region in regions[map.regions.count...] { map.fill(region) }
        regions.sort { $0.width * $0.height > $1.width * $1.height }
    }

    /// The part of the pixels that differ, in percent.
    var changedPercent: Double { 100 * Double(changed) / Double(all) }

    /// The places that differ in pink, over a picture in light greys.
    func shown(over picture: PixelImage) -> PixelImage {
        let (width, height) = map.shown
        var rgb = [UInt8](repeating: 255, count: 3 * width * height)
        for y in 0..<height {
            for x in 0..<width {
                let pixel = y * width + x
                let isInside = x < picture.width && y < picture.height
                let color = map[pixel] ? .pink : isInside ? picture.color(y * picture.width + x).faded : .white
                (rgb[3 * pixel], rgb[3 * pixel + 1], rgb[3 * pixel + 2]) = (color.red, color.green, color.blue)
            }
        }
        return PixelImage(width: width, height: height, rgb: rgb)
    }
}

/// What is counted of pixels that two pictures have at the same places. A plain value.
private struct PixelFigures {
    /// The pixels that differ by more than is tolerated.
    var changed = 0
    /// The sum of the squares of the differences of red, green and blue.
    var squares = 0
    /// `true` when any pixel differs, by whatever amount.
    var differs = false

    /// Compares two rows.
    ///
    /// - Parameter mark: Receives each run of pixels that differ by more than is tolerated.
    mutating func compare(
        _ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, tolerance: Int, _ mark: (Range<Int>) -> Void
    ) {
        guard let (a, b) = one.baseAddress.flatMap({ a in other.baseAddress.map { (a, $0) } }),
            memcmp(a, b, one.count) != 0
        else { return }
        let count = one.count / 4
        var run: Int?
        for x in 0..<count {
            let most = difference(one, other, at: 4 * x)
            if most > tolerance {
                changed += 1
                if run == nil { run = x }
            } else if let start = run {
                mark(start..<x)
                run = nil
            }
        }
        if let run { mark(run..<count) }
    }

    /// The largest difference of a sample of one pixel, over white where it is transparent.
    private mutating func difference(
        _ one: UnsafeRawBufferPointer, _ other: UnsafeRawBufferPointer, at place: Int
    ) -> Int {
        let (opacity, otherOpacity) = (one[place + 3], other[place + 3])
        var most = abs(Int(opacity) - Int(otherOpacity))
        for sample in place..<place + 3 where one[sample] != other[sample] || most > 0 {
            let step = abs(
                Int(PixelImage.over(one[sample], opacity)) - Int(PixelImage.over(other[sample], otherOpacity)))
            squares += step * step
            most = max(most, step)
        }
        if most > 0 { differs = true }
        return most
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
