internal import ImageEngine
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
    let resource: Resource
    /// The steps before it is made smaller.
    var steps: [ImageProcessor] = []
    var frame = 0
    /// The format; `nil` for PNG where nothing may be lost, else JPEG.
    var format: EncodedFormat?
    /// `true` when the picture is flat or transparent.
    var isGraphic = false
    var hasAlpha = false
    /// The larger side of what the steps make, in pixels.
    var longestSide = ToolParameter.sides.upperBound
}

extension Gallery {
    /// The bytes that a picture in a result may have.
    private var pictureLimit: Int { (maxResultBytes - 2 * ToolOutcome.overhead - 2048) / 4 * 3 }

    /// The picture, with no side above `side`, as large as a result allows; `nil` when it cannot be made small enough.
    /// The cache keeps the original, and nothing of what is made of it.
    func fit(_ picture: ShownPicture, side: Int, _ progress: ToolProgress?) async throws -> FittedPicture? {
        let format = picture.format ?? (picture.isGraphic || picture.hasAlpha ? .png : .jpeg)
        try await load(picture.resource, progress)
        var plan = FitPlan(
            side: min(side, max(picture.longestSide, 1)), format: format, limit: pictureLimit,
            mayLose: picture.format == nil && !picture.hasAlpha)
        while true {
            let attempt = plan.attempt
            var recipe = ImageRecipe()
            let box = try PixelSize(width: Double(attempt.side), height: Double(attempt.side))
            recipe.processors = picture.steps + [.downsample(box)]
            recipe.frames = picture.frame == 0 ? .first : .number(picture.frame)
            let encoding = Encoding(quality: attempt.quality, metadata: .none, profile: .sRGB)
            recipe.serializer = CacheSerializer(format: attempt.format, encoding: encoding)
            var options = options
            options.processing.recipe = recipe
            options.storage.keepNothing()
            let image = try await image(picture.resource, options, needs: .bytes, progress)
            let bytes = try await manager.loadingBytes(of: image, in: try cache(), options: options).bytes
            guard let bytes else { throw ToolFailure("The picture was removed while it was read; try again.") }
            if bytes.count <= pictureLimit {
                let header = image.record.header
                return FittedPicture(
                    bytes: bytes, format: header.format, width: header.width, height: header.height,
                    quality: attempt.quality)
            }
            guard plan.shrink(after: bytes.count) else { return nil }
        }
    }

    /// Loads a picture of the web into the cache.
    func load(_ resource: Resource, _ progress: ToolProgress?) async throws {
        if resource.isOnNetwork { _ = try await image(resource, options, needs: [], progress) }
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
        var options = options
        options.processing.recipe.processors = steps
        options.processing.recipe.frames = .first
        guard let file = try await image(resource, options, needs: .pixels, progress).pixels else {
            throw ToolFailure("The picture has no pixels.")
        }
        let bytes = try await manager.blocking { try Files.read(file.path, followsLinks: false) }
        guard let pixels = PixelImage(width: file.width, height: file.height, rgba: bytes) else {
            throw ToolFailure("The picture was removed while it was read; try again.")
        }
        return pixels
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
