internal import ImageEngine
internal import JSONRPC
internal import Platform

private let dateOrNullSchema: JSONLiteral = ["type": ["string", "null"], "format": "date-time"]
private let countOrNullSchema: JSONLiteral = ["type": ["integer", "null"], "minimum": 0]

/// The details of one cached image.
struct EntryReply: WireObject {
    let entry: EntryDetails

    static let name = "EntryDetails"

    private static func text(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (EntryDetails) -> String?
    ) -> WireField<EntryReply> {
        WireField(name, summary, textOrNullSchema) { reply, writer in writer.field(name, value(reply.entry)) }
    }

    private static func date(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (EntryDetails) -> Int?
    ) -> WireField<EntryReply> {
        WireField(name, summary, dateOrNullSchema) { reply, writer in
            writer.field(name, value(reply.entry).map(ISO8601.text))
        }
    }

    private static func count(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (EntryDetails) -> Int?
    ) -> WireField<EntryReply> {
        WireField(name, summary, countOrNullSchema) { reply, writer in
            writer.field(name, value(reply.entry))
        }
    }

    static let fields: [WireField<EntryReply>] = [
        text("key", "The cache key; null when only the file is known, until the image is asked for.") { $0.key },
        text("processorIdentifier", "What was done to the original; empty for nothing.") { $0.processorIdentifier },
        text("hash", "The hash that names the file; null in a read-only folder.") { $0.hash },
        text("path", "The file; null for an image that is only in memory.") { $0.path },
        text("uri", "The same as a URL.") { $0.path.map(FileURL.text) },
        text("format", "The picture format, by signature.") { $0.header.format.rawValue },
        text("mimeType", "The media type of the format.") { $0.header.format.mimeType },
        count("width", "Pixels across, as coded.") { $0.header.width },
        count("height", "Pixels down, as coded.") { $0.header.height },
        count("frameCount", "Pictures of an animation or pages; 1 for stills, and for JPEG XL.") {
            $0.header.frameCount
        },
        count("byteCount", "The size of the file, in bytes.") { $0.byteCount },
        count("allocatedBytes", "What the file takes on the disk; null in a read-only folder.") { $0.allocatedBytes },
        text("checksum", "SHA-256 of the bytes, in hexadecimal.") { $0.checksum },
        count("sharedBy", "How many entries have the same file; null in a list.") { $0.sharers },
        text("url", "Where it was downloaded from, after redirects.") { $0.origin.url },
        text("host", "The host it came from.") { $0.host },
        text("etag", "The server's entity tag.") { $0.origin.etag },
        text("lastModified", "The server's date of last change, as sent.") { $0.origin.lastModified },
        date("storedAt", "When it was stored.") { $0.storedAt },
        date("usedAt", "When it was last used, to within half a minute.") { $0.usedAt },
        date("expiresAt", "When it expires; null for never.") { $0.expiresAt },
        date("leasedUntil", "Until when its path is lent out; null when it is not.") { $0.leasedUntil },
        WireField(
            "metadata", "What the caller of store wanted kept.",
            ["type": ["object", "null"], "additionalProperties": ["type": "string"]]
        ) {
            $1.key("metadata")
            if let kept = $0.entry.metadata.flatMap(Metadata.init(kept:)) {
                $1.writeRaw(Array(kept.text.utf8))
            } else {
                $1.writeNull()
            }
        },
    ]
}

/// A page of a list.
struct ListReply: WireObject {
    let entries: [EntryReply]
    let next: Int64?

    static let name = "ListResult"

    static let fields: [WireField<ListReply>] = [
        WireField("entries", "The images of this page.", ["type": "array", "items": EntryReply.schema]) {
            let entries = $0.entries
            $1.key("entries")
            $1.array { writer in
                for entry in entries { entry.write(to: &writer) }
            }
        },
        WireField("cursor", "What the next page is asked for with; null at the end.", textOrNullSchema) {
            $1.field("cursor", $0.next.map { String($0) })
        },
    ]
}

/// The images that a cleaning removed.
struct CleanReply: WireObject {
    let report: CleaningReport

    static let name = "CleanResult"

    static let fields: [WireField<CleanReply>] = [
        WireField("count", "Images removed.", countSchema) { $1.field("count", $0.report.hashes.count) },
        WireField("bytes", "Bytes of their files.", countSchema) { $1.field("bytes", $0.report.bytes) },
        WireField(
            "hashes", "The hashes of their keys, which named the files.", ["type": "array", "items": textSchema]
        ) {
            let hashes = $0.report.hashes
            $1.key("hashes")
            $1.array { writer in for hash in hashes { writer.write(hash) } }
        },
        WireField(
            "keys", "Their keys, at the same places; null where it is not known.",
            ["type": "array", "items": textOrNullSchema]
        ) {
            let keys = $0.report.keys
            $1.key("keys")
            $1.array { writer in
                for key in keys {
                    if let key { writer.write(key) } else { writer.writeNull() }
                }
            }
        },
    ]
}

/// The findings of a check of a cache.
struct VerifyReply: WireObject {
    let found: DiskStorage.Verification

    static let name = "VerifyResult"

    private static func counter(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (DiskStorage.Verification) -> Int
    ) -> WireField<VerifyReply> {
        WireField(name, summary, countSchema) { reply, writer in writer.field(name, value(reply.found)) }
    }

    static let fields: [WireField<VerifyReply>] = [
        counter("checked", "Entries looked at.", \.checked),
        counter("bytes", "Bytes read.", \.bytes),
        counter("damaged", "Entries whose files are not what was stored; taken out.", \.damaged),
        counter("missing", "Entries without files; taken out.", \.missing),
        counter("adopted", "Images without entries; taken in.", \.adopted),
        counter("leftovers", "Files of dead writers, and files that are no images; removed.", \.leftovers),
        counter("corrected", "Sums and notes of the index that were wrong; put right.", \.corrected),
        counter(
            "unreadable", "Files that could not be read now, for want of a permission or of descriptors; left alone.",
            \.unreadable),
        WireField("clean", "Whether nothing was wrong.", flagSchema) { $1.field("clean", $0.found.isClean) },
    ]
}
