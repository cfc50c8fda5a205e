internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC
internal import Platform

/// An image as the result of a method.
struct ImageReply: WireObject {
    let image: ImageResult
    let form: ResultForm
    /// `true` when the placeholder is requested.
    private let showsPreview: Bool
    /// The report of the download, when it is requested and there was one.
    private let report: DownloadReport?

    init(image: ImageResult, form: ResultForm, for options: ImageOptions? = nil) {
        (self.image, self.form) = (image, form)
        showsPreview = options?.processing.wantsPreview == true
        // Hits have none, and are not to look into the options for it.
        report = image.report.flatMap { options?.caller.wantsReport == true ? $0.report : nil }
    }

    static let name = "ImageResult"

    /// The fields of every result with an image.
    static let imageFields: [WireField<ImageReply>] =
        sourceFields + WireField.display { $0.image.record.header } + contentFields

    private static let sourceFields: [WireField<ImageReply>] = [
        WireField("key", "The cache key.", textSchema) { $1.field("key", $0.image.record.key.key) },
        WireField("cache", "The name of the cache.", textSchema) { $1.field("cache", $0.image.cache) },
        WireField("processorIdentifier", "The identifier of the processors; empty for an original.", textSchema) {
            $1.field("processorIdentifier", $0.image.record.key.identifier)
        },
        WireField(
            "cacheType", "Where the image came from; none means just downloaded.",
            ["type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) })], isVolatile: true
        ) { $1.field("cacheType", $0.image.cacheType.rawValue) },
        WireField("path", "A complete file; null when the image is only in memory.", textOrNullSchema) {
            $1.field("path", $0.image.record.path)
        },
        WireField("uri", "The file's URL; null when there is none.", textOrNullSchema) {
            $1.key("uri")
            if let path = $0.image.record.path { $1.write(FileURL.text(path)) } else { $1.writeNull() }
        },
        WireField(
            "format", "The picture format, by signature.",
            ["type": "string", "enum": .array(ImageFormat.allCases.map { .string($0.rawValue) })]
        ) { $1.field("format", $0.image.record.header.format.rawValue) },
        WireField("mimeType", "The media type of the format.", textSchema) {
            $1.field("mimeType", $0.image.record.header.format.mimeType)
        },
        WireField("width", "Pixels across, as coded.", countSchema) { $1.field("width", $0.image.record.header.width) },
        WireField("height", "Pixels down, as coded.", countSchema) {
            $1.field("height", $0.image.record.header.height)
        },
    ]

    private static let contentFields: [WireField<ImageReply>] = [
        WireField("frameCount", "The number of frames or pages; 1 for stills and for JPEG XL.", countSchema) {
            $1.field("frameCount", $0.image.record.header.frameCount)
        },
        WireField(
            "framesDropped",
            "How many frames or pages of the original a processed image lacks although all were wanted; left out for none.",
            countSchema, isOptional: true
        ) {
            let count = $0.image.record.framesDropped
            if count > 0 { $1.field("framesDropped", count) }
        },
        WireField(
            .frameSeconds, "How long each frame of an animation is shown, in seconds, where that is known.",
            frameSecondsSchema, isOptional: true
        ) {
            if let timing = $0.image.record.timing { $1.field(frameSeconds: timing.delays) }
        },
        WireField(
            "loopCount", "How often an animation is played, where that is known; 0 for ever.", countSchema,
            isOptional: true
        ) {
            if let timing = $0.image.record.timing { $1.field("loopCount", timing.loopCount) }
        },
        WireField("byteCount", "The size of the image file, in bytes.", countSchema) {
            $1.field("byteCount", $0.image.record.byteCount)
        },
        WireField("data", "The bytes, when asked for.", Base64Bytes.schema, isOptional: true, isVolatile: true) {
            guard $0.form.needsBytes, $0.form != .dataUrl, let bytes = $0.image.bytes else { return }
            $1.key("data")
            $1.writeUnescaped(count: Base64.encodedCount(bytes.count)) { text in
                bytes.withUnsafeBytes { Base64.encode($0, into: text) }
            }
        },
        WireField("url", "Where it was downloaded from, after redirects.", textSchema, isOptional: true) {
            if let url = $0.image.record.url { $1.field("url", url) }
        },
        WireField("etag", "The server's entity tag.", textSchema, isOptional: true) {
            if let etag = $0.image.record.etag { $1.field("etag", etag) }
        },
        WireField("lastModified", "The server's date of last change, as sent.", textSchema, isOptional: true) {
            if let date = $0.image.record.lastModified { $1.field("lastModified", date) }
        },
        WireField(
            "expiresAt", "When the entry on disk expires; null for never.",
            ["type": ["string", "null"], "format": "date-time"], isVolatile: true
        ) { $1.field("expiresAt", $0.image.record.expiresAt.map(ISO8601.text)) },
    ]

    fileprivate static let leased = WireField<ImageReply>(
        "leased", notLent, flagSchema, isOptional: true, isVolatile: true
    ) { if !$0.image.record.isLent { $1.field("leased", false) } }

    /// The fields that few results have.
    private static let rareFields: [WireField<ImageReply>] = [
        WireField(
            "dataUrl", "The image as a data URL, when asked for.", ["type": "string", "format": "uri"],
            isOptional: true, isVolatile: true
        ) {
            guard $0.form == .dataUrl, let bytes = $0.image.bytes else { return }
            let start = "data:\($0.image.record.header.format.mimeType);base64,"
            $1.key("dataUrl")
            $1.writeUnescaped(count: start.utf8.count + Base64.encodedCount(bytes.count)) { text in
                text.copyBytes(from: start.utf8)
                bytes.withUnsafeBytes {
                    Base64.encode($0, into: UnsafeMutableRawBufferPointer(rebasing: text[start.utf8.count...]))
                }
            }
        },
        WireField(
            "thumbHash", "A ThumbHash of the image, when asked for and there is a codec worker.", Base64Bytes.schema,
            isOptional: true, isVolatile: true
        ) {
            guard $0.showsPreview, let bytes = $0.image.record.preview?.thumbHash else { return }
            $1.key("thumbHash")
            $1.writeUnescaped(count: Base64.encodedCount(bytes.count)) { text in
                bytes.withUnsafeBytes { Base64.encode($0, into: text) }
            }
        },
        WireField(
            "blurHash", "A BlurHash of the image, in 28 letters, with the ThumbHash.", textSchema, isOptional: true,
            isVolatile: true
        ) {
            if $0.showsPreview, let preview = $0.image.record.preview { $1.field("blurHash", preview.blurHash) }
        },
        WireField(
            "dominantColor", "The colour that most of the image has, with the ThumbHash.",
            ["type": "string", "pattern": "^#[0-9a-f]{6}([0-9a-f]{2})?$"], isOptional: true, isVolatile: true
        ) {
            if $0.showsPreview, let preview = $0.image.record.preview {
                $1.field("dominantColor", preview.dominantColor.text)
            }
        },
        WireField(
            "pixels",
            "A file of raw pixels, when asked for: sRGB, RGBA with eight bits each, frames one below the other. The other fields describe the original.",
            pixelSchema, isOptional: true, isVolatile: true
        ) {
            guard let pixels = $0.image.pixels else { return }
            $1.key("pixels")
            $1.object { writer in
                writer.field("path", pixels.path)
                writer.field("uri", FileURL.text(pixels.path))
                writer.field("width", pixels.width)
                writer.field("height", pixels.height)
                writer.field("stride", pixels.stride)
                writer.field("frameCount", pixels.frameCount)
                writer.field("byteCount", pixels.byteCount)
                writer.field("loopCount", pixels.loopCount)
                if pixels.framesDropped > 0 { writer.field("framesDropped", pixels.framesDropped) }
                writer.field(frameSeconds: pixels.delays)
            }
        },
        leased,
        WireField(
            "stale",
            "True when the image has expired, or its server was not asked although the request wanted that.",
            flagSchema,
            isOptional: true, isVolatile: true
        ) {
            if $0.isStale { $1.field("stale", true) }
        },
        WireField(
            "revalidated", "True when the server confirmed that the image has not changed.", flagSchema,
            isOptional: true, isVolatile: true
        ) {
            if $0.image.isRevalidated { $1.field("revalidated", true) }
        },
        WireField(
            "placeholder", "True when this is the substitute for an image that could not be loaded.", flagSchema,
            isOptional: true,
            isVolatile: true
        ) {
            if $0.image.isPlaceholder { $1.field("placeholder", true) }
        },
        WireField(
            "memoryCached", "False when memory should keep the bytes but did not.", flagSchema, isOptional: true,
            isVolatile: true
        ) {
            if $0.memoryReason != nil { $1.field("memoryCached", false) }
        },
        WireField(
            "memoryReason", "Why memory did not keep the bytes, naming the setting.", textSchema, isOptional: true,
            isVolatile: true
        ) {
            if let reason = $0.memoryReason { $1.field("memoryReason", reason) }
        },
        WireField(
            "stored", "Why no tier keeps the image that was just loaded; left out when one does.",
            NotStoredReason.schema, isOptional: true, isVolatile: true
        ) {
            if let reason = $0.image.notStored { $1.field("stored", reason.rawValue) }
        },
        WireField(
            "downloadReport", "The result and the timing of the download, when asked for and there was one.",
            DownloadReport.schema, isOptional: true, isVolatile: true
        ) {
            guard let report = $0.report else { return }
            $1.key("downloadReport")
            report.write(to: &$1)
        },
    ]

    /// `true` when none of the rare fields is written.
    private var isPlain: Bool {
        form != .dataUrl && image.pixels == nil && !showsPreview && !image.isPlaceholder && !isStale
            && !image.isRevalidated && image.record.isLent
            && (image.admission == nil || image.admission == .kept) && image.notStored == nil && report == nil
    }

    static let fields = imageFields + rareFields

    /// `true` also when the image has expired while its answer waited for room.
    private var isStale: Bool {
        image.isStale
            || !image.cacheType.isNew && !image.isRevalidated && image.record.isExpired && !image.record.livesNoTime
    }

    /// The reason why memory does not keep the bytes; `nil` when it keeps them or is not supposed to.
    private var memoryReason: String? { image.admission == .unwanted ? nil : image.admission?.reason }

    /// Writes the result. The fields that are equal in all results of one record are formatted once and stored with the
    /// record.
    func write(to writer: inout JSONWriter) {
        guard image.cacheType == .memory, isPlain else {
            // The text is only stored for an image that is requested again; for others it is not worth the memory.
            return writer.object { Self.fields.write(self, to: &$0) }
        }
        let runs = StableRuns.of(self)
        writer.object { writer in
            var start = 0
            for (end, field) in zip(runs.ends, StableRuns.between) {
                writer.writeRawMembers(runs.text[start..<end])
                field(self, &writer)
                start = end
            }
            writer.writeRawMembers(runs.text[start...])
        }
    }
}

extension NotStoredReason: NamedValue {}

private let pixelSchema: JSONLiteral = .object(
    ofAll: [
        ("path", textSchema), ("uri", textSchema), ("width", countSchema), ("height", countSchema),
        ("stride", countSchema), ("frameCount", countSchema), ("byteCount", countSchema), ("loopCount", countSchema),
    ] + RenamedMember.frameSeconds.properties(frameSecondsSchema), ofSome: [("framesDropped", countSchema)])

/// The result of `store`.
struct StoreReply: WireObject {
    let reply: ImageReply

