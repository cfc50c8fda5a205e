internal import ImageEngine
internal import JSONRPC
internal import Platform

/// A picture that fits into a result, and how it was made to.
struct FittedPicture: Sendable {
    let bytes: [UInt8]
    let format: ImageFormat
    let width: Int
    let height: Int
    let quality: Int?

    var outcome: ToolOutcome.Picture { ToolOutcome.Picture(bytes: bytes, mimeType: format.mimeType) }

    /// The size and format in words.
    func words(of whole: (width: Int, height: Int)) -> String {
        let size = (width, height) == whole ? "" : " of \(whole.width)×\(whole.height)"
        let quality = quality.map { " with quality \($0)" } ?? ""
        return "\(width)×\(height)\(size), as \(format.rawValue.uppercased())\(quality)"
    }
}

/// The picture that a tool shows.
struct ShownPicture: Sendable {
    enum Source: Sendable {
        case resource(Resource)
        /// The file of what a tool has drawn.
        case drawn([UInt8])
    }

    let source: Source
    /// The steps before it is made smaller.
    var steps: [ImageProcessor] = []
    var frame = 0
    /// The format; `nil` for PNG where nothing may be lost, else JPEG.
    var format: EncodedFormat?
    /// `true` when the picture is flat or transparent.
    var isGraphic = false
    var hasAlpha = false
    /// `true` for a drawing, which has no pixels of its own and is drawn at the size that is asked for.
    var isDrawing = false
    /// The larger side of what the steps make, in pixels.
    var longestSide = ToolParameter.sides.upperBound
}

extension PixelCanvas {
    /// The canvas as a picture that no cache keeps.
    var shown: ShownPicture {
        var picture = ShownPicture(source: .drawn(bitmap))
        picture.isGraphic = true
        picture.longestSide = max(width, height)
        return picture
    }
}

extension ImageProcessor {
    /// The step that makes a picture fit into a square. A drawing, which has no pixels of its own, fills it.
    static func fitting(side: Int, isDrawing: Bool) throws -> ImageProcessor {
        let side = Double(side)
        guard isDrawing else { return .downsample(try PixelSize(width: side, height: side)) }
        return .resize(try Resize(width: side, height: side, mode: .aspectFit, upscale: true))
    }
}

extension Gallery {
    /// The picture, with no side above `side`, as large as a result allows; `nil` when it cannot be made small enough.
    /// Of what is made, the cache keeps nothing.
    ///
    /// - Parameters:
    ///   - picture: The picture; one of the web is in the cache, see ``Gallery/load(_:_:)``.
    ///   - members: What the result says beside the picture.
    func fit(
        _ picture: ShownPicture, side: Int, beside members: [(String, JSONLiteral)], _ progress: ToolProgress?
    ) async throws -> FittedPicture? {
        let format = picture.format ?? (picture.isGraphic || picture.hasAlpha ? .png : .jpeg)
        // The note and the size of the picture come later.
        let limit = (maxResultBytes - ToolOutcome.byteCount(of: members) - 1024) / 4 * 3
        guard limit > 0 else { return nil }
        var plan = FitPlan(
            side: min(side, max(picture.longestSide, 1)), format: format, limit: limit,
            mayLose: picture.format == nil && !picture.hasAlpha)
        while true {
            let attempt = plan.attempt
            var recipe = ImageRecipe()
            let isDrawing = picture.isDrawing && picture.steps.isEmpty
            recipe.processors = picture.steps + [try .fitting(side: attempt.side, isDrawing: isDrawing)]
            recipe.frames = picture.frame == 0 ? .first : .number(picture.frame)
            let encoding = Encoding(quality: attempt.quality, metadata: .none, profile: .sRGB)
            recipe.serializer = CacheSerializer(format: attempt.format, encoding: encoding)
            var options = options
            options.processing.recipe = recipe
            options.storage.keepNothing()
            let image =
                switch picture.source {
                case .resource(let resource): try await image(resource, options, needs: .bytes, progress)
                case .drawn(let file):
                    try await manager.made(
                        of: .bytes(file), named: "the drawing of a tool", in: try cache(), options: options)
                }
            let bytes = try await manager.loadingBytes(of: image, in: try cache(), options: options).bytes
            guard let bytes else { throw ToolFailure("The picture was removed while it was read; try again.") }
            if bytes.count <= limit {
                let header = image.record.header
                return FittedPicture(
                    bytes: bytes, format: header.format, width: header.width, height: header.height,
                    quality: attempt.quality)
            }
            if attempt.quality == nil, picture.format == nil, !plan.mayLose {
                // The format may have transparency without use of it, as screenshots do.
                plan.mayLose = try await isOpaque(picture)
            }
            guard plan.shrink(after: bytes.count) else { return nil }
        }
    }

    /// `true` when nothing of a picture shows what is behind it, judged by a smaller one.
    private func isOpaque(_ picture: ShownPicture) async throws -> Bool {
        guard case .resource(let resource) = picture.source, picture.hasAlpha, !picture.isDrawing, picture.frame == 0
        else { return false }
        let steps = picture.steps + [try .fitting(side: 256, isDrawing: false)]
        return try await pixels(resource, steps).alpha.allSatisfy { $0 == 255 }
    }

    /// The picture, by the engine.
    func image(
        _ resource: Resource, _ options: ImageOptions, needs: ImageNeeds, _ progress: ToolProgress?
    ) async throws -> ImageResult {
        var caller = ImageCaller(priority: CallPriority(options.caller.downloadPriority))
        if let progress { caller.report = { progress.report($0.received, of: $0.total) } }
        return try await manager.image(
            ImageRequest(resource, in: try cache(), options: options, needs: needs, caller: caller))
    }

    /// The decoded pixels of a picture's first frame.
    func pixels(
        _ resource: Resource, _ steps: [ImageProcessor], _ progress: ToolProgress? = nil
    ) async throws -> PixelImage {
        let rows = try await rows(resource, steps, progress)
        return try await manager.blocking { try rows.image }
    }

    /// The decoded pixels of a picture's first frame, in a file.
    func rows(
        _ resource: Resource, _ steps: [ImageProcessor], _ progress: ToolProgress? = nil
    ) async throws -> PixelRows {
        var options = options
        options.processing.recipe.processors = steps
        options.processing.recipe.frames = .first
        // The file is opened at once, and goes with the result.
        options.storage.lease = 0
        guard let file = try await image(resource, options, needs: [.pixels, .bytes], progress).pixels else {
            throw ToolFailure("The picture has no pixels.")
        }
        return try await manager.blocking { try PixelRows(file) }
    }

    /// What a picture is, from its first kilobytes.
    func probe(_ resource: Resource) async throws -> ProbedImage {
        try await manager.probe(resource, in: try cache(), options: options)
    }
}

extension ImageProbe {
    /// The size as displayed: of the orientations from 5 on, width and height change places (EXIF 2.3, section 4.6.4).
    var displayedSize: (width: Int, height: Int) { orientation ?? 1 >= 5 ? (height, width) : (width, height) }

    /// `true` for formats of drawings and screenshots, which JPEG would blur.
    var isGraphic: Bool { [.png, .gif, .bmp, .ico, .icns, .svg].contains(format) }
}
