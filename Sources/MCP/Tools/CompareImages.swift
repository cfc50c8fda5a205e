internal import ImageEngine
internal import JSONRPC

extension Tool {
    static let compareImages = Tool(
        name: "compare_images", title: "Compare two pictures",
        description: """
            Shows two pictures and where they differ: first, second, and the difference with changes boxed in red. Same \
            proportions: the second is scaled to the first; otherwise aligned at the top left.
            """,
        parameters: [
            ToolParameter(name: "first", kind: .text, description: "URL, path or cached key", isRequired: true),
            ToolParameter(name: "second", kind: .text, description: "URL, path or cached key", isRequired: true),
            ToolParameter(
                name: "tolerance", kind: .integer(0...255),
                description: "Largest difference that does not count; 8 by default"),
            ToolParameter(
                name: "max_side", kind: .integer(ToolParameter.sides),
                description: "Longest side of all; 1536 by default"),
        ],
        output: [
            ("note", ResultSchema.text, false), ("identical", ResultSchema.flag, false),
            ("changed_percent", ResultSchema.number, false),
            ("changed_pixels", ResultSchema.count, false), ("psnr", ResultSchema.number, true),
            ("regions", ResultSchema.objects, false),
            ("width", ResultSchema.count, false), ("height", ResultSchema.count, false),
        ],
        effects: Effects()
    ) { arguments, gallery, progress in
        let pair = try await PicturePair(
            gallery, arguments.text("first") ?? "", arguments.text("second") ?? "", progress)
        let tolerance = arguments.integer("tolerance") ?? 8
        let side = arguments.integer("max_side") ?? 1536
        return .making {
            let comparison = try await PictureComparison(gallery, pair, tolerance: tolerance)
            var members = comparison.members
            var note = comparison.sentence
            let shown: FittedPicture?
            do {
                try Task.checkCancellation()
                shown = try await gallery.fit(comparison.panels.shown, side: side, beside: members, progress)
                if shown == nil { note += " The picture of it cannot be made small enough for a result." }
            } catch let error as ImageError {
                // The figures are known all the same.
                shown = nil
                note += " The picture of it cannot be made: \(error.description)"
            }
            members.insert(("note", .string(note)), at: 0)
            return ToolOutcome(members, picture: shown?.outcome)
        }
    }
}

/// Two pictures that are to be compared, and the sizes for it.
struct PicturePair: Sendable {
    /// The most pixels that are compared; larger pictures are both scaled down first.
    private static let mostPixels = 4_000_000.0
    /// The longest side of a picture that is scaled.
    private static let longestSide = 65_535.0

    /// One of them.
    struct Picture: Sendable {
        let resource: Resource
        let probe: ImageProbe
        /// Its size as displayed.
        let size: (width: Int, height: Int)
        /// Its size for the comparison.
        var goal = (width: 1, height: 1)

        /// What makes it as large as the comparison wants it.
        var steps: [ImageProcessor] {
            get throws {
                guard goal != size else { return [] }
                let (width, height) = (Double(goal.width), Double(goal.height))
                return [.resize(try Resize(width: width, height: height, mode: .none, upscale: true))]
            }
        }
    }

    private(set) var first: Picture
    private(set) var second: Picture
    /// `true` when both show the same part of something: the second is scaled to the first.
    let isAlike: Bool
    /// The scale of both: 1, or less for large pictures.
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
        let scale = min(1, (Self.mostPixels / (width * height)).squareRoot(), Self.longestSide / max(width, height))
        func scaled(_ whole: (width: Int, height: Int)) -> (width: Int, height: Int) {
            func side(_ pixels: Int) -> Int { max(Int((Double(pixels) * scale).rounded()), 1) }
            return (side(whole.width), side(whole.height))
        }
        self.scale = scale
        first.goal = scaled(a)
        second.goal = isAlike ? first.goal : scaled(b)
    }

    private static func picture(_ gallery: Gallery, _ name: String, _ progress: ToolProgress?) async throws -> Picture {
        let resource = try await gallery.resource(name)
        let found = try await gallery.probe(resource).probe
        try await gallery.load(resource, progress)
        return Picture(resource: resource, probe: found, size: found.displayedSize)
    }

    /// How they are aligned, in words.
    var alignment: String {
        let sizes = "\(first.size.width)×\(first.size.height) and \(second.size.width)×\(second.size.height)"
        let scaled = scale < 1 ? ", compared at \((1000 * scale).rounded() / 10) % of the size" : ""
        let isAnimated = [first, second].contains { ($0.probe.frameCount ?? 1) > 1 }
        let frames = isAnimated ? ", the first frame of each" : ""
        if first.size == second.size { return "both \(first.size.width)×\(first.size.height)\(scaled)\(frames)" }
        return "\(sizes), \(isAlike ? "the second scaled to the first" : "aligned at the top left")\(scaled)\(frames)"
    }
}