    static let name = "StoreResult"

    private static let stored: JSONLiteral = [
        "type": "object",
        "properties": ["memory": flagSchema, "disk": flagSchema, "reason": NotStoredReason.schema],
        "required": ["memory", "disk"],
    ]

    /// The fields that it has in common with other results with an image.
    private static let imageFields = ImageReply.imageFields + [ImageReply.leased]

    private static let ownFields: [WireField<StoreReply>] = [
        WireField(
            "stored",
            "The tiers that hold the image now: memory its bytes, disk its file; with a reason when nothing was stored.",
            stored
        ) {
            let image = $0.reply.image
            $1.key("stored")
            $1.object { writer in
                let isOccupied = image.admission == .occupied
                writer.field("memory", image.admission == .kept || isOccupied && image.isHeldInMemory)
                writer.field("disk", image.record.path != nil)
                if let reason = image.notStored { writer.field("reason", reason.rawValue) }
            }
        },
        WireField(
            "reason", "Why memory does not hold the bytes, or nothing was stored.", textSchema, isOptional: true
        ) {
            let image = $0.reply.image
            if image.admission == nil {
                $1.field("reason", "The file is large: its bytes go into memory when somebody asks for them.")
            } else if let reason = image.admission?.reason {
                $1.field("reason", reason)
            }
        },
    ]

