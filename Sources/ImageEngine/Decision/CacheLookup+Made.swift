internal import ImageRecipes
internal import Platform

extension CacheLookup {
    /// `true` when a made image may be answered at once, as far as can be known without waiting.
    ///
    /// - Parameters:
    ///   - own: The entry of its original.
    ///   - burst: See ``ImageCache/look(for:options:burst:mayWait:patience:)``.
    func isCurrent(
        _ record: ImageRecord, of resource: Resource, _ own: CacheKey, for cache: ImageCache, _ options: ImageOptions,
        burst: UInt64 = 0
    ) -> Bool {
        var mark: String?
        if resource.prefersCache {
            let home = originals(for: cache, options)
            var known = home.memory.peek(own)?.record
            // Another process may have replaced it.
            if let record = known, home.isCurrent(record, burst: burst, mayWait: false) != true { known = nil }
            if known == nil, !home.isStillMissing(own) {
                // Memory need not know what is on disk.
                var looking = StorageOptions()
                looking.lease = 0
                switch try? home.look(for: own, options: looking, burst: 0, mayWait: false) {
                // The next look need not look there again.
                case .found(let hit): known = home.remember(hit.record, bytes: nil, looking).entry.record
                case .missing: break
                case .unsettled, nil: return resource.isOnNetwork && !home.disk.readsOtherFolders
                }
            }
            mark = known.flatMap(VariantSource.mark(ofOriginal:))
            // An image that is only in memory has none.
            if known != nil, mark == nil { return false }
        }
        return (mark ?? sourceMark(resource)).map { VariantSource.mark(of: record) == $0 } ?? true
    }

    /// The mark of a local source; `nil` for one on the network or one that does not exist.
    func sourceMark(_ resource: Resource) -> String? {
        switch try? ImageSource(url: resource.url) {
        case .file(let path): VariantSource.mark(file: path)
        case .data: VariantSource.mark(Digest(of: resource.url))
        case .network, nil: nil
        }
    }

    /// `true` when a made image may be answered without loading its original: the request's credentials and digests
    /// allow it, and the original that the caches know is the one that it was made from.
    func isUsable(
        _ record: ImageRecord, of resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) -> Bool {
        if record.isPersonal || !record.key.partition.isEmpty, options.asksToModify { return false }
        // Digests refer to the original's bytes, and the entry may not say enough about those.
        if let integrity = options.lookup.integrity, integrity.allowsOriginal(of: record) != true { return false }
        guard answers(ImageCache.Hit(record: record), to: resource, in: cache, options.unchecked) else { return false }
        return try isOfKnownOriginal(record, of: resource, in: cache, options)
    }

    /// `false` when a made image was made from another original than the one that the caches know now. Waits for the disk.
    func isOfKnownOriginal(
        _ record: ImageRecord, of resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) -> Bool {
        var mark: String?
        if resource.prefersCache {
            let (home, shared) = (originals(for: cache, options), CacheKey(resource.cacheKey))
            // What is shared may have been made into an image of one user, whose own original counts before it.
            let keys =
                record.key.partition.isEmpty
                ? self.keys(resource, options) : [shared.sameUser(as: record.key), shared]
            var known: ImageCache.Hit?
            for key in keys where known == nil { known = try home.knownHit(for: key) }
            mark = known.flatMap { VariantSource.mark(ofOriginal: $0.record) }
            // An image that is only in memory has none.
            if let known, mark == nil {
                guard let bytes = known.bytes else { return false }
                mark = VariantSource.mark(bytes.withUnsafeBytes { Digest(of: $0) })
            }
        }
        return (mark ?? sourceMark(resource)).map { VariantSource.mark(of: record) == $0 } ?? true
    }

    /// `true` when a made image may be revalidated instead of its original. It may not with digests, which refer to the
    /// original's bytes, or when another cache, with its own expiry, holds the originals.
    func mayBeChecked(with options: ImageOptions, in cache: ImageCache) -> Bool {
        !options.asksToModify && options.lookup.integrity == nil && !options.lookup.forceRefresh
            && originals(for: cache, options) === cache
    }
}

/// The use of a made image whose original is not stored.
enum MadeImageUse {
    /// It answers; see ``CacheDecision/Action/answer(isStale:)``.
    case answer(isStale: Bool)
    /// The server of its original is asked, with these validators, whether the original with this mark has changed.
    case revalidate(Validators, mark: String)
    /// It is made anew.
    case makeAnew
}

extension RetrievalPolicy {
    /// The use of a made image whose original is not stored; its entry has the metadata and validators of that.
    func use(ofMade found: ImageCache.Candidate, _ entry: Entry, for scope: HTTPScope) -> MadeImageUse {
        switch decision(for: entry).action {
        case .answer(let isStale): return .answer(isStale: isStale)
        // There is no stored original to refresh in the background.
        case .answerAndRefresh, .revalidate:
            guard !isOffline, let validators = found.validators(for: scope, isForeign: entry.isForeign),
                let mark = VariantSource.mark(of: found.hit.record)
            else { return .makeAnew }
            return .revalidate(validators, mark: mark)
        case .load, .fail: return .makeAnew
        }
    }
}
