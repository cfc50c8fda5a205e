internal import HTTPSemantics
public import ImageFormats
internal import Platform

/// The details of one stored image.
public struct EntryDetails: Sendable {
    /// The key; `nil` for an image that was found in the folder when the index was lost, until it is asked for.
    public var key: String?
    /// The identifier of its processors; empty for an original.
    public var processorIdentifier = ""
    /// The user whom the image belongs to; see ``CacheKey/partition``.
    public var partition = ""
    /// The hash of the key, which names the file.
    public var hash: String?
    /// The file; `nil` for an image that is only in memory.
    public var path: String?
    /// Format, size and frames.
    public var header: ImageHeader
    /// The size of the file, in bytes.
    public var byteCount: Int
    /// The bytes that it takes on the disk.
    public var allocatedBytes: Int?
    /// SHA-256 of the bytes, in hexadecimal.
    public var checksum: String?
    /// The origin of the image.
    public var origin: ImageOrigin
    /// The host it came from.
    public var host: String?
    /// The metadata that the caller of `store` gave: a JSON object.
    public var metadata: String?
    /// The time of storing, in seconds since 1970; `nil` for a file that is not ours.
    public var storedAt: Int?
    /// The time of the last use, in seconds since 1970, to within half a minute.
    public var usedAt: Int?
    /// The time of expiry, in seconds since 1970; `nil` for never.
    public var expiresAt: Int?
    /// The end of the lease of its path, in seconds since 1970; `nil` when it is not lent.
    public var leasedUntil: Int?
    /// The number of entries that share the file; `nil` when not counted.
    public var sharers: Int?
}

extension EntryDetails {
    /// The details of an image in memory, or in another folder.
    init(record: ImageRecord) {
        self.init(
            key: record.key.key, processorIdentifier: record.key.identifier, partition: record.key.partition,
            path: record.path, header: record.header, byteCount: record.byteCount,
            origin: ImageOrigin(url: record.url, etag: record.etag, lastModified: record.lastModified))
    }

    /// The name of the entry; `nil` when it is not known.
    package var cacheKey: CacheKey? {
        key.map { CacheKey($0, identifier: processorIdentifier).belonging(toPartition: partition) }
    }
}

/// The condition for the entries of a list, or of a removal.
public struct ListQuery: Sendable {
    /// The number of entries of a page; 100 by default.
    public var limit: Int
    /// The cursor that the page before returned; 0 for the first.
    public var cursor: Int64
    /// Only entries from this host.
    public var host: String?
    /// Only entries whose keys begin so.
    public var prefix: String?
    /// Only entries of this format.
    public var format: ImageFormat?
    /// Only entries stored at least so many seconds ago.
    public var minAge: Double?
    /// Only entries stored at most so many seconds ago.
    public var maxAge: Double?
    /// `true` for entries that have expired too.
    package var includesExpired = false

    /// Everything, so many at a time.
    public init(limit: Int = 100, cursor: Int64 = 0) { (self.limit, self.cursor) = (limit, cursor) }

    /// `true` when an image in memory, whose age is not known, is meant.
    func contains(_ record: ImageRecord) -> Bool {
        let key = record.key.key
        return minAge == nil && maxAge == nil && format.map { $0 == record.header.format } ?? true
            && prefix.map { key.utf8.starts(with: $0.utf8) } ?? true
            && host.map { URLParts.host(of: record.url ?? key) == $0.lowercased() } ?? true
    }
}
