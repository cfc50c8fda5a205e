internal import ImageEngine

/// Two pictures that are to be compared, and the sizes for it.
struct PicturePair: Sendable {
    /// The most pixels of both together, as they are shown; larger pictures are scaled down for that.
    private static let mostPixels = 4_000_000.0
    /// The longest side of a picture that is scaled.
    private static let longestSide = 65_535

    /// One of them.
    struct Picture: Sendable {
        let resource: Resource
        let probe: ImageProbe
        /// See ``Gallery/load(_:_:)``.
        let provenance: String?
        /// Its size as displayed.
        let size: (width: Int, height: Int)
        /// Its size for the comparison.
        var goal = (width: 1, height: 1)
        /// Its size as it is shown.
        var shown = (width: 1, height: 1)

        /// What makes it so large.
        func steps(to goal: (width: Int, height: Int)) throws -> [ImageProcessor] {
            guard goal != size else { return [] }
            let (width, height) = (Double(goal.width), Double(goal.height))
            return [.resize(try Resize(width: width, height: height, mode: .none, upscale: true))]
        }
    }

    private(set) var first: Picture
    private(set) var second: Picture
    /// `true` when both show the same part of something: the second is scaled to the first.
    let isAlike: Bool
    /// The scale of what is shown: 1, or less for large pictures.
    let shownScale: Double
    /// The scale of what is compared: 1, or that of what is shown when there are too many pixels to decode.
    let scale: Double

    /// Finds and loads two pictures.
    init(_ gallery: Gallery, _ one: String, _ other: String, _ progress: ToolProgress?) async throws {
        first = try await Self.picture(gallery, one, progress)
        second = try await Self.picture(gallery, other, progress)
        let (a, b) = (first.size, second.size)
        let (widthA, heightA) = (Double(a.width), Double(a.height))
        let (widthB, heightB) = (Double(b.width), Double(b.height))
        // The same proportions, but for the rounding of a side to whole pixels. A page that has only become longer is not
        // scaled.
        let isRounded = abs(heightB / widthB * widthA - heightA) < 1 || abs(widthB / heightB * heightA - widthA) < 1
        isAlike = a == b || (isRounded && a.width != b.width && a.height != b.height)
        let (width, height) = isAlike ? (widthA, heightA) : (max(widthA, widthB), max(heightA, heightB))
        let longest = Double(Self.longestSide)
        let scale = min(1, (Self.mostPixels / (width * height)).squareRoot(), longest / max(width, height))
        func scaled(_ whole: (width: Int, height: Int)) -> (width: Int, height: Int) {
            func side(_ pixels: Int) -> Int { max(Int((Double(pixels) * scale).rounded()), 1) }
            return (side(whole.width), side(whole.height))
        }
        shownScale = scale
        (first.shown, second.shown) = (scaled(a), scaled(isAlike ? a : b))
        let mostDecoded = Double(gallery.options.processing.limits.maxPixels)
        let isExact =
            max(widthA * heightA, widthB * heightB) <= mostDecoded
            && (a == b || !isAlike || max(a.width, a.height) <= Self.longestSide)
        self.scale = isExact ? 1 : scale
        (first.goal, second.goal) = isExact ? (a, isAlike ? a : b) : (first.shown, second.shown)
    }

    private static func picture(_ gallery: Gallery, _ name: String, _ progress: ToolProgress?) async throws -> Picture {
        let resource = try await gallery.resource(name)
        let provenance = try await gallery.load(resource, progress)
        let found = try await gallery.probe(resource).probe
        return Picture(resource: resource, probe: found, provenance: provenance, size: found.displayedSize)
    }

    /// The size that both have together as they are shown.
    var shown: (width: Int, height: Int) {
        (max(first.shown.width, second.shown.width), max(first.shown.height, second.shown.height))
    }

    /// `true` when the pixels of both are compared as they are.
    var isExact: Bool { scale == 1 && first.goal == first.size && second.goal == second.size }

    /// A region of what is compared, in pixels of the pictures.
    func region(_ region: PixelRegion) -> PixelRegion {
        let (width, height) =
            isAlike
            ? first.size : (max(first.size.width, second.size.width), max(first.size.height, second.size.height))
        return region.scaled(by: 1 / scale).clamped(width: width, height: height) ?? region
    }

    /// Where they come from when they are not what their servers have now, in sentences.
    var provenance: String {
        [("first", first), ("second", second)].map { name, picture in
            picture.provenance.map { " The \(name) \($0)." } ?? ""
        }.joined()
    }

    /// How they are aligned, in words.
    var alignment: String {
        let sizes = "\(first.size.width)×\(first.size.height) and \(second.size.width)×\(second.size.height)"
        let scaled = scale < 1 ? ", only compared at \((1000 * scale).rounded() / 10) % of the size" : ""
        let isAnimated = [first, second].contains { ($0.probe.frameCount ?? 1) > 1 }
        let frames = isAnimated ? ", the first frame of each" : ""
        if first.size == second.size { return "both \(first.size.width)×\(first.size.height)\(scaled)\(frames)" }
        return "\(sizes), \(isAlike ? "the second scaled to the first" : "aligned at the top left")\(scaled)\(frames)"
    }
}
