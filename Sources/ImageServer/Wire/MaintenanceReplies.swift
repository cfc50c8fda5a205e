internal import ImageEngine
internal import JSONRPC
internal import Platform

/// The details of one cached image.
struct EntryReply: WireObject {
    let entry: EntryDetails

    static let name = "EntryDetails"

    static let fields: [WireField<EntryReply>] = facts + WireField.display { $0.entry.header }

    private static let facts: [WireField<EntryReply>] = [
        .textOrNull("key", "The cache key; null while only the file is known, until the image is next requested.") {
            $0.entry.key
        },
        .textOrNull("processorIdentifier", "The identifier of the processors; empty for an original.") {
            $0.entry.processorIdentifier
        },
        .textOrNull("user", "A digest of the user that the image belongs to; null for an image that all users share.") {
            $0.entry.partition.isEmpty ? nil : $0.entry.partition
        },
        .textOrNull("hash", "The hash that names the file; null in a read-only folder.") { $0.entry.hash },
        .textOrNull("path", "The file; null for an image that is only in memory.") { $0.entry.path },
        .textOrNull("uri", "The same as a URL.") { $0.entry.path.map(FileURL.text) },
        .textOrNull("format", "The picture format, by signature.") { $0.entry.header.format.rawValue },
        .textOrNull("mimeType", "The media type of the format.") { $0.entry.header.format.mimeType },
        .countOrNull("width", "Pixels across, as coded.") { $0.entry.header.width },
        .countOrNull("height", "Pixels down, as coded.") { $0.entry.header.height },
        .countOrNull("frameCount", "The number of frames or pages; 1 for stills and for JPEG XL.") {
            $0.entry.header.frameCount
        },
        .countOrNull("byteCount", "The size of the file, in bytes.") { $0.entry.byteCount },
        .countOrNull("allocatedBytes", "The space that the file takes on disk, in bytes; null in a read-only folder.") {
            $0.entry.allocatedBytes
        },
        .textOrNull("checksum", "SHA-256 of the bytes, in hexadecimal.") { $0.entry.checksum },
        .countOrNull("sharedBy", "How many entries share the file; null in a list.") { $0.entry.sharers },
        .textOrNull("url", "Where it was downloaded from, after redirects.") { $0.entry.origin.url },
        .textOrNull("host", "The host it came from.") { $0.entry.host },
        .textOrNull("etag", "The server's entity tag.") { $0.entry.origin.etag },
        .textOrNull("lastModified", "The server's date of last change, as sent.") { $0.entry.origin.lastModified },
        .date("storedAt", "When it was stored.") { $0.entry.storedAt },
        .date("usedAt", "When it was last used, accurate to half a minute.") { $0.entry.usedAt },
        .date("expiresAt", "When it expires; null for never.") { $0.entry.expiresAt },
        .date("leasedUntil", "When the lease of its path ends; null when it is not leased.") { $0.entry.leasedUntil },
        WireField(
            "metadata", "The metadata that was given to store.",
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
        WireField("cursor", "The cursor that asks for the next page; null at the end.", textOrNullSchema) {
            $1.field("cursor", $0.next.map { String($0) })
        },
    ]
}

/// The images that a cleaning removed.
struct CleanReply: WireObject {
    let report: CleaningReport

    static let name = "CleanResult"

    static let fields: [WireField<CleanReply>] = [
        .count("count", "Images removed.") { $0.report.hashes.count },
        .count(.byteCount, "The bytes of their files.") { $0.report.bytes },
        WireField(
            "hashes", "The hashes of their keys, which named the files.", ["type": "array", "items": textSchema]
        ) {
            let hashes = $0.report.hashes
            $1.key("hashes")
            $1.array { writer in for hash in hashes { writer.write(hash) } }
        },
        WireField(
            "keys", "Their keys, in the same order; null where one is not known.",
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

    static let fields: [WireField<VerifyReply>] = [
        .count("checked", "Entries looked at.", \.found.checked),
        .count(.byteCount, "Bytes read.", \.found.bytes),
        .count("damaged", "Entries whose files are not what was stored; removed.", \.found.damaged),
        .count("missing", "Entries without files; removed.", \.found.missing),
        .count("adopted", "Images without entries; added to the index.", \.found.adopted),
        .count("leftovers", "Files left by dead processes, and files that are not images; removed.", \.found.leftovers),
        .count("corrected", "Totals and records of the index that were wrong; corrected.", \.found.corrected),
        .count(
            "unreadable",
            "Files that could not be read now, for lack of permission or of file descriptors; left alone.",
            \.found.unreadable),
        .flag("clean", "Whether nothing was wrong.") { $0.found.isClean },
    ]
}
