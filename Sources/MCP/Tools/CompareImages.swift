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
        let comparison = try await PictureComparison(
            gallery, arguments.text("first") ?? "", arguments.text("second") ?? "",
            tolerance: arguments.integer("tolerance") ?? 8)
        let side = arguments.integer("max_side") ?? 1536
        var note = comparison.sentence
        let shown = try await gallery.fit(comparison.panels.shown, side: side, progress)
        if shown == nil { note += " The picture of it cannot be made small enough for a result." }
        let difference = comparison.difference
        var members: [(String, JSONLiteral)] = [
            ("note", .string(note)), ("identical", .boolean(difference.changed == 0)),
            ("changed_percent", .number((1000 * difference.changedPercent).rounded() / 1000)),
            ("changed_pixels", .integer(difference.changed)),
        ]
        if let psnr = difference.psnr { members.append(("psnr", .number((100 * psnr).rounded() / 100))) }
        members += [
            ("regions", .array(difference.regions.prefix(PictureComparison.mostRegions).map(\.literal))),
            ("width", .integer(difference.width)), ("height", .integer(difference.height)),
        ]
        return ToolOutcome(members, picture: shown?.outcome)
    }
}

/// Two pictures at one size, and how they differ.
struct PictureComparison: Sendable {
    /// The most pixels that are compared; larger pictures are both scaled down first.
    static let mostPixels = 4_000_000
    /// The most regions that a result names and boxes.
    static let mostRegions = 20
    /// Proportions that differ by less than this part count as the same.
    private static let likeness = 0.01

    let first: PixelImage
    let second: PixelImage
    let difference: PictureDifference
    private let alignment: String

    init(_ gallery: Gallery, _ one: String, _ other: String, tolerance: Int) async throws {
        let (a, b) = (try await gallery.resource(one), try await gallery.resource(other))
        let (sizeA, sizeB) = (
            try await gallery.probe(a).probe.displayedSize, try await gallery.probe(b).probe.displayedSize
        )
        let pixels = max(sizeA.width * sizeA.height, sizeB.width * sizeB.height)
        let part = min(1, (Double(Self.mostPixels) / Double(max(pixels, 1))).squareRoot())
        func size(_ whole: (width: Int, height: Int)) throws -> PixelSize {
            try PixelSize(
                width: max((Double(whole.width) * part).rounded(), 1),
                height: max((Double(whole.height) * part).rounded(), 1))
        }
        let ratio = Double(sizeA.width * sizeB.height) / Double(max(sizeA.height * sizeB.width, 1))
        let isAlike = abs(ratio - 1) <= Self.likeness
        let goal = try size(sizeA)
        let goalB = isAlike ? goal : try size(sizeB)
        func steps(_ whole: (width: Int, height: Int), _ goal: PixelSize) throws -> [ImageProcessor] {
            (goal.width, goal.height) == whole
                ? []
                : [
                    .resize(
                        try Resize(width: Double(goal.width), height: Double(goal.height), mode: .none, upscale: true))
                ]
        }
        first = try await gallery.pixels(a, try steps(sizeA, goal))
        second = try await gallery.pixels(b, try steps(sizeB, goalB))
        difference = PictureDifference(first, second, tolerance: tolerance)
        let sizes = "\(sizeA.width)×\(sizeA.height) and \(sizeB.width)×\(sizeB.height)"
        let scaled = part < 1 ? ", compared at \(goal.width)×\(goal.height)" : ""
        alignment =
            sizeA == sizeB
            ? "both \(sizeA.width)×\(sizeA.height)\(scaled)"
            : isAlike
                ? "\(sizes), the second scaled to the first\(scaled)" : "\(sizes), aligned at the top left\(scaled)"
    }

    /// The result in words.
    var sentence: String {
        if difference.changed == 0 { return "No pixel differs (\(alignment))." }
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