    static let fields = imageFields.map { field in field.within { $0.reply } } + ownFields

    /// Writes ``fields``, without a copy of the image for each of them.
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            Self.imageFields.write(reply, to: &writer)
            Self.ownFields.write(self, to: &writer)
        }
    }
}

/// The constant fields of an image as text, split at the volatile fields. Thousands of records have one: the text takes no
/// more than its length.
private final class StableRuns: Sendable {
    let cache: String
    let text: [UInt8]
    /// The place of each volatile field.
    let ends: [Int]

    init(_ reply: ImageReply) {
        cache = reply.image.cache
        var (text, ends): ([UInt8], [Int]) = ([], [])
        var run = JSONWriter()
        for field in ImageReply.imageFields {
            if field.isVolatile {
                text += run.bytes
                ends.append(text.count)
                run = JSONWriter()
            } else {
                field.write(reply, &run)
            }
        }
        text += run.bytes
        self.text = [UInt8](unsafeUninitializedCapacity: text.count) { exact, count in
            count = exact.initialize(fromContentsOf: text)
        }
        self.ends = ends
    }

    /// The constant fields of a reply, stored with its record.
    static func of(_ reply: ImageReply) -> StableRuns {
        reply.image.record.memo.withLock { memo in
            if let kept = memo as? StableRuns, kept.cache == reply.image.cache { return kept }
            let made = StableRuns(reply)
            memo = made
            return made
        }
    }

    /// The writers of the volatile fields, in order.
    static let between = ImageReply.imageFields.filter(\.isVolatile).map(\.write)
}