/// Two pictures at one size, and how they differ.
struct PictureComparison: Sendable {
    /// The most regions that a result names and boxes.
    private static let mostRegions = 20

    private let pair: PicturePair
    private let tolerance: Int
    private let first: PixelImage
    private let second: PixelImage
    private let difference: PictureDifference

    init(_ gallery: Gallery, _ pair: PicturePair, tolerance: Int) async throws {
        (self.pair, self.tolerance) = (pair, tolerance)
        first = try await gallery.pixels(pair.first.resource, try pair.first.steps)
        second = try await gallery.pixels(pair.second.resource, try pair.second.steps)
        try Task.checkCancellation()
        difference = PictureDifference(first, second, tolerance: tolerance)
    }

    /// The figures. Regions are in pixels of the pictures as they are, so that they can be viewed.
    var members: [(String, JSONLiteral)] {
        var members: [(String, JSONLiteral)] = [
            ("identical", .boolean(difference.isIdentical)),
            ("changed_percent", .number((1000 * difference.changedPercent).rounded() / 1000)),
            ("changed_pixels", .integer(difference.changed)),
        ]
        if let psnr = difference.psnr { members.append(("psnr", .number((100 * psnr).rounded() / 100))) }
        let regions = difference.regions.prefix(Self.mostRegions).map { $0.scaled(by: 1 / pair.scale).literal }
        members += [
            ("regions", .array(regions)), ("width", .integer(difference.width)),
            ("height", .integer(difference.height)),
        ]
        return members
    }

    /// The result in words.
    var sentence: String {
        let alignment = pair.alignment
        if difference.isIdentical { return "No pixel differs (\(alignment))." }
        if difference.changed == 0 { return "No pixel differs by more than \(tolerance) of 255 (\(alignment))." }
        let percent = (100 * difference.changedPercent).rounded() / 100
        let count = difference.regions.count
        let boxed = count > Self.mostRegions ? ", the \(Self.mostRegions) largest boxed" : ""
        return "\(percent) % of the pixels differ, in \(count) region\(count == 1 ? "" : "s")\(boxed) (\(alignment))."
    }

    /// Both pictures and the difference, side by side, or one below the other where that makes better use of a square.
    var panels: PixelCanvas {
        let (width, height, gap) = (difference.width, difference.height, max(difference.width / 100, 4))
        let isRow = width <= height
        let step = isRow ? width + gap : height + gap
        var canvas = PixelCanvas(
            width: isRow ? 3 * width + 2 * gap : width, height: isRow ? height : 3 * height + 2 * gap, .gray)
        func place(_ number: Int) -> (x: Int, y: Int) { isRow ? (number * step, 0) : (0, number * step) }
        canvas.draw(first, x: place(0).x, y: place(0).y)
        canvas.draw(second, x: place(1).x, y: place(1).y)
        let (left, top) = place(2)
        canvas.draw(difference.shown(over: first), x: left, y: top)
        let thickness = max(width / 300, 2)
        for region in difference.regions.prefix(Self.mostRegions) {
            let (x, y) = (left + region.x, top + region.y)
            let box = PixelRegion(x: x, y: y, width: region.width, height: region.height)
            canvas.outline(box, .red, thickness: thickness)
        }
        return canvas
    }
}

extension PixelCanvas {
    /// The canvas as a picture that no cache keeps.
    var shown: ShownPicture {
        get throws {
            let bytes = bitmap
            var text = JSONWriter()
            text.write(base64: bytes)
            let url = "data:image/bmp;base64," + String(decoding: text.bytes.dropFirst().dropLast(), as: UTF8.self)
            var picture = ShownPicture(resource: Resource(url: url, cacheKey: "drawn by a tool"))
            picture.isGraphic = true
            picture.longestSide = max(width, height)
            return picture
        }
    }
}
