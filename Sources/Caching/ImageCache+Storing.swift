package import ImageErrors
internal import ImageFormats
package import Platform

extension ImageCache {
    /// This cache, if small images are stored in it without waiting for the disk; see ``BlockingPool/submit(briefFor:_:)``.
    package var ifBrief: ImageCache? { disk.isBrief ? self : nil }

    /// Stores an image in both tiers, or in memory only, and does not wait for the index.
    ///
    /// - Parameters:
    ///   - queue: Runs what others should not wait for.
    ///   - then: Called once with the memory tier's answer, when the file is at its place. It must not wait, for other stores
    ///     do.
    package func store(
        _ content: DiskStorage.Content, _ request: StoreRequest, _ options: StorageOptions, keepsBytes: Bool,
        in queue: WorkQueue, then: @escaping @Sendable (Result<Kept, ImageError>) -> Void
    ) {
        do throws(ImageError) {
            if let kept = try keptAtOnce(content, request, options) { return then(.success(kept)) }
        } catch {
            return then(.failure(error))
        }
        let keepsBytes = keepsBytes && options.keepsInMemory
        disk.store(content, request, in: queue) { [self] result in
            let remember = { @Sendable [self] in
                then(
                    Result { () throws(ImageError) in
                        try kept(result.get(), content, options, keepsBytes: keepsBytes)
                    })
            }
            // Nobody waits until a file has been read.
            if keepsBytes, !content.isInMemory { queue.submit(remember) } else { remember() }
        }
    }

    /// The result of storing an image without the disk tier; `nil` when it takes part.
    private func keptAtOnce(
        _ content: DiskStorage.Content, _ request: StoreRequest, _ options: StorageOptions
    ) throws(ImageError) -> Kept? {
        let key = request.key
        if let old = request.successorOf, old.path == nil, !holds(old) {
            throw .notCached(key: key.key)
        }
        if !request.overwrites, let found = try occupant(of: key, memoryOnly: options.cacheMemoryOnly) {
            return Kept(entry: found, admission: .occupied)
        }
        guard options.cacheMemoryOnly else { return nil }
        return keepWithoutFile(try Self.bytes(of: content), request, options)
    }

    /// Offers an image that has no file to memory.
    @discardableResult
    package func keepWithoutFile(_ bytes: [UInt8], _ request: StoreRequest, _ options: StorageOptions) -> Kept {
        // A file that comes later is newer than the image in memory.
        let beside: FileStamp? =
            if case .found(let found)? = try? disk.lookIntoIndex(request.key, lease: 0) { found.stamp } else { nil }
        let record = ImageRecord(
            key: request.key, header: request.header, byteCount: bytes.count, path: nil, origin: request.origin,
            storedAt: disk.clock.now, beside: beside)
        return remember(record, bytes: bytes, options)
    }

    /// Offers an image that is on the disk now to memory.
    private func kept(
        _ stored: DiskStorage.Stored, _ content: DiskStorage.Content, _ options: StorageOptions, keepsBytes: Bool
    ) throws(ImageError) -> Kept {
        let record = stored.record
        guard stored.isNew else {
            let entry = memory.peek(record.key).flatMap { $0.record.path == record.path ? $0 : nil }
            return Kept(entry: entry ?? MemoryEntry(record: record, bytes: nil), admission: .occupied)
        }
        if let reason = stored.transience {
            memory.remove(record.key)
            return Kept(entry: MemoryEntry(record: record, bytes: nil), admission: .unwanted, transience: reason)
        }
        return remember(record, bytes: keepsBytes ? try Self.bytes(of: content) : nil, options)
    }

    /// The image that is not to be replaced: memory's, or the disk's when the new one is to be in memory only; for these no other
    /// test follows. The rest is decided when it is stored on the disk, where another process cannot come between.
    private func occupant(of key: CacheKey, memoryOnly: Bool) throws(ImageError) -> MemoryEntry? {
        if let entry = memory.peek(key), memoryOnly || entry.record.path == nil,
            isCurrent(entry.record, burst: 0, mayWait: true) == true
        {
            return entry
        }
        return memoryOnly ? try disk.record(for: key).map { MemoryEntry(record: $0, bytes: nil) } : nil
    }

    /// Offers an image that has just come to memory, if its options want that; an earlier one under its key is old.
    @discardableResult
    package func remember(_ record: ImageRecord, bytes: [UInt8]?, _ options: StorageOptions) -> Kept {
        if !options.keepsInMemory { memory.remove(record.key) }
        return promote(record, bytes: bytes, options)
    }

    /// Offers an image that was found to memory, if its options want that; otherwise memory stays as it is.
    func promote(_ record: ImageRecord, bytes: [UInt8]?, _ options: StorageOptions) -> Kept {
        options.keepsInMemory
            ? keep(record, bytes: bytes, expiration: options.memoryCacheExpiration)
            : Kept(entry: MemoryEntry(record: record, bytes: bytes), admission: .unwanted)
    }

    /// Offers an image to memory; of one whose bytes are too large, the record alone.
    @discardableResult
    func keep(_ record: ImageRecord, bytes: [UInt8]?, expiration: StorageExpiration?) -> Kept {
        let entry = MemoryEntry(record: record, bytes: bytes)
        if !record.key.partition.isEmpty { isPartitioned.store(true, ordering: .relaxed) }
        let admission = memory.store(
            entry, for: record.key, cost: entry.cost, expiration: expiration, isLight: bytes == nil)
        guard case .tooLarge = admission, bytes != nil, record.path != nil else {
            return Kept(entry: entry, admission: admission)
        }
        return Kept(entry: keep(record, bytes: nil, expiration: expiration).entry, admission: admission)
    }

    /// Gives a finished file one more name, under which it stays for the time of a lease without being an image of the cache.
    ///
    /// - Parameter source: What the file was made of, for the error when too much is lent already.
    package func lend(
        _ file: String, bytes: Int, for seconds: Double, source: String
    ) throws(ImageError) -> String {
        let path = try disk.reporting {
            try disk.lending.lend(
                beside: file, bytes: bytes, "", for: seconds, share: disk.lentShare.load(ordering: .relaxed))
        }
        guard let path else {
            throw .limitExceeded(
                limit: "bytesLimit", reason: "files that are leased take half of the disk tier already", source: source)
        }
        return path
    }

    package static func bytes(of content: DiskStorage.Content) throws(ImageError) -> [UInt8] {
        try ImageError.reporting {
            switch content {
            case .bytes(let bytes): bytes
            case .body(let body): try body.bytes()
            case .file(let path, _): try Files.read(path, followsLinks: true)
            }
        }
    }
}
