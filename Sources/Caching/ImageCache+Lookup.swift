public import ImageErrors

extension ImageCache {
    /// The image for `key`: from memory, else from disk, whence it is promoted; that counts as a use. Waits.
    ///
    /// - Parameter patience: The longest wait in seconds for another process that holds the index; the usual one when `nil`.
    public func hit(
        for key: CacheKey, options: StorageOptions, patience: Double? = nil
    ) throws(ImageError) -> Hit? {
        try look(for: key, options: options, burst: 0, mayWait: true, patience: patience).value.map {
            used($0, options)
        }
    }

    /// The image for `key`. Its path is lent, and in memory its use counts and extends its life, whether or not it is answered
    /// then. Its use on disk, and its promotion from there, wait for ``used(_:_:)``.
    ///
    /// - Parameters:
    ///   - burst: An observation of the file that was made under the same number is not repeated; 0 always looks.
    ///   - mayWait: `true` when index and folder may be put right when they do not agree. Otherwise that is a miss.
    ///   - patience: The longest wait in seconds for another process that holds the index; the usual one when `nil`.
    package func look(
        for key: CacheKey, options: StorageOptions, burst: UInt64, mayWait: Bool, patience: Double? = nil
    ) throws(ImageError) -> Lookup<Hit> {
        let lease = options.lease ?? Self.lease
        if let entry = memory.value(for: key, extending: options.memoryCacheAccessExtendingExpiration) {
            // Before its file is looked at, so that no eviction comes between.
            disk.lend(entry.record, for: lease)
            switch isCurrent(entry.record, burst: burst, mayWait: mayWait, patience: patience) {
            case true?: return .found(Hit(entry: entry, cacheType: .memory))
            case false?: memory.remove(key)
            // What has waited in vain asks the disk, which says why.
            case nil: if !mayWait { return .unsettled }
            }
        }
        if options.fromMemoryCacheOrRefresh { return .missing }
        return try diskRecord(key, lease: lease, mayWait: mayWait, patience: patience).map { Hit(record: $0) }
    }

    /// An image that was found and is answered: its use counts on disk, and from there it is promoted.
    package func used(_ hit: Hit, _ options: StorageOptions) -> Hit {
        noteUse(of: hit.record, options)
        guard hit.cacheType == .disk else { return hit }
        return Hit(entry: promote(hit.record, bytes: nil, options).entry, cacheType: .disk)
    }

    /// The keys of the images in memory. O(n).
    package var keysInMemory: [CacheKey] { memory.keys }

    /// `true` when neither tier has got the image since it was last looked for in vain.
    package func isStillMissing(_ key: CacheKey) -> Bool { memory.peek(key) == nil && disk.isStillMissing(key) }

    /// `true` when memory's record of an image is still right, and its disk entry has not expired.
    ///
    /// - Parameters:
    ///   - mayWait: `true` when another process that holds the index may be waited for.
    ///   - patience: The longest such wait in seconds; the usual one when `nil`.
    /// - Returns: `nil` when the index is held.
    package func isCurrent(
        _ record: ImageRecord, burst: UInt64, mayWait: Bool, patience: Double? = nil
    ) -> Bool? {
        guard !record.isExpired, record.isIntact(burst: burst) else { return false }
        return disk.isCurrent(record, patience: mayWait ? patience ?? CacheIndex.patience : 0)
    }

    /// The image on disk, if it was stored after one that is only in memory: by another process, then.
    func hit(
        for key: CacheKey, storedAfter record: ImageRecord, options: StorageOptions, patience: Double
    ) throws(ImageError) -> Hit? {
        guard let found = try disk.record(for: key, lease: options.lease ?? Self.lease, patience: patience),
            found.number != nil,
            found.stamp != record.beside
        else { return nil }
        noteUse(of: found, options)
        return Hit(entry: remember(found, bytes: nil, options).entry, cacheType: .disk)
    }

    /// `true` when memory holds the bytes of the image for `key`; its order is not changed.
    package func holdsBytes(_ key: CacheKey) -> Bool { memory.peek(key)?.bytes != nil }

