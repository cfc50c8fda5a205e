internal import ImageEngine
internal import JSONRPC

/// A Swift value that a method answers with.
protocol WireResult: Sendable {
    /// What the result is called in the documentation.
    static var name: String { get }
    /// The JSON Schema of the result.
    static var schema: JSONLiteral { get }
    /// Writes the result as one JSON value.
    func write(to writer: inout JSONWriter)
}

/// One field of a result: its name, its words, its schema and how it is written.
struct WireField<Root: Sendable>: Sendable {
    let name: StaticString
    let summary: String
    let schema: JSONLiteral
    /// Whether the field may be missing.
    let isOptional: Bool
    let write: @Sendable (borrowing Root, inout JSONWriter) -> Void

    init(
        _ name: StaticString, _ summary: String, _ schema: JSONLiteral, isOptional: Bool = false,
        write: @escaping @Sendable (borrowing Root, inout JSONWriter) -> Void
    ) {
        self.name = name
        self.summary = summary
        self.schema = schema
        self.isOptional = isOptional
        self.write = write
    }
}

/// A result that is an object described by a table of fields.
protocol WireObject: WireResult {
    static var fields: [WireField<Self>] { get }
}

extension WireObject {
    static var schema: JSONLiteral { .schema(name) }

    /// The schema that ``schema`` refers to, made from the table.
    static var definition: JSONLiteral {
        let properties = fields.map { field in
            (field.name.description, field.schema.adding([("description", .string(field.summary))]))
        }
        let required = fields.filter { !$0.isOptional }.map { JSONLiteral.string($0.name.description) }
        return ["type": "object", "properties": .object(properties), "required": .array(required)]
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for field in Self.fields { field.write(self, &writer) }
        }
    }
}

/// The result of methods that answer `null`.
struct NullResult: WireResult {
    static let name = "Null"
    static let schema: JSONLiteral = ["type": "null"]

    func write(to writer: inout JSONWriter) { writer.writeNull() }
}

private let text: JSONLiteral = ["type": "string"]
private let textOrNull: JSONLiteral = ["type": ["string", "null"]]
private let count: JSONLiteral = ["type": "integer", "minimum": 0]
private let flag: JSONLiteral = ["type": "boolean"]

/// An image as a method answers with it.
struct ImageReply: WireObject {
    let image: ImageResult
    let form: ResultForm

    static let name = "ImageResult"

    static let fields: [WireField<ImageReply>] = [
        WireField("key", "The cache key.", text) { $1.field("key", $0.image.record.key.key) },
        WireField("cache", "The name of the cache.", text) { $1.field("cache", $0.image.cache) },
        WireField("processorIdentifier", "What was done to the original; empty for nothing.", text) {
            $1.field("processorIdentifier", $0.image.record.key.identifier)
        },
        WireField(
            "cacheType", "Where the answer came from; none means it was loaded now.",
            ["type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) })]
        ) { $1.field("cacheType", $0.image.cacheType.rawValue) },
        WireField("path", "A complete file; null when the image is only in memory.", textOrNull) {
            $1.field("path", $0.image.record.path)
        },
        WireField("uri", "The file's URL; null when there is none.", textOrNull) {
            $1.key("uri")
            if let path = $0.image.record.path { writeFileURI(path, to: &$1) } else { $1.writeNull() }
        },
        WireField(
            "format", "The picture format, by signature.",
            ["type": "string", "enum": .array(ImageFormat.allCases.map { .string($0.rawValue) })]
        ) { $1.field("format", $0.image.record.header.format.rawValue) },
        WireField("mimeType", "The media type of the format.", text) {
            $1.field("mimeType", $0.image.record.header.format.mimeType)
        },
        WireField("width", "Pixels across, as coded.", count) { $1.field("width", $0.image.record.header.width) },
        WireField("height", "Pixels down, as coded.", count) { $1.field("height", $0.image.record.header.height) },
        WireField("frameCount", "Pictures of an animation or pages; 1 for stills.", count) {
            $1.field("frameCount", $0.image.record.header.frameCount)
        },
        WireField("byteCount", "The size of the image file, in bytes.", count) {
            $1.field("byteCount", $0.image.record.byteCount)
        },
        WireField("data", "The bytes, when asked for.", Base64Bytes.schema, isOptional: true) {
            guard $0.form.needsBytes, let bytes = $0.image.bytes else { return }
            $1.key("data")
            $1.writeUnescaped(count: Base64.encodedCount(bytes.count)) { text in
                bytes.withUnsafeBytes { Base64.encode($0, into: text) }
            }
        },
        WireField("url", "Where it was downloaded from, after redirects.", text, isOptional: true) {
            if let url = $0.image.record.url { $1.field("url", url) }
        },
        WireField("etag", "The server's entity tag.", text, isOptional: true) {
            if let etag = $0.image.record.etag { $1.field("etag", etag) }
        },
        WireField("lastModified", "The server's date of last change, as sent.", text, isOptional: true) {
            if let date = $0.image.record.lastModified { $1.field("lastModified", date) }
        },
        WireField(
            "expiresAt", "When the entry on disk expires; null for never.",
            ["type": ["string", "null"], "format": "date-time"]
        ) { $1.field("expiresAt", $0.image.record.expiresAt.map(ISO8601.text)) },
        WireField("placeholder", "True when this stands in for an image that could not be had.", flag, isOptional: true) {
            if $0.image.isPlaceholder { $1.field("placeholder", true) }
        },
    ]
}

/// Writes `file://` and the path, with everything but unreserved characters and slashes percent-encoded (RFC 3986).
func writeFileURI(_ path: String, to writer: inout JSONWriter) {
    func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E: true
        default: false
        }
    }
    if path.utf8.allSatisfy(isPlain) { return writer.write("file://" + path) }
    let digits = Array("0123456789ABCDEF".utf8)
    var uri = Array("file://".utf8)
    for byte in path.utf8 {
        if isPlain(byte) {
            uri.append(byte)
        } else {
            uri += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
    }
    writer.write(String(decoding: uri, as: UTF8.self))
}

