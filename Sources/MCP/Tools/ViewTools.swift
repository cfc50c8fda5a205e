internal import ImageEngine
internal import JSONRPC
internal import Platform

extension ToolParameter {
    /// The picture that a tool is about.
    static let image = ToolParameter(
        name: "image", kind: .text, description: "URL, path below an allowed folder, or key of a cached picture",
        isRequired: true)
    static let region = ToolParameter(
        name: "region", kind: .region, description: "Part to show, in pixels of the upright picture")
    static let frame = ToolParameter(
        name: "frame", kind: .integer(0...100_000), description: "Frame of an animation or page, from 0")
    /// The sides that pictures can be given.
    static let sides = 16...4096
}

extension Tool {
    static let viewImage = Tool(
        name: "view_image", title: "View a picture",
        description: "Shows a picture from the web, the project or the cache, small enough to look at.",
        parameters: [
            .image,
            ToolParameter(
                name: "max_side", kind: .integer(ToolParameter.sides), description: "Longest side; 1024 by default"),
            .region, .frame,
            ToolParameter(
                name: "format", kind: .choice(["jpeg", "png", "webp"]),
                description: "By default PNG if flat or transparent, else JPEG"),
        ],
        output: [
            ("note", ResultSchema.text, false), ("width", ResultSchema.count, true),
            ("height", ResultSchema.count, true), ("format", ResultSchema.text, true),
            ("original_width", ResultSchema.count, false), ("original_height", ResultSchema.count, false),
            ("original_format", ResultSchema.text, false),
            ("uri", ResultSchema.text, true),
        ],
        effects: Effects()
    ) { arguments, gallery, progress in
        let name = arguments.text("image") ?? ""
        let resource = try await gallery.resource(name)
        let provenance = try await gallery.load(resource, progress)
        let found = try await gallery.probe(resource).probe
        let whole = found.displayedSize
        var picture = ShownPicture(source: .resource(resource))
        picture.frame = try found.frame(arguments)
        picture.format = arguments.text("format").flatMap(EncodedFormat.init)
        (picture.isGraphic, picture.hasAlpha) = (found.isGraphic, found.hasAlpha ?? true)
        // What the header leaves open shows when it is made: JPEG has no transparency.
        if found.hasAlpha == nil, !found.isGraphic { picture.hasAlpha = false }
        var part = whole
        if let region = arguments.region("region") {
            let crop = try region.crop(of: whole)
            picture.steps = [.crop(crop)]
            part = (Int(crop.width), Int(crop.height))
        }
        picture.isDrawing = found.format == .svg
        picture.longestSide = picture.isDrawing ? ToolParameter.sides.upperBound : max(part.width, part.height)
        let members: [(String, JSONLiteral)] = [
            ("original_width", .integer(whole.width)), ("original_height", .integer(whole.height)),
            ("original_format", .string(found.format.rawValue)),
        ]
        let side = arguments.integer("max_side") ?? 1024
        return .making { [picture, part, members] in
            guard let shown = try await gallery.fit(picture, side: side, beside: members, progress) else {
                let uri = try await gallery.link(to: resource)
                let note = JSONLiteral.string("It cannot be made small enough for a result; the link leads to it.")
                var outcome = ToolOutcome([("note", note)] + members + [("uri", .string(uri))])
                outcome.link = (uri, name.excerpt)
                return outcome
            }
            let rest = part == whole ? "." : "; a part of \(whole.width)×\(whole.height)."
            let source = provenance.map { " It \($0)." } ?? ""
            let note = JSONLiteral.string("Shown at \(shown.words(of: part))\(rest)\(source)")
            let made: [(String, JSONLiteral)] = [
                ("width", .integer(shown.width)), ("height", .integer(shown.height)),
                ("format", .string(shown.format.rawValue)),
            ]
            return ToolOutcome([("note", note)] + members + made, picture: shown.outcome)
        }
    }

