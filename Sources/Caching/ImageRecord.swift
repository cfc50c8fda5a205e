package import HTTPSemantics
public import ImageFormats
package import Platform
public import Synchronization

/// Everything that is known of one stored image, without its bytes.
///
/// Shared by the index, the memory tier and the results; only its use and its expiry change.
public final class ImageRecord: Sendable {
    /// The entry's name.
    public let key: CacheKey
    /// Format, size and frames.
    public let header: ImageHeader
    /// The size of the file, in bytes.
    public let byteCount: Int
    /// The path of the file; `nil` when the image is only in memory.
    public let path: String?
    /// `true` when the file is the caller's own, read where it lies, and no part of the cache.
    public let isLocalFile: Bool
    /// The origin of the image, and the facts about it.
    package let origin: ImageOrigin
    /// The URL that the image was downloaded from, after redirects.
    public var url: String? { origin.url }
    /// The server's entity tag.
    public var etag: String? { origin.etag }
    /// The server's date of last change, as sent.
    public var lastModified: String? { origin.lastModified }
    /// The time of storing, by the cache's clock.
    package let storedAt: Int
    /// The life that its disk entry was given.
    let life: EntryLife
    package let stamp: FileStamp?
    /// The digest of the computed key; `nil` when the image has no row in the index.
    let name: Digest?
    /// The number of its row in the index.
    package var number: Int64? { name?.rowNumber }
    package let checksum: Digest?
    /// The number before the extension of its file; 0 for none.
    private let fileNumber: UInt32
    /// The number of its file's lease; `nil` when the image has no row in the index.
    var lease: LeaseNumber? { name.map { LeaseNumber($0.rowNumber, fileNumber: fileNumber) } }
    /// `true` when it was fetched with credentials: then only requests with the same are answered with it.
    package let isPersonal: Bool
    /// For an image that is only in memory: the file that the disk had for its key when it came.
    let beside: FileStamp?

    /// A place for a front end to keep values that it derived from the record and that cannot change: it lives as long.
    public let memo = Mutex<(any AnyObject & Sendable)?>(nil)

    /// The clock of ``storedAt`` and the expiry; `nil` for seconds since 1970.
    private let clock: CacheClock?
    private let expiry: Atomic<Int>
    private let verifiedAt = Atomic<UInt64>(0)
    private let touchedAt: Atomic<Int>
    private let writtenExpiry: Atomic<Int>
    private let parsed = Mutex<HTTPAnswer?>(nil)
    private let mark: Atomic<UInt64>
    private let lent = Atomic(true)

    package init(
        key: CacheKey, header: ImageHeader, byteCount: Int, path: String?, isLocalFile: Bool = false,
        origin: ImageOrigin = ImageOrigin(), storedAt: Int, life: EntryLife = .forever, expiresAt: Int? = nil,
        stamp: FileStamp? = nil, checksum: Digest? = nil, name: Digest? = nil, fileNumber: UInt32 = 0,
        clock: CacheClock? = nil, beside: FileStamp? = nil
    ) {
        (self.key, self.header, self.byteCount, self.path) = (key, header, byteCount, path)
        var origin = origin
        // Mostly they are the same, and then one text for both is enough.
        if let url = origin.url, ExactText(url) == ExactText(key.key) { origin.url = key.key }
        (self.isLocalFile, self.origin, self.storedAt, self.life) = (isLocalFile, origin, storedAt, life)
        (self.stamp, self.checksum, self.name, self.clock, self.beside) = (stamp, checksum, name, clock, beside)
        self.fileNumber = fileNumber
        isPersonal = origin.http.map(HTTPMetadata.isPersonal) ?? false
        expiry = Atomic(expiresAt ?? .max)
        touchedAt = Atomic(storedAt)
        writtenExpiry = Atomic(expiresAt ?? .max)
        mark = Atomic(0)
    }

    /// The same image without its file, for a caller that wants it in memory only.
    package func withoutFile() -> ImageRecord {
        ImageRecord(
            key: key, header: header, byteCount: byteCount, path: nil, origin: origin, storedAt: storedAt,
            checksum: checksum)
    }

    /// The same image with another origin.
    ///
    /// - Parameter new: The life that begins now; `nil` when the old one goes on.
    package func replacing(_ origin: ImageOrigin, life new: EntryLife? = nil) -> ImageRecord {
        let expiresAt = if let new, let clock { new.end(from: clock.now) } else { expiryTime }
        let record = ImageRecord(
            key: key, header: header, byteCount: byteCount, path: path, isLocalFile: isLocalFile, origin: origin,
            storedAt: storedAt, life: new ?? life, expiresAt: expiresAt, stamp: stamp, checksum: checksum,
            name: name, fileNumber: fileNumber, clock: clock, beside: beside)
        record.knownMark = knownMark
        return record
    }

    /// `false` when its path was to be lent and was not, for what is lent has used its half of the limit.
    public internal(set) var isLent: Bool {
        get { lent.load(ordering: .relaxed) }
        set { lent.store(newValue, ordering: .relaxed) }
    }