    /// The disk's record.
    func diskRecord(
        _ key: CacheKey, lease: Double = 0, mayWait: Bool, patience: Double? = nil
    ) throws(ImageError) -> Lookup<ImageRecord> {
        switch try disk.lookUp(key, lease: lease) {
        case .unsettled where mayWait:
            Lookup(try disk.settle(key, lease: lease, patience: patience ?? CacheIndex.patience))
        case let known: known
        }
    }

    /// The tier that has the image for `key`; nothing is loaded, promoted or prolonged.
    ///
    /// - Parameter patience: The longest wait in seconds for another process that holds the index; the usual one when `nil`.
    package func cacheType(
        for key: CacheKey, burst: UInt64, mayWait: Bool, patience: Double? = nil
    ) throws(ImageError) -> Lookup<CacheType> {
        if let record = memory.peek(key)?.record {
            let isRight = isCurrent(record, burst: burst, mayWait: mayWait, patience: patience)
            if isRight == true { return .found(.memory) }
            if isRight == nil, !mayWait { return .unsettled }
        }
        return try diskRecord(key, mayWait: mayWait, patience: patience).map { _ in .disk }
    }

    /// The image for `key`, as far as it is known; nothing is loaded, promoted or extended. Waits.
    package func knownHit(for key: CacheKey) throws(ImageError) -> Hit? {
        if let entry = memory.peek(key), isCurrent(entry.record, burst: 0, mayWait: true) == true {
            return Hit(entry: entry, cacheType: .memory)
        }
        return try disk.record(for: key).map { Hit(record: $0) }
    }

    /// The entry that a caller means who names no user: the one that users share or, where there is none, the latest of
    /// a single user's.
    public func anyones(_ key: CacheKey) throws(ImageError) -> CacheKey {
        if try !cacheType(for: key, burst: 0, mayWait: false).isMissing { return key }
        return try latestOfUsers(key) ?? key
    }

    /// The latest entry for the key and the processors of `key` that a single user has; `nil` for none.
    public func latestOfUsers(_ key: CacheKey) throws(ImageError) -> CacheKey? {
        for own in try disk.entriesOfUsers(key) where try !cacheType(for: own, burst: 0, mayWait: false).isMissing {
            return own
        }
        return nil
    }

    /// The present or future path of the image for `key`; and `true` when it is there, and when it is lent.
    ///
    /// - Parameter lease: The time in seconds for which it is lent; the usual one when `nil`.
    /// - Returns: `nil` when that takes waiting and `mayWait` is `false`.
    public func path(
        for key: CacheKey, lease: Double? = nil, burst: UInt64, mayWait: Bool
    ) throws(ImageError) -> (path: String, exists: Bool, isLent: Bool)? {
        let lease = lease ?? Self.lease
        if let record = memory.peek(key)?.record, let path = record.path {
            disk.lend(record, for: lease)
            let isRight = isCurrent(record, burst: burst, mayWait: mayWait)
            if isRight == true { return (path, true, record.isLent) }
            if isRight == nil, !mayWait { return nil }
        }
        let found = try diskRecord(key, lease: lease, mayWait: mayWait)
        if case .unsettled = found { return nil }
        guard let record = found.value, let path = record.path else { return (disk.path(for: key), false, false) }
        return (path, true, record.isLent)
    }

    /// The bytes of an image that was found, from memory or from its file, with the result of offering them to memory.
    ///
    /// - Throws: ``ImageError/notCached(key:)`` if the file is gone or is not what was stored.
    package func loadBytes(of record: ImageRecord, options: StorageOptions) throws(ImageError) -> (
        bytes: [UInt8], kept: Kept
    ) {
        if let entry = memory.peek(record.key), entry.record === record, let bytes = entry.bytes {
            return (bytes, Kept(entry: entry, admission: .kept))
        }
        do {
            let bytes = try disk.data(of: record)
            return (bytes, promote(record, bytes: bytes, options))
        } catch {
            memory.remove(record.key)
            throw error
        }
    }

    private func noteUse(of record: ImageRecord, _ options: StorageOptions) {
        let usual = disk.configuration.expireBy == .access ? ExpirationExtension.cacheTime : .none
        let extending = options.diskCacheAccessExtendingExpiration ?? usual
        record.extend(extending, at: disk.clock.now, wall: disk.clock.wallNow)
        disk.touch(record)
    }
}