/// What `remove` took away.
struct RemoveReply: WireObject {
    let removed: ImageCache.Removed

    static let name = "RemoveResult"

    static let fields: [WireField<RemoveReply>] = [
        WireField("removed", "Whether anything was removed.", flag) {
            $1.field("removed", $0.removed.memory || $0.removed.disk)
        },
        WireField("memory", "Whether something was removed from memory.", flag) { $1.field("memory", $0.removed.memory) },
        WireField("disk", "Whether something was removed from disk.", flag) { $1.field("disk", $0.removed.disk) },
    ]
}

/// Whether an image is cached.
struct IsCachedReply: WireObject {
    let cacheType: CacheType

    static let name = "IsCachedResult"

    static let fields: [WireField<IsCachedReply>] = [
        WireField("cached", "Whether a tier has the image.", flag) { $1.field("cached", $0.cacheType != .none) },
        WireField(
            "cacheType", "The first tier that has it.",
            ["type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) })]
        ) { $1.field("cacheType", $0.cacheType.rawValue) },
    ]
}

/// Where an image is or would be.
struct CachePathReply: WireObject {
    let path: String
    let exists: Bool

    static let name = "CachePathResult"

    static let fields: [WireField<CachePathReply>] = [
        WireField("path", "Where the image is, or would be.", text) { $1.field("path", $0.path) },
        WireField("uri", "The same as a URL.", text) {
            $1.key("uri")
            writeFileURI($0.path, to: &$1)
        },
        WireField("exists", "Whether the image is there.", flag) { $1.field("exists", $0.exists) },
    ]
}

/// The sizes of a cache.
struct SizeReply: WireObject {
    let sizes: CacheSizes

    static let name = "SizeResult"

    private static let tier: JSONLiteral = [
        "type": "object",
        "properties": ["count": count, "bytes": count, "allocatedBytes": count, "limitBytes": count],
        "required": ["count", "bytes", "limitBytes"],
    ]

    static let fields: [WireField<SizeReply>] = [
        WireField("disk", "Entries, bytes, bytes in whole blocks, and the limit (0 for none) of the disk tier.", tier) {
            let tier = $0.sizes.disk
            $1.key("disk")
            $1.object { writer in
                writer.field("count", tier.count)
                writer.field("bytes", tier.bytes)
                writer.field("allocatedBytes", tier.allocatedBytes)
                writer.field("limitBytes", tier.limitBytes)
            }
        },
        WireField("memory", "Entries, bytes and the limit of the memory tier.", tier) {
            let tier = $0.sizes.memory
            $1.key("memory")
            $1.object { writer in
                writer.field("count", tier.count)
                writer.field("bytes", tier.bytes)
                writer.field("limitBytes", tier.limitBytes)
            }
        },
    ]
}

/// What `clear` and its kin took away.
struct ClearReply: WireObject {
    let removal: DiskStorage.Removal

    static let name = "ClearResult"

    static let fields: [WireField<ClearReply>] = [
        WireField("count", "Entries removed.", count) { $1.field("count", $0.removal.count) },
        WireField("bytes", "Bytes freed.", count) { $1.field("bytes", $0.removal.bytes) },
    ]
}

/// Counters since the server started.
struct StatsReply: WireObject {
    let statistics: EngineStatistics
    let requestsInFlight: Int
    let uptime: Double

    static let name = "StatsResult"

    private static func counter(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (EngineStatistics) -> Int
    ) -> WireField<StatsReply> {
        WireField(name, summary, count) { reply, writer in writer.field(name, value(reply.statistics)) }
    }

    static let fields: [WireField<StatsReply>] = [
        counter("memoryHits", "Images answered from memory.", \.memoryHits),
        counter("diskHits", "Images answered from disk.", \.diskHits),
        counter("misses", "Images that no cache had.", \.misses),
        counter("merged", "Callers that joined work under way.", \.merged),
        counter("downloads", "Downloads that ended well.", \.downloads),
        counter("failedDownloads", "Downloads that failed or were cancelled.", \.failedDownloads),
        counter("downloadedBytes", "Bytes of bodies received.", \.downloadedBytes),
        counter("runningDownloads", "Downloads under way.", \.runningDownloads),
        counter("waitingDownloads", "Downloads waiting for their turn.", \.waitingDownloads),
        counter("evictions", "Images evicted from disk for their size.", \.evictions),
        WireField("requestsInFlight", "Requests being worked on.", count) {
            $1.field("requestsInFlight", $0.requestsInFlight)
        },
        WireField("uptimeSeconds", "Seconds since the server started.", ["type": "number", "minimum": 0]) {
            $1.key("uptimeSeconds")
            $1.write($0.uptime)
        },
    ]
}
