internal import Logging
internal import Platform

/// One image on its way into a cache: validated by its header, then stored as the options say.
struct PendingStore: Sendable {
    var content: DiskStorage.Content
    let key: CacheKey
    let cache: ImageCache
    /// What errors name as the thing that failed.
    let source: String
    var origin: ImageOrigin
    let options: ImageOptions
    let needs: ImageNeeds
    /// What the server called it; for errors only.
    var contentType: String?
    /// Whether an image that is there is replaced.
    var overwrites = true
    /// What the caller wants kept with the image: a JSON object.
    var metadata: String?

    /// The file of the content, when it is there for this alone.
    var scratch: ScratchFile?
    /// Whether an image that is too large for the disk tier is answered all the same.
    var allowsOversize = false

    /// Stores the image and makes the result. What is no image is never cached. Waits for the disk.
    func run() throws(ImageError) -> ImageResult {
        try BlockingWait.wait { queue, then in run(in: queue, then: then) }.get()
    }

    /// Stores the image and makes the result; waits for the disk, but not for the index, into which another thread may
    /// be writing. What is no image is never cached.
    ///
    /// - Parameter then: Is told the result, once, on this thread or on another one; it must not wait, for other stores
    ///   do.
    func run(then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void) {
        run(in: cache.queue, then: then)
    }

    private func run(in queue: WorkQueue, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void) {
        let order: DiskStorage.Order
        do throws(ImageError) {
            let header = try header()
            if let admission = refusal {
                cache.memory.remove(key)
                var result = try withoutFile(header)
                result.admission = admission
                return then(.success(result))
            }
            order = DiskStorage.Order(
                key: key, header: header, origin: origin.noting(header.timing),
                expiration: options.storage.diskCacheExpiration,
                fileExtension: options.storage.forcedCacheFileExtension,
                overwrites: overwrites, metadata: metadata, lease: options.storage.lease ?? ImageCache.lease,
                allowsOversize: allowsOversize)
        } catch {
            return then(.failure(error))
        }
        let keepsBytes = needs.contains(.bytes) || options.storage.queryDataWhenInMemory
        cache.store(content, order, options.storage, keepsBytes: keepsBytes, in: queue) { kept in
            then(kept.tryMap { (kept) throws(ImageError) in try result(kept, keepsBytes: keepsBytes) })
        }
    }

    private func result(_ kept: ImageCache.Kept, keepsBytes: Bool) throws(ImageError) -> ImageResult {
        // Until now its content may have been in a file that goes with this.
        defer { withExtendedLifetime(scratch) {} }
        var result = ImageResult(record: kept.entry.record, cache: cache.name, cacheType: .none, bytes: nil)
        result.admission =
            keepsBytes || options.storage.cacheMemoryOnly || kept.admission == .occupied ? kept.admission : nil
        // Large bytes are not held by all those that wait until the client takes them.
        if (kept.entry.bytes?.count ?? 0) <= BodySpool.memoryLimit { result.entry = kept.entry }
        // Nobody else may have them when there is no file.
        let onlyBytes = kept.entry.record.path == nil && needs.contains(.bytes) ? kept.entry.bytes : nil
        result.bytes = if let onlyBytes { onlyBytes } else { try bytesIfNeeded() }
        return result
    }

    /// The result without storing anything.
    func withoutFile() throws(ImageError) -> ImageResult {
        try withoutFile(try header())
    }

    private func withoutFile(_ header: ImageHeader) throws(ImageError) -> ImageResult {
        let record = ImageRecord(
            key: key, header: header, byteCount: StorageFolder.count(of: content), path: nil, origin: origin,
            storedAt: 0, lifetime: nil, expiresAt: nil, stamp: nil, checksum: nil)
        var result = ImageResult(record: record, cache: cache.name, cacheType: .none, bytes: nil)
        if needs.contains(.bytes) {
            if record.byteCount > BodySpool.memoryLimit, !content.isInMemory {
                result.content = content
            } else {
                result.bytes = try ImageCache.bytes(of: content)
            }
        }
        return result
    }

    /// Why memory does not take an image that is to be kept nowhere else; nil if it may, or is not the only place.
    private var refusal: MemoryAdmission? {
        guard options.storage.cacheMemoryOnly, overwrites, !content.isInMemory else { return nil }
        if !options.storage.keepsInMemory { return .unwanted }
        let count = StorageFolder.count(of: content)
        let admission = cache.memory.configuration.admission(cost: count, isExempt: false)
        return count > BodySpool.memoryLimit && admission != .kept ? admission : nil
    }

    /// Small bytes are in hand already; large ones are read when they are wanted.
    private func bytesIfNeeded() throws(ImageError) -> [UInt8]? {
        guard needs.contains(.bytes) else { return nil }
        switch content {
        case .bytes(let bytes): return bytes
        case .body(let body) where body.count <= BodySpool.memoryLimit:
            return try ImageCache.bytes(of: content)
        case .body, .file: return nil
        }
    }

    var sample: ContentSample { ContentSample(content.start, contentType: contentType) }

    /// Says in the log that a server calls the image something else than it is; by its hash, for URLs are private.
    private func warn(of format: ImageFormat) {
        guard let contentType, !format.mayBeCalled(contentType) else { return }
        Self.logger.notice(
            "a server calls an image something else than it is",
            metadata: [
                "called": "\(MediaType.essence(contentType).excerpt)", "is": "\(format.mimeType)",
                "image": "\(cache.disk.name(of: key).hex)",
            ])
    }

    private static let logger = Logger(label: "halcyon.images")

    /// - Parameter warns: Whether the log hears when the server calls it something else than it is.
    func header(warns: Bool = true) throws(ImageError) -> ImageHeader {
        if let integrity = options.lookup.integrity, !integrity.allows(content) {
            throw Integrity.mismatch(source, sample)
        }
        do {
            let header =
                switch content {
                case .bytes(let bytes):
                    try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
                case .body(let body): try body.header()
                case .file(let path): try LocalFile(path: path, options: options).header()
                }
            if warns { warn(of: header.format) }
            return header
        } catch let failure as ImageHeader.Failure {
            throw .badData(reason: failure.sentence(contentType: contentType), source: source, sample: sample)
        } catch let error as ImageError {
            throw error
        } catch {
            throw ImageError.storage(error, folder: "the cache folder")
        }
    }
}

extension ImageHeader.Failure {
    /// What is wrong, for the user.
    func sentence(contentType: String? = nil) -> String {
        switch self {
        case .empty: "There is not a single byte."
        case .unrecognised:
            "The bytes have no signature of a known format"
                + (contentType.map { "; the server called them \($0.excerpt)." } ?? ".")
        case .cutOff(let format): "The \(format.rawValue.uppercased()) data is cut off."
        case .malformed(let format): "The \(format.rawValue.uppercased()) data is malformed."
        }
    }
}
