package import ImageErrors
internal import ImageFormats
package import Platform

/// How images come into the tiers.
extension ImageCache {
    /// This cache, if small images are stored in it without waiting for the disk; see ``BlockingPool/submit(briefFor:_:)``.
    package var ifBrief: ImageCache? { disk.isBrief ? self : nil }

    /// Stores an image in both tiers, or in memory only, and does not wait for the index.
    ///
    /// - Parameters:
    ///   - queue: Where it goes on when there is more to do than others should wait for.
    ///   - then: Is told what memory made of it, once, when the file is at its place. It must not wait, for other
    ///     stores do.
    package func store(
        _ content: DiskStorage.Content, _ order: DiskStorage.Order, _ options: StorageOptions, keepsBytes: Bool,
        in queue: WorkQueue, then: @escaping @Sendable (Result<Kept, ImageError>) -> Void
    ) {
        do throws(ImageError) {
            if let kept = try keptAtOnce(content, order, options) { return then(.success(kept)) }
        } catch {
            return then(.failure(error))
        }
        let keepsBytes = keepsBytes && options.keepsInMemory
        disk.store(content, order, in: queue) { [self] result in
            let remember = { @Sendable [self] in
                then(
                    result.tryMap { (stored) throws(ImageError) in
                        try kept(stored, content, options, keepsBytes: keepsBytes)
                    })
            }
            // Nobody waits until a file has been read.
            if keepsBytes, !content.isInMemory { queue.submit(remember) } else { remember() }
        }
    }

    /// What becomes of an image that the disk tier has nothing to do with; nil when it has.
    private func keptAtOnce(
        _ content: DiskStorage.Content, _ order: DiskStorage.Order, _ options: StorageOptions
    ) throws(ImageError) -> Kept? {
        let key = order.key
        if !order.overwrites, let found = try occupant(of: key, memoryOnly: options.cacheMemoryOnly) {
            return Kept(entry: found, admission: .occupied)
        }
        guard options.cacheMemoryOnly else { return nil }
        let bytes = try Self.bytes(of: content)
        // A file that comes later is newer than the image in memory.
        let beside = (try? diskRecord(key, mayWait: false))??.flatMap(\.stamp)
        let record = ImageRecord(
            key: key, header: order.header, byteCount: bytes.count, path: nil, origin: order.origin,
            storedAt: disk.clock.now, lifetime: nil, expiresAt: nil, stamp: nil, checksum: nil, beside: beside)
        return remember(record, bytes: bytes, options)
    }

    /// What memory makes of an image that is on the disk now.
    private func kept(
        _ stored: DiskStorage.Stored, _ content: DiskStorage.Content, _ options: StorageOptions, keepsBytes: Bool
    ) throws(ImageError) -> Kept {
        let record = stored.record
        guard stored.isNew else {
            let entry = memory.peek(record.key).flatMap { $0.record.path == record.path ? $0 : nil }
            return Kept(entry: entry ?? MemoryEntry(record: record, bytes: nil), admission: .occupied)
        }
        if stored.isTransient {
            memory.remove(record.key)
            return Kept(entry: MemoryEntry(record: record, bytes: nil), admission: .unwanted)
        }
        return remember(record, bytes: keepsBytes ? try Self.bytes(of: content) : nil, options)
    }

    /// The image that is not to be replaced, as far as memory knows it, or the disk when it is to be in memory only. The
    /// rest is found out when it is stored on the disk, where another process cannot come between.
    private func occupant(of key: CacheKey, memoryOnly: Bool) throws(ImageError) -> MemoryEntry? {
        if let entry = memory.peek(key), isCurrent(entry.record, burst: 0), memoryOnly || entry.record.path == nil {
            return entry
        }
        guard memoryOnly, case .some(.some(let record)) = try diskRecord(key, mayWait: true) else { return nil }
        return MemoryEntry(record: record, bytes: nil)
    }

    /// Remembers an image that has just come, as far as its options want that; what memory had under its key is old.
    @discardableResult
    package func remember(_ record: ImageRecord, bytes: [UInt8]?, _ options: StorageOptions) -> Kept {
        if !options.keepsInMemory { memory.remove(record.key) }
        return promote(record, bytes: bytes, options)
    }

    /// Remembers an image that was found, as far as its options want that; otherwise memory stays as it is.
    func promote(_ record: ImageRecord, bytes: [UInt8]?, _ options: StorageOptions) -> Kept {
        if options.keepsInMemory {
            return keep(record, bytes: bytes, expiration: options.memoryCacheExpiration)
        }
        return Kept(entry: MemoryEntry(record: record, bytes: bytes), admission: .unwanted)
    }

    /// Remembers an image; of one whose bytes are too large for memory, the record alone.
    @discardableResult
    package func keep(_ record: ImageRecord, bytes: [UInt8]?, expiration: StorageExpiration?) -> Kept {
        let entry = MemoryEntry(record: record, bytes: bytes)
        let admission = memory.store(
            entry, for: record.key, cost: entry.cost, expiration: expiration, isExempt: bytes == nil)
        guard case .tooLarge = admission, bytes != nil, record.path != nil else {
            return Kept(entry: entry, admission: admission)
        }
        let small = MemoryEntry(record: record, bytes: nil)
        memory.store(small, for: record.key, cost: small.cost, expiration: expiration, isExempt: true)
        return Kept(entry: small, admission: admission)
    }

    package static func bytes(of content: DiskStorage.Content) throws(ImageError) -> [UInt8] {
        do {
            switch content {
            case .bytes(let bytes): return bytes
            case .body(let body): return try body.bytes()
            case .file(let path): return try Files.read(path, followsLinks: true)
            }
        } catch { throw ImageError.storage(error, folder: "the cache folder") }
    }
}