    /// The value of ``Lending/changeMark(of:)`` before the index was last seen to have the image.
    var knownMark: ChangeMark {
        get { ChangeMark(rawValue: mark.load(ordering: .relaxed)) }
        set { mark.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// The timing of an animation, where it is known; `nil` for stills, for formats whose headers do not tell, and for images
    /// that older versions have stored.
    public var timing: FrameTiming? { header.frameCount == 1 ? nil : header.timing ?? origin.facts.timing }

    /// The number of frames or pages of its original that a processed image lacks, although all were asked for.
    public var framesDropped: Int { origin.facts.framesDropped }

    /// The result of decoding all of it; `nil` when that has not been tried.
    package var decodeVerdict: DecodeVerdict? { origin.facts.verdict }

    // MARK: Life and use

    /// The time of expiry of the disk's entry, in seconds since 1970; `nil` for never.
    public var expiresAt: Int? { expiry(at: clock) }

    /// The time of expiry of the disk's entry, by the cache's clock; `nil` for never.
    package var expiryTime: Int? { expiry(at: nil) }

    /// `true` when the time of the disk's entry is over; never for an image that has none. The image in memory is then
    /// expired too.
    public var isExpired: Bool {
        let end = expiry.load(ordering: .relaxed)
        return end != .max && clock.map { end <= $0.now } ?? false
    }

    /// `true` when it was stored to be expired at once: that is no reason to mark it where it is answered first.
    public var livesNoTime: Bool { life.span == 0 }

    private func expiry(at clock: CacheClock?) -> Int? {
        let value = expiry.load(ordering: .relaxed)
        return value == .max ? nil : clock?.wall(value) ?? value
    }

    /// Prolongs the entry's life as `extending` says.
    ///
    /// - Parameters:
    ///   - now: The cache's time.
    ///   - wall: The same in seconds since 1970, as dates are; `now` when `nil`.
    func extend(_ extending: ExpirationExtension, at now: Int, wall: Int? = nil) {
        switch extending {
        case .none: return
        case .cacheTime:
            // Never shortened: an earlier access may have given it a longer life than it was stored with.
            let end = life.end(from: now) ?? .max
            if end > expiry.load(ordering: .relaxed) { expiry.store(end, ordering: .relaxed) }
        case .expiration(let expiration):
            let end = expiration.lifetime(at: wall ?? now).map { now + $0 } ?? .max
            expiry.store(min(end, life.limit ?? .max), ordering: .relaxed)
        }
    }

    /// The way in which a use is written into the index.
    package struct Use: Equatable, Sendable {
        /// `true` when it is written soon: the last written use is 30 s ago, or the life has changed by that much. Otherwise
        /// it only counts for the order, and may wait.
        let isUrgent: Bool
        /// `true` when the time of expiry has moved so far that it is written too: by a hundredth of the entry's life, for its
        /// index is as dear to change as the entry itself.
        let movesExpiry: Bool
    }

    package func use(at now: Int) -> Use {
        let expiry = expiry.load(ordering: .relaxed)
        let written = writtenExpiry.load(ordering: .relaxed)
        // Of a short life a quarter is as much as 30 s are of a long one.
        let grain = min(30, max(1, (life.span ?? .max) / 4))
        let moved = (expiry == .max) != (written == .max) ? .max : abs(expiry &- written)
        let share = max(1, (life.span ?? 0) / 100)
        let last = touchedAt.load(ordering: .relaxed)
        let isUrgent = moved >= max(grain, share) || now - last >= grain || now < last
        if isUrgent { touchedAt.store(now, ordering: .relaxed) }
        if moved >= share { writtenExpiry.store(expiry, ordering: .relaxed) }
        return Use(isUrgent: isUrgent, movesExpiry: moved >= share)
    }

    // MARK: Server and file

    /// The server's answer about storing it; `nil` when that is not known. Parsed once.
    package var answer: HTTPAnswer? {
        guard let text = origin.http else { return nil }
        return parsed.withLock { parsed in
            if let parsed { return parsed }
            parsed = HTTPMetadata(text).map {
                HTTPAnswer(metadata: $0, freshness: $0.freshness(lastModified: origin.lastModified))
            }
            return parsed
        }
    }

    /// `true` when the file is still the one that was recorded.
    ///
    /// - Parameter burst: An observation that was made under the same number counts; 0 always looks.
    package func isIntact(burst: UInt64) -> Bool {
        guard let path, let stamp else { return true }
        if burst != 0, verifiedAt.load(ordering: .relaxed) == burst { return true }
        guard let found = FileStamp(path: path), found.matches(stamp) else { return false }
        verifiedAt.store(burst, ordering: .relaxed)
        return true
    }
}

/// A server's answer about storing an image, and its freshness.
package final class HTTPAnswer: Sendable {
    package let metadata: HTTPMetadata
    package let freshness: HTTPFreshness

    init(metadata: HTTPMetadata, freshness: HTTPFreshness) {
        (self.metadata, self.freshness) = (metadata, freshness)
    }
}
