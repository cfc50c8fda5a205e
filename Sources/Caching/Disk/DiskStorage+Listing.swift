package import ImageErrors
public import ImageFormats
internal import Platform

/// Reading the index without loading an image.
extension DiskStorage {
    /// What is known of a stored image; nil for a miss. Nothing is prolonged.
    package func inspect(_ key: CacheKey) throws(ImageError) -> EntryDetails? {
        guard let record = try record(for: key) else { return nil }
        do {
            guard let number = record.number, let details = try index.details(number) else {
                return EntryDetails(record: record)
            }
            let sharers = try index.surveying { try $0.sharers(details.row.content) } ?? 1
            return self.details(details, sharers: sharers)
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// A page of what is stored and not expired, in an order that no use changes.
    ///
    /// - Returns: The entries, and what to continue after; nil at the end.
    package func list(_ query: ListQuery) throws(ImageError) -> (entries: [EntryDetails], next: Int64?) {
        do {
            var filter = CacheIndex.Filter()
            filter.after = query.cursor
            filter.host = query.host?.lowercased()
            filter.prefix = query.prefix
            filter.format = query.format?.rawValue
            // One more tells whether there is another page.
            filter.limit = query.limit + 1
            // Opening the index may set the clock.
            _ = try totals()
            let now = clock.now
            filter.storedFrom = query.maxAge.map { now - Int(min($0, 1e11)) }
            filter.storedTo = query.minAge.map { now - Int(min($0, 1e11).rounded(.up)) }
            filter.aliveAt = now
            let found = try index.surveying { [filter] in try $0.entries(filter) } ?? CacheIndex.Page()
            let page = found.entries.prefix(query.limit)
            // Where some cannot be read, the page is shorter, but not the last.
            let last = found.entries.count > query.limit ? page.last?.row.number ?? found.last : found.last
            return (page.map { details($0, sharers: nil) }, found.count > query.limit ? last : nil)
        } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    private func details(_ details: CacheIndex.Details, sharers: Int?) -> EntryDetails {
        let row = details.row
        let rest = lending.rest(of: row.number)
        return EntryDetails(
            key: row.key.isEmpty ? nil : row.key, processorIdentifier: row.identifier, hash: row.name.hex,
            path: folder.blob(row.fileName), header: row.header, byteCount: row.byteCount,
            allocatedBytes: row.allocated, checksum: row.checksum?.hex, origin: row.origin, host: details.host,
            metadata: details.metadata, storedAt: clock.wall(row.storedAt), usedAt: clock.wall(details.usedAt),
            expiresAt: row.expiresAt.map(clock.wall), leasedUntil: rest > 0 ? clock.wallNow + rest : nil,
            sharers: sharers)
    }
}

/// What is known of one stored image.
public struct EntryDetails: Sendable {
    /// The key; nil for an image that was found in the folder when the index was lost, until it is asked for.
    public var key: String?
    /// What was done to the original; empty for nothing.
    public var processorIdentifier = ""
    /// The hash of the key, which names the file.
    public var hash: String?
    /// The file; nil for an image that is only in memory.
    public var path: String?
    /// Format, size and frames.
    public var header: ImageHeader
    /// The size of the file, in bytes.
    public var byteCount: Int
    /// What it takes on the disk, in bytes.
    public var allocatedBytes: Int?
    /// SHA-256 of the bytes, in hexadecimal.
    public var checksum: String?
    /// Where it came from.
    public var origin: ImageOrigin
    /// The host it came from.
    public var host: String?
    /// What the caller of `store` wanted kept: a JSON object.
    public var metadata: String?
    /// Seconds since 1970 when it was stored; nil for a file that is not ours.
    public var storedAt: Int?
    /// Seconds since 1970 when it was last used, to within half a minute.
    public var usedAt: Int?
    /// Seconds since 1970 when it expires; nil for never.
    public var expiresAt: Int?
    /// Seconds since 1970 until which its path is lent out; nil when it is not.
    public var leasedUntil: Int?
    /// How many entries share the file; nil when not counted.
    public var sharers: Int?

    /// What a record of an image in another folder tells.
    package init(record: ImageRecord) {
        self.init(
            key: record.key.key, processorIdentifier: record.key.identifier, path: record.path,
            header: record.header, byteCount: record.byteCount,
            origin: ImageOrigin(url: record.url, etag: record.etag, lastModified: record.lastModified))
    }

    package init(
        key: String?, processorIdentifier: String, hash: String? = nil, path: String?, header: ImageHeader,
        byteCount: Int, allocatedBytes: Int? = nil, checksum: String? = nil, origin: ImageOrigin,
        host: String? = nil, metadata: String? = nil, storedAt: Int? = nil, usedAt: Int? = nil,
        expiresAt: Int? = nil, leasedUntil: Int? = nil, sharers: Int? = nil
    ) {
        self.key = key
        self.processorIdentifier = processorIdentifier
        self.hash = hash
        self.path = path
        self.header = header
        self.byteCount = byteCount
        self.allocatedBytes = allocatedBytes
        self.checksum = checksum
        self.origin = origin
        self.host = host
        self.metadata = metadata
        self.storedAt = storedAt
        self.usedAt = usedAt
        self.expiresAt = expiresAt
        self.leasedUntil = leasedUntil
        self.sharers = sharers
    }
}

/// Which entries to list.
public struct ListQuery: Sendable {
    /// Entries a page; 100 by default.
    public var limit = 100
    /// What the page before ended with; 0 for the first.
    public var cursor: Int64 = 0
    /// Only those from this host.
    public var host: String?
    /// Only those whose keys begin so.
    public var prefix: String?
    /// Only those of this format.
    public var format: ImageFormat?
    /// Only those stored at least so many seconds ago.
    public var minAge: Double?
    /// Only those stored at most so many seconds ago.
    public var maxAge: Double?

    /// Everything.
    public init() {}
}
