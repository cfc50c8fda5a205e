internal import ImageFormats
internal import Platform

/// One entry as the index has it.
struct IndexRow: Sendable {
    /// The digest of the computed key, which names the file.
    var name: Digest
    var number: Int64 { name.rowNumber }
    var key: String
    var identifier: String
    var fileExtension: String
    var header: ImageHeader
    var byteCount: Int
    var allocated: Int
    var checksum: Digest?
    var origin: ImageOrigin
    /// The time of storing, by the cache's clock, as all times here.
    var storedAt: Int
    var expiresAt: Int?
    var life: EntryLife
    /// The time of the file's last change, in nanoseconds since 1970.
    var modified: Int
    /// One number for all entries that share a file.
    var content: Int64

    /// The name of the file.
    var fileName: String { StorageFolder.fileName(name.hex, fileExtension) }

    /// The number before the extension.
    var fileNumber: UInt32 { LeaseNumber.fileNumber(in: fileExtension) }

    /// The number of the file's lease.
    var lease: LeaseNumber { LeaseNumber(number, fileNumber: fileNumber) }
}

extension IndexRow {
    /// The sizes that a file may have: a petabyte is nobody's picture, and sums of such do not overflow.
    private static let sizes = 0...(1 << 50)

    /// Reads a row of ``IndexSchema/columns``; `nil` if it says what no version of ours would write.
    init?(_ statement: SQLiteStatement) {
        guard let format = statement.text(5).flatMap(ImageFormat.init(rawValue:)), let name = statement.digest(1),
            let header = try? ImageHeader(
                format, statement.integer(6), statement.integer(7), frames: statement.integer(8),
                orientation: statement.optionalInteger(26), hasAlpha: statement.optionalInteger(27).map { $0 == 1 })
        else { return nil }
        self.name = name
        key = statement.text(2) ?? ""
        identifier = statement.text(3) ?? ""
        fileExtension = statement.text(4) ?? ""
        self.header = header
        byteCount = statement.integer(9)
        allocated = statement.integer(10)
        checksum = statement.digest(11)
        origin = ImageOrigin(url: statement.text(12), etag: statement.text(13), lastModified: statement.text(14))
        origin.http = statement.text(20)
        origin.facts = ImageFacts(
            preview: statement.text(21), timing: statement.text(22), sourceMark: statement.text(23),
            exactness: statement.text(24), verdict: statement.text(25))
        storedAt = statement.integer(15)
        expiresAt = statement.optionalInteger(16)
        life = EntryLife(number: statement.optionalInteger(17))
        modified = statement.integer(18)
        content = Int64(statement.integer(19))
        if !isPlausible { return nil }
    }

    /// `true` when a version of ours could have written it: the extension becomes part of a path, and the numbers are
    /// calculated with.
    var isPlausible: Bool {
        StorageFolder.isExtension(fileExtension) && Self.sizes.contains(byteCount)
            && Self.sizes.contains(allocated) && CacheClock.times.contains(storedAt) && life.isPlausible
            && CacheClock.times.contains(expiresAt ?? 0)
    }

    /// A number made of the time of expiry, by which a damaged one is told from a sound one.
    var lifeMark: Int? { expiresAt.map { ($0 * 7919 + storedAt) % 1_000_003 } }

    /// The expression in SQL that makes that number, for the time `expiresAt`.
    static func lifeMark(_ expiresAt: String) -> String { "(\(expiresAt) * 7919 + stored_at) % 1000003" }

    /// `true` when it is the entry of a key that its name was made of. An older version may have given the name to another
    /// key, which then is known.
    func isEntry(of key: CacheKey) -> Bool {
        self.key.isEmpty || ExactText(identifier) == ExactText(key.indexedIdentifier)
    }

    /// `true` when the key is the one that the name was made of, as far as that can be told: of a long key, the index has
    /// only a digest.
    var isNamedByKey: Bool {
        let key = CacheKey(key, indexedIdentifier: identifier)
        return self.key.hasPrefix("sha256:") || key.names.contains(name)
    }
}

extension CacheKey {
    /// The names that the entry may have, for the way of naming may have been changed.
    var names: [Digest] { [Digest(of: computed), Digest(md5Of: computed)] }
}

/// A row with the columns that only an inspection reads.
struct IndexDetails: Sendable {
    let row: IndexRow
    /// The host that the image came from.
    let host: String?
    /// The metadata that the caller of `store` gave: a JSON object.
    let metadata: String?
    /// The time of the last use, to within half a minute.
    let usedAt: Int
    /// The mark of its record; `nil` when an older version wrote the entry.
    let mark: Int64?
    /// ``IndexRow/lifeMark`` as it was written.
    let lifeMark: Int?

    /// `true` when the entry is as it was written, or when an older version wrote it.
    var isIntact: Bool {
        guard let mark else { return true }
        let contents = [row.checksum?.rowNumber, row.number]
        return mark == record.mark && lifeMark == row.lifeMark && contents.contains(row.content)
    }

    var record: EntryRecord { EntryRecord(row: row, metadata: metadata) }

    /// Reads a row of ``IndexSchema/columns`` and ``IndexSchema/details``; `nil` if it says what no version of ours would
    /// write.
    init?(_ statement: SQLiteStatement) {
        guard let row = IndexRow(statement) else { return nil }
        self.row = row
        host = statement.text(28)
        metadata = statement.text(29)
        usedAt = min(max(statement.integer(30), 0), CacheClock.times.upperBound)
        mark = statement.optionalInteger(31).map(Int64.init)
        lifeMark = statement.optionalInteger(32)
    }
}

/// An entry in the order of use or of expiry.
struct IndexUse {
    let number: Int64
    /// `nil` when the row says what no version of ours would write.
    let row: IndexRow?
    /// The number of the last use.
    let use: Int64

    init(number: Int64, row: IndexRow?, use: Int64 = 0) { (self.number, self.row, self.use) = (number, row, use) }

    /// Reads a row of ``IndexSchema/columns`` and `used`.
    init(_ statement: SQLiteStatement) {
        self.init(
            number: Int64(statement.integer(0)), row: IndexRow(statement), use: Int64(statement.integer(28)))
    }
}