    static let imageInfo = Tool(
        name: "image_info", title: "Describe a picture",
        description: "Format, size, frames and transparency of a picture, from its first kilobytes.",
        parameters: [
            .image,
            ToolParameter(name: "colors", kind: .flag, description: "Also its main colours; loads all of it"),
        ],
        output: [
            ("format", ResultSchema.text, false), ("mime_type", ResultSchema.text, false),
            ("width", ResultSchema.count, false), ("height", ResultSchema.count, false),
            ("orientation", ResultSchema.count, true), ("frames", ResultSchema.count, true),
            ("transparent", ResultSchema.flag, true),
            ("bytes", ResultSchema.count, true), ("note", ResultSchema.text, true),
            ("colors", ResultSchema.objects, true),
        ],
        effects: Effects()
    ) { arguments, gallery, progress in
        let resource = try await gallery.resource(arguments.text("image") ?? "")
        // Of what is not in the cache, the first kilobytes do.
        let wantsAll = arguments.flag("colors")
        let isKept = try await gallery.has(resource)
        let provenance = wantsAll || isKept ? try await gallery.load(resource, progress) : nil
        let found = try await gallery.probe(resource)
        let (probe, size) = (found.probe, found.probe.displayedSize)
        var members: [(String, JSONLiteral)] = [
            ("format", .string(probe.format.rawValue)), ("mime_type", .string(probe.format.mimeType)),
            ("width", .integer(size.width)), ("height", .integer(size.height)),
        ]
        if let orientation = probe.orientation { members.append(("orientation", .integer(orientation))) }
        if let count = probe.frameCount { members.append(("frames", .integer(count))) }
        if let hasAlpha = probe.hasAlpha { members.append(("transparent", .boolean(hasAlpha))) }
        if let count = found.byteCount { members.append(("bytes", .integer(count))) }
        let notes = [probe.frameLimit, provenance.map { "It \($0)." }].compactMap { $0 }
        if !notes.isEmpty { members.append(("note", .string(notes.joined(separator: " ")))) }
        guard wantsAll else { return .done(ToolOutcome(members)) }
        return .making { [members] in
            let step = try ImageProcessor.fitting(side: 64, isDrawing: false)
            let colors = try await gallery.pixels(resource, [step]).dominantColors(most: 5)
            let list = colors.map { color, part -> JSONLiteral in
                ["color": .string(color.text), "percent": .number((1000 * part).rounded() / 10)]
            }
            return ToolOutcome(members + [("colors", .array(list))])
        }
    }
}

extension ImageProbe {
    /// What is to be known of a sequence of which only the first frame can be decoded, as a sentence.
    fileprivate var frameLimit: String? {
        guard let frameCount, frameCount > 1, [.avif, .heic].contains(format) else { return nil }
        return "Only the first of its \(frameCount) frames can be shown, as of every AVIF or HEIC."
    }

    /// The frame that a tool is to take.
    func frame(_ arguments: ToolArguments) throws(ToolFailure) -> Int {
        let frame = arguments.integer("frame") ?? 0
        if frame > 0, let frameLimit { throw ToolFailure(frameLimit) }
        return frame
    }
}

extension PixelRegion {
    /// The crop to the part of the region that lies within a picture.
    func crop(of whole: (width: Int, height: Int)) throws -> Crop {
        guard let part = clamped(width: whole.width, height: whole.height) else {
            throw ToolFailure(
                "The region lies outside of the picture, which has \(whole.width)×\(whole.height) pixels.")
        }
        return try Crop(
            width: Double(part.width), height: Double(part.height), place: .corner(x: Double(part.x), y: Double(part.y))
        )
    }
}

extension Gallery {
    /// The URI of a picture as a resource: that of the cache, or where it comes from.
    func link(to resource: Resource) async throws -> String {
        if resource.url.isEmpty || resource.isOnNetwork {
            if let uri = try await entry(resource.cacheKey).flatMap({ self.uri(of: $0) }) { return uri.description }
        }
        return resource.url
    }
}
