/// One image on its way into a cache: validated by its header, then stored as the options say.
struct Storing: Sendable {
    let content: DiskStorage.Content
    let key: CacheKey
    let cache: ImageCache
    /// What errors name as the thing that failed.
    let source: String
    let origin: ImageOrigin
    let options: ImageOptions
    let needs: ImageNeeds
    /// What the server called it; for errors only.
    var contentType: String?
    /// Whether an image that is there is replaced.
    var overwrites = true
    /// What the caller wants kept with the image: a JSON object.
    var metadata: String?

    /// Whether an image that is too large for the disk tier is answered all the same.
    var maySurpass = false

    /// Stores the image and makes the result. What is no image is never cached.
    func run() throws(ImageError) -> ImageResult {
        let header = try header()
        let keepsBytes = needs.contains(.bytes) || options.queryDataWhenInMemory
        let kept = try cache.store(
            content, for: key, header: header, origin: origin, options: options, keepsBytes: keepsBytes,
            overwrites: overwrites, metadata: metadata, lease: options.lease ?? ImageCache.lease,
            maySurpass: maySurpass)
        var result = ImageResult(record: kept.entry.record, cache: cache.name, cacheType: .none, bytes: nil)
        result.admission = keepsBytes || options.cacheMemoryOnly || kept.admission == .occupied ? kept.admission : nil
        // Large bytes are not held by all those that wait until the client takes them.
        if (kept.entry.bytes?.count ?? 0) <= BodySpool.memoryLimit { result.entry = kept.entry }
        // Nobody else may have them when there is no file.
        let onlyBytes = kept.entry.record.path == nil && needs.contains(.bytes) ? kept.entry.bytes : nil
        result.bytes = if let onlyBytes { onlyBytes } else { try bytesIfNeeded() }
        return result
    }

    /// The result without storing anything.
    func withoutFile() throws(ImageError) -> ImageResult {
        let header = try header()
        let bytes = try ImageCache.bytes(of: content)
        let record = ImageRecord(
            key: key, header: header, byteCount: bytes.count, path: nil, origin: origin, storedAt: 0, lifetime: nil,
            expiresAt: nil, stamp: nil, checksum: nil)
        return ImageResult(
            record: record, cache: cache.name, cacheType: .none, bytes: needs.contains(.bytes) ? bytes : nil)
    }

    /// Small bytes are in hand already; large ones are read when they are wanted.
    private func bytesIfNeeded() throws(ImageError) -> [UInt8]? {
        guard needs.contains(.bytes) else { return nil }
        // What is kept nowhere cannot be read later.
        let isKept = !options.cacheMemoryOnly || options.keepsInMemory
        switch content {
        case .bytes(let bytes): return bytes
        case .body(let body) where body.count <= BodySpool.memoryLimit || !isKept:
            return try ImageCache.bytes(of: content)
        case .body, .file: return nil
        }
    }

    private func header() throws(ImageError) -> ImageHeader {
        if let integrity = options.integrity, !integrity.allows(content) { throw Integrity.mismatch(source) }
        do {
            switch content {
            case .bytes(let bytes):
                return try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
            case .body(let body): return try body.header()
            case .file(let path): return try LocalFile(path: path, options: options).header()
            }
        } catch let failure as ImageHeader.Failure {
            throw .badData(reason: failure.sentence(contentType: contentType), source: source)
        } catch let error as ImageError {
            throw error
        } catch {
            throw StorageFailure.error(error, folder: "the cache folder")
        }
    }
}

extension ImageHeader.Failure {
    /// What is wrong, for the user.
    func sentence(contentType: String? = nil) -> String {
        switch self {
        case .unrecognised:
            "The bytes have no signature of a known format"
                + (contentType.map { "; the server called them \($0.excerpt)." } ?? ".")
        case .cutOff(let format): "The \(format.rawValue.uppercased()) data is cut off."
        case .malformed(let format): "The \(format.rawValue.uppercased()) data is malformed."
        }
    }
}
