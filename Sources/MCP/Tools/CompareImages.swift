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
            ("note", ResultSchema.text, false), ("identical", ResultSchema.flag, true),
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
            var note = comparison.sentence + pair.provenance
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
    /// The pictures as they are shown.
    private let first: PixelImage
    private let second: PixelImage
    private let difference: PictureDifference

    init(_ gallery: Gallery, _ pair: PicturePair, tolerance: Int) async throws {
        (self.pair, self.tolerance) = (pair, tolerance)
        let one = try await gallery.rows(pair.first.resource, try pair.first.steps(to: pair.first.goal))
        let other = try await gallery.rows(pair.second.resource, try pair.second.steps(to: pair.second.goal))
        try Task.checkCancellation()
        difference = try await gallery.manager.blocking {
            try PictureDifference(one, other, tolerance: tolerance, shown: pair.shown)
        }
        try Task.checkCancellation()
        func shown(_ picture: PicturePair.Picture, _ rows: PixelRows) async throws -> PixelImage {
            if picture.shown == picture.goal { return try await gallery.manager.blocking { try rows.image } }
            return try await gallery.pixels(picture.resource, try picture.steps(to: picture.shown))
        }
        first = try await shown(pair.first, one)
        second = try await shown(pair.second, other)
    }

    /// Whether no pixel differs at all; `nil` when that is not known, because both were compared at another size.
    private var isIdentical: Bool? {
        if pair.isExact { return difference.isIdentical }
        return pair.first.size == pair.second.size && difference.isIdentical ? nil : false
    }

    /// The figures. Regions are in pixels of the pictures as they are, so that they can be viewed.
    var members: [(String, JSONLiteral)] {
        var members: [(String, JSONLiteral)] = isIdentical.map { [("identical", .boolean($0))] } ?? []
        members += [
            ("changed_percent", .number((1000 * difference.changedPercent).rounded() / 1000)),
            ("changed_pixels", .integer(difference.changed)),
        ]
        if let psnr = difference.psnr { members.append(("psnr", .number((100 * psnr).rounded() / 100))) }
        let regions = difference.regions.prefix(Self.mostRegions).map { pair.region($0).literal }
        members += [
            ("regions", .array(regions)), ("width", .integer(difference.width)),
            ("height", .integer(difference.height)),
        ]
        return members
    }

    /// The result in words.
    var sentence: String {
        let alignment = pair.alignment
        if isIdentical == true { return "No pixel differs (\(alignment))." }
        if difference.changed == 0 { return "No pixel differs by more than \(tolerance) of 255 (\(alignment))." }
        let rounded = (100 * difference.changedPercent).rounded() / 100
        let percent = rounded > 0 ? "\(rounded)" : "Less than 0.01"
        let count = difference.regions.count
        let boxed = count > Self.mostRegions ? ", the \(Self.mostRegions) largest boxed" : ""
        return "\(percent) % of the pixels differ, in \(count) region\(count == 1 ? "" : "s")\(boxed) (\(alignment))."
    }

    /// Both pictures and the difference, side by side, or one below the other where that makes better use of a square.
    var panels: PixelCanvas {
        let (width, height) = pair.shown
        let gap = max(width / 100, 4)
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
            var box = region.scaled(by: pair.shownScale / pair.scale)
            (box.x, box.y) = (left + box.x, top + box.y)
            canvas.outline(box, .red, thickness: thickness)
        }
        return canvas
    }
}
