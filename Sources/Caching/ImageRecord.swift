package import HTTPSemantics
public import ImageFormats
package import Platform
public import Synchronization

/// What is known of one stored image, without its bytes.
///
/// Shared by the index, the memory tier and the results; it changes only in what concerns its use.
public final class ImageRecord: Sendable {
    /// The entry's name.
    public let key: CacheKey
    /// Format, size and frames.
    public let header: ImageHeader
    /// The size of the file, in bytes.
    public let byteCount: Int
    /// Where the file is; nil when the image is only in memory.
    public let path: String?
    /// Whether the file is the caller's own, read where it lies, and no part of the cache.
    public let isLocalFile: Bool
    /// Where it came from.
    package let origin: ImageOrigin
    /// Where the image was downloaded from, after redirects.
    public var url: String? { origin.url }
    /// The server's entity tag.
    public var etag: String? { origin.etag }
    /// The server's date of last change, as sent.
    public var lastModified: String? { origin.lastModified }
    /// When it was stored, by the cache's time.
    package let storedAt: Int
    /// How many seconds it lives after being stored or used; nil for ever.
    package let lifetime: Int?
    package let stamp: FileStamp?
    /// The row of the index; nil when the image has none.
    package let number: Int64?
    package let checksum: Digest?
    /// Whether it was fetched with credentials: then only requests with the same are answered with it.
    package let isPersonal: Bool
    /// For an image that is only in memory: the file that the disk had for its key when it came.
    package let beside: FileStamp?

    /// A place for a front end to keep what it derived from the record and cannot change: it lives as long.
    public let memo = Mutex<(any Sendable)?>(nil)

    /// The time that ``storedAt`` and the expiry are told in; nil for seconds since 1970.
    private let clock: CacheClock?
    private let expiry: Atomic<Int>
    private let verifiedAt = Atomic<UInt64>(0)
    private let touchedAt: Atomic<Int>
    private let writtenExpiry: Atomic<Int>
    private let parsed = Mutex<HTTPAnswer?>(nil)
    private let departures: Atomic<UInt32>

    package init(
        key: CacheKey, header: ImageHeader, byteCount: Int, path: String?, isLocalFile: Bool = false,
        origin: ImageOrigin, storedAt: Int, lifetime: Int?, expiresAt: Int?, stamp: FileStamp?, checksum: Digest?,
        number: Int64? = nil, clock: CacheClock? = nil, departures: UInt32 = 0, beside: FileStamp? = nil
    ) {
        self.key = key
        self.header = header
        self.byteCount = byteCount
        self.path = path
        self.isLocalFile = isLocalFile
        self.origin = origin
        self.storedAt = storedAt
        self.lifetime = lifetime
        self.stamp = stamp
        self.number = number
        self.clock = clock
        self.checksum = checksum
        self.beside = beside
        isPersonal = origin.http.map(HTTPMetadata.isPersonal) ?? false
        expiry = Atomic(expiresAt ?? .max)
        touchedAt = Atomic(storedAt)
        writtenExpiry = Atomic(expiresAt ?? .max)
        self.departures = Atomic(departures)
    }

    /// The value of ``Lending/departures`` before the index was last seen to have the image.
    var knownDepartures: UInt32 {
        get { departures.load(ordering: .relaxed) }
        set { departures.store(newValue, ordering: .relaxed) }
    }

    /// Seconds since 1970 when the disk's entry expires; nil for never.
    public var expiresAt: Int? { expiry(at: clock) }

    /// When the disk's entry expires, by the cache's time; nil for never.
    package var expiryTime: Int? { expiry(at: nil) }

    private func expiry(at clock: CacheClock?) -> Int? {
        let value = expiry.load(ordering: .relaxed)
        return value == .max ? nil : clock?.wall(value) ?? value
    }

    /// Prolongs the entry's life as `extending` says.
    ///
    /// - Parameters:
    ///   - now: The cache's time.
    ///   - wall: Seconds since 1970, which dates are told in; `now` when nil.
    func extend(_ extending: ExpirationExtension, at now: Int, wall: Int? = nil) {
        switch extending {
        case .none: return
        case .cacheTime:
            // Never shortened: an earlier access may have given it a longer life than it was stored with.
            let end = lifetime.map { now + $0 } ?? .max
            if end > expiry.load(ordering: .relaxed) { expiry.store(end, ordering: .relaxed) }
        case .expiration(let expiration):
            expiry.store(expiration.lifetime(at: wall ?? now).map { now + $0 } ?? .max, ordering: .relaxed)
        }
    }

