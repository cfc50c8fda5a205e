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
