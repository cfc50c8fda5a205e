internal import CVips
internal import Glibc
internal import ImageRecipes

extension Processing {
    /// The image with corners cut off along quarter circles with smooth edges.
    ///
    /// Kingfisher's RoundCornerImageProcessor: with a target size the image is first resized to it; the colour, if any,
    /// is behind the image.
    static func rounded(
        _ image: CodecImage, _ round: RoundCorner, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        var image = try image.inRGB()
        if let target = round.targetSize {
            image = try resized(image, to: Geometry.covering(image.extent, target), limits)
            let crop = try? Crop(size: target)
            if let crop { image = try apply(.crop(crop), image, limits) }
        }
        let shape = RoundedShape(image.extent, round.radius, round.corners)
        let mask = try CodecImage.pixels(shape.coverage(), width: image.width, height: image.height, bands: 1)
        let clear = try image.withAlpha()
        let depth = Int32(clear.depth)
        let alpha = try clear.applying { hv_extract_bands($0, 3, 1) }.applying(with: mask) {
            hv_multiply_alpha($0, $1, depth)
        }
        let cut = try clear.applying { hv_extract_bands($0, 0, 3) }.applying(with: alpha) { hv_join_bands($0, $1) }
        return try grounded(cut, on: round.background)
    }

    /// An image with alpha on a ground of a colour; unchanged when that is `nil`.
    static func grounded(_ image: CodecImage, on colour: RecipeColor?) throws(RenderFailure) -> CodecImage {
        guard let colour else { return image }
        if colour.alpha == 255 { return try image.applying { hv_flatten($0, image.samples(of: colour), 3) } }
        return try composited(image, alpha: 1, on: colour, by: hv_over)
    }

    /// The largest circle around the middle of the image; with a diameter, of the image resized until it covers that.
    static func cutToCircle(
        _ image: CodecImage, _ circle: Circle, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        let side = min(image.width, image.height)
        let square = Geometry.part(
            of: image.extent, Extent(width: side, height: side), anchorX: 0.5, anchorY: 0.5)
        guard
            let round = try? RoundCorner(
                radius: .fraction(0.5), targetSize: circle.target, background: circle.background)
        else { return image }
        return try rounded(circle.target == nil ? cut(image.inMemory(), to: square) : image, round, limits)
    }

    /// The image with a line along the edges, inside the image (Kingfisher's BorderImageProcessor: a rounded rectangle
    /// inset by half the line's width, stroked).
    static func bordered(_ image: CodecImage, _ border: Border) throws(RenderFailure) -> CodecImage {
        guard border.width > 0 else { return image }
        let image = try image.eightBit().inRGB()
        let shape = RoundedShape(image.extent, border.radius, border.corners, inset: border.width / 2)
        let mask = try CodecImage.pixels(
            shape.strokeCoverage(width: border.width, alpha: border.color.alpha), width: image.width,
            height: image.height, bands: 1)
        let line = try image.applying { hv_fill($0, image.samples(of: border.color), 3) }.applying(with: mask) {
            hv_join_bands($0, $1)
        }
        let result = try image.withAlpha().applying(with: line) { hv_composite($0, $1, hv_over) }
        return image.hasAlpha ? result : try result.applying { hv_extract_bands($0, 0, 3) }
    }
}

/// A rectangle with rounded corners, evaluated by the distance from the centre of each pixel.
struct RoundedShape {
    let width: Int
    let height: Int
    private let inset: Double
    private let radius: Double
    private let corners: Corners

    init(_ size: Extent, _ radius: CornerRadius, _ corners: Corners, inset: Double = 0) {
        width = size.width
        height = size.height
        let shorter = Double(min(size.width, size.height))
        self.inset = min(inset, shorter / 2)
        let wanted =
            switch radius {
            case .pixels(let value): value
            case .fraction(let value): value * shorter
            }
        self.radius = min(wanted, max(0, shorter / 2 - self.inset))
        self.corners = corners
    }

    /// The distance of the centre of a pixel from the edge, in pixels; negative inside.
    private func distance(_ x: Int, _ y: Int) -> Double {
        let (middleX, middleY) = (Double(width) / 2, Double(height) / 2)
        let (fromX, fromY) = (Double(x) + 0.5 - middleX, Double(y) + 0.5 - middleY)
        let corner: Corners = fromY < 0 ? (fromX < 0 ? .topLeft : .topRight) : (fromX < 0 ? .bottomLeft : .bottomRight)
        let radius = corners.contains(corner) ? radius : 0
        let (beyondX, beyondY) = (abs(fromX) - (middleX - inset - radius), abs(fromY) - (middleY - inset - radius))
        // A sharp corner stays sharp at any distance; a round one stays round.
        let outside = radius > 0 ? hypot(max(beyondX, 0), max(beyondY, 0)) : max(beyondX, beyondY, 0)
        return outside + min(max(beyondX, beyondY), 0) - radius
    }

    /// The part of each pixel that lies inside, 0…255.
    func coverage() -> [UInt8] {
        filled(inner: radius + 1) { UInt8((min(1, max(0, 0.5 - $0)) * 255).rounded()) }
    }

    /// The part of each pixel that a line of that width along the edge covers, times an alpha.
    func strokeCoverage(width: Double, alpha: UInt8) -> [UInt8] {
        filled(inner: max(radius, width) + inset + width + 1) { distance in
            UInt8((min(1, max(0, width / 2 - abs(distance) + 0.5)) * Double(alpha)).rounded())
        }
    }

    /// Evaluates each pixel that is nearer to a side than `inner`; one value serves for all others.
    private func filled(inner: Double, _ value: (Double) -> UInt8) -> [UInt8] {
        let band = Int(min(inner.rounded(.up), Double(max(width, height))))
        var samples = [UInt8](repeating: value(distance(width / 2, height / 2)), count: width * height)
        for y in 0..<height {
            let isInside = y >= band && y < height - band
            for x in 0..<width where !isInside || x < band || x >= width - band {
                samples[y * width + x] = value(distance(x, y))
            }
        }
        return samples
    }
}

extension Circle {
    /// The square around the circle, when it has a diameter.
    var target: PixelSize? {
        diameter.flatMap { side in try? PixelSize(width: Double(side), height: Double(side)) }
    }
}
