internal import ImageFormats
internal import Platform

extension CacheIndex {
    /// One entry as the index knows it.
    package struct Row: Sendable {
        /// The digest of the computed key, which names the file.
        package var name: Digest
        package var number: Int64 { name.rowNumber }
        package var key: String
        package var identifier: String
        package var fileExtension: String
        package var header: ImageHeader
        package var byteCount: Int
        package var allocated: Int
        package var checksum: Digest?
        package var origin: ImageOrigin
        /// The cache's time, as all times here.
        package var storedAt: Int
        package var expiresAt: Int?
        package var lifetime: Int?
        /// The time of the file's last change, in nanoseconds since 1970.
        package var modified: Int
        /// One number for all entries that share a file.
        package var content: Int64

        /// The name of the file.
        var fileName: String { StorageFolder.fileName(name.hex, fileExtension) }
    }

    /// What is known of an entry besides.
    struct Details: Sendable {
        var row: Row
        /// The host that the image came from.
        var host: String?
        /// What the caller of `store` wanted kept: a JSON object.
        var metadata: String?
        /// When it was last used, to within half a minute.
        var usedAt: Int
    }
}

extension CacheIndex.Row {
    /// Bytes that a file may have: a petabyte is nobody's picture, and sums of such do not overflow.
    private static let sizes = 0...(1 << 50)

    /// Reads a row; nil if it says what no version of ours would write.
    init?(_ statement: SQLiteStatement) {
        guard let format = statement.text(5).flatMap(ImageFormat.init(rawValue:)),
            let name = statement.blob(1), [16, 32].contains(name.count),
            let header = try? ImageHeader(
                format, statement.integer(6), statement.integer(7), frames: statement.integer(8))
        else { return nil }
        self.name = Digest(bytes: name)
        key = statement.text(2) ?? ""
        identifier = statement.text(3) ?? ""
        fileExtension = statement.text(4) ?? ""
        self.header = header
        byteCount = statement.integer(9)
        allocated = statement.integer(10)
        checksum = statement.blob(11).map(Digest.init(bytes:))
        origin = ImageOrigin(url: statement.text(12), etag: statement.text(13), lastModified: statement.text(14))
        origin.http = statement.text(20)
        storedAt = statement.integer(15)
        expiresAt = statement.optionalInteger(16)
        lifetime = statement.optionalInteger(17)
        modified = statement.integer(18)
        content = Int64(statement.integer(19))
        // The extension becomes part of a path, and the times are calculated with.
        guard StorageFolder.isExtension(fileExtension), Self.sizes.contains(byteCount), Self.sizes.contains(allocated),
            CacheIndex.times.contains(storedAt), CacheIndex.times.contains(lifetime ?? 0),
            CacheIndex.times.contains(expiresAt ?? 0)
        else { return nil }
    }
}

extension CacheIndex.Details {
    /// Reads a row with everything that is known; nil if it says what no version of ours would write.
    init?(_ statement: SQLiteStatement) {
        guard let row = CacheIndex.Row(statement) else { return nil }
        self.row = row
        host = statement.text(21)
        metadata = statement.text(22)
        usedAt = min(max(statement.integer(23), 0), CacheIndex.times.upperBound)
    }
}