    /// How a use is to be written down.
    package struct Use: Equatable, Sendable {
        /// Soon: the last one that was is 30 s ago, or the life has changed by that much. Otherwise it only counts for
        /// the order, and may wait.
        let isUrgent: Bool
        /// Whether the moment of expiry has moved so far that it is worth writing down too: by a hundredth of the
        /// entry's life, for its index is as dear to change as the entry itself.
        let movesExpiry: Bool
    }

    /// How a use at `now` is to be written down.
    package func use(at now: Int) -> Use {
        let expiry = expiry.load(ordering: .relaxed)
        let written = writtenExpiry.load(ordering: .relaxed)
        // Of a short life a quarter is as much as 30 s are of a long one.
        let grain = min(30, max(1, (lifetime ?? .max) / 4))
        let moved = (expiry == .max) != (written == .max) ? .max : abs(expiry &- written)
        let share = max(1, (lifetime ?? 0) / 100)
        let last = touchedAt.load(ordering: .relaxed)
        let isUrgent = moved >= max(grain, share) || now - last >= grain || now < last
        if isUrgent { touchedAt.store(now, ordering: .relaxed) }
        if moved >= share { writtenExpiry.store(expiry, ordering: .relaxed) }
        return Use(isUrgent: isUrgent, movesExpiry: moved >= share)
    }

    /// The same image without its file, for a caller that wants it in memory only.
    package func withoutFile() -> ImageRecord {
        ImageRecord(
            key: key, header: header, byteCount: byteCount, path: nil, origin: origin, storedAt: storedAt,
            lifetime: nil, expiresAt: nil, stamp: nil, checksum: checksum)
    }

    /// The same image, of which its server has said something new.
    package func replacing(_ origin: ImageOrigin) -> ImageRecord {
        ImageRecord(
            key: key, header: header, byteCount: byteCount, path: path, isLocalFile: isLocalFile, origin: origin,
            storedAt: storedAt, lifetime: lifetime, expiresAt: expiryTime, stamp: stamp, checksum: checksum,
            number: number, clock: clock, departures: departures.load(ordering: .relaxed), beside: beside)
    }

    /// What its server said about keeping it; nil when that is not known. Read from its text once.
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

    /// Whether the file is still the one that was recorded.
    ///
    /// - Parameter burst: See ``MessageContext`` of the server: an observation made under the same number counts.
    ///   0 always looks.
    package func isIntact(burst: UInt64) -> Bool {
        guard let path, let stamp else { return true }
        if burst != 0, verifiedAt.load(ordering: .relaxed) == burst { return true }
        guard let found = FileStamp(path: path), found.matches(stamp) else { return false }
        verifiedAt.store(burst, ordering: .relaxed)
        return true
    }
}

/// Where an image came from, as far as that is kept.
public struct ImageOrigin: Sendable, Equatable {
    /// The URL after redirects.
    public var url: String?
    /// The server's entity tag.
    public var etag: String?
    /// The server's date of last change, as sent.
    public var lastModified: String?
    /// What the server said about keeping it: the text of an ``HTTPMetadata``.
    package var http: String?

    /// The origin of which only that is known.
    package init(http: String) { self.http = http }

    /// An origin of which so much is known.
    public init(url: String? = nil, etag: String? = nil, lastModified: String? = nil) {
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
    }
}

extension ImageOrigin {
    /// The origin without what changes each time the server is asked.
    var lasting: ImageOrigin { ImageOrigin(url: url, etag: etag, lastModified: lastModified) }
}

/// What a server said about keeping its answer, and what follows from it.
package final class HTTPAnswer: Sendable {
    package let metadata: HTTPMetadata
    package let freshness: HTTPFreshness

    init(metadata: HTTPMetadata, freshness: HTTPFreshness) {
        self.metadata = metadata
        self.freshness = freshness
    }
}
