internal import Glibc
internal import ImageRecipes
internal import Platform

/// Images that are made from others (A-128…A-132).
///
/// What is made has an entry of its own. It is looked for there first; else the original is taken from the cache, or
/// loaded once, and the work is done once however many wait for it.
extension ImageManager {
    /// What makes two callers want the same work.
    struct VariantJobKey: Hashable, Sendable {
        let cache: String
        let key: CacheKey
        let mark: String
        let options: ImageOptions
        let needs: ImageNeeds
    }

    /// What decides which bytes the worker makes.
    struct RenderJobKey: Hashable, Sendable {
        let mark: String
        let recipe: ImageRecipe
        let limits: RenderLimits
        /// Whether it makes pixels, and no image.
        var isRaw = false
    }

    // MARK: Looking

    /// Whether an image that was made may be answered on the spot, as far as is known without waiting.
    func isCurrent(
        _ record: ImageRecord, of resource: Resource, for cache: ImageCache, _ options: ImageOptions
    ) -> Bool {
        if resource.isOnNetwork {
            let known = originals(for: cache, options).memory.peek(CacheKey(resource.cacheKey))?.record
            guard let checksum = known?.checksum else { return true }
            return VariantSource.mark(of: record) == VariantSource.mark(checksum)
        }
        guard let mark = sourceMark(resource) else { return true }
        return VariantSource.mark(of: record) == mark
    }

    /// The mark of a source that is at hand; nil for one on the network, and for one that is not there.
    func sourceMark(_ resource: Resource) -> String? {
        switch try? ImageSource(url: resource.url) {
        case .file(let path): VariantSource.mark(file: path)
        case .data: VariantSource.mark(Digest(of: resource.url))
        case .network, nil: nil
        }
    }

    /// The image that was made before.
    ///
    /// - Parameter original: What it is to have been made from, when that is known; whoever has it may have this too.
    @inline(never)
    private func made(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, from original: Original? = nil
    ) async throws -> ImageResult? {
        let key = options.processing.recipe.cacheKey(resource.cacheKey)
        if options.lookup.forceRefresh { return nil }
        if try cache.cacheType(for: key, burst: 0, mayWait: false) == CacheType.none { return nil }
        var looking = options
        looking.lookup.integrity = nil
        looking.lookup.verifyDecode = nil
        return try await pool.runIfWanted { [self, looking] in
            guard let hit = try cache.hit(for: key, options: looking.storage, burst: 0, mayWait: true) else {
                return nil
            }
            if let original {
                if VariantSource.mark(of: hit.record) != original.mark { return nil }
            } else if try !isUsable(hit.record, of: resource, in: cache, options) {
                return nil
            }
            count(hit.cacheType)
            return try answer(hit, in: cache, looking)
        }
    }

    /// `true` when a made image may be answered without looking at its original: to this request, by its credentials and
    /// digests, and as long as the original that the caches know is the one that it was made from.
    func isUsable(
        _ record: ImageRecord, of resource: Resource, in cache: ImageCache, _ options: ImageOptions
    ) throws(ImageError) -> Bool {
        if record.isPersonal, options.asksToModify { return false }
        // Digests are those of the original's bytes, of which the entry may not tell enough.
        if let integrity = options.lookup.integrity, integrity.allowsOriginal(of: record) != true { return false }
        var asked = options
        (asked.lookup.integrity, asked.lookup.verifyDecode) = (nil, nil)
        guard answers(ImageCache.Hit(record: record), to: resource, in: cache, asked) else { return false }
        var mark = sourceMark(resource)
        if mark == nil, resource.isOnNetwork {
            let known = try originals(for: cache, options).knownRecord(for: CacheKey(resource.cacheKey))
            mark = known?.checksum.map { VariantSource.mark($0) }
        }
        return mark.map { VariantSource.mark(of: record) == $0 } ?? true
    }

    // MARK: Making

    /// The image that the recipe of the options makes of an original that has just been loaded into `home`.
    func variant(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds,
        _ caller: ImageCaller, of loaded: ImageResult, from home: ImageCache
    ) async throws -> ImageResult {
        if options.processing.recipe.isNothing(for: loaded.record.header) {
            return try await untouched(loaded, in: cache, options, needs)
        }
        let original = try await pool.run { [self] in try self.original(loaded, in: home, options, mark: nil) }
        do {
            return try await variant(of: original, resource, in: cache, options, needs, caller)
        } catch ImageError.storageFailed where loaded.isGone {
            return try await variant(resource, in: cache, options, needs, caller, isSecondTry: true)
        }
    }

    /// The image that the recipe of the options makes of a resource.
    ///
    /// - Parameter isSecondTry: Whether an original has gone on its way to the worker.
    @inline(never)
    func variant(
        _ resource: Resource, in cache: ImageCache, _ options: ImageOptions, _ needs: ImageNeeds,
        _ caller: ImageCaller, isSecondTry: Bool = false
    ) async throws -> ImageResult {
        // What may have to be checked with its server is checked by its original.
        let isChecked = (options.lookup.revalidate ?? .never) != .never && resource.isOnNetwork
        if isChecked {
            if let found = try await checkedVariant(resource, in: cache, options, needs, caller) { return found }
        } else {
            if let found = try await made(resource, in: cache, options) { return found }
            if let base = try await intermediate(insteadOf: resource, in: cache, options) {
                do {
                    let result = try await variant(of: base, resource, in: cache, options, needs, caller)
                    count(base.result.cacheType)
                    return result
                } catch let error as ImageError where base.isToBlame(for: error) {
                    // The original is loaded.
                }
            }
        }
        return try await withOriginal(of: resource, in: cache, options, caller, isSecondTry: isSecondTry) { original in
            if options.processing.recipe.isNothing(for: original.result.record.header) {
                return try await untouched(original.result, in: cache, options, needs)
            }
            return try await variant(of: original, resource, in: cache, options, needs, caller)
        }
    }

    /// What the recipe of the options makes of that very original.
    @inline(never)
    func variant(
        of original: Original, _ resource: Resource, in cache: ImageCache, _ options: ImageOptions,
        _ needs: ImageNeeds, _ caller: ImageCaller
    ) async throws -> ImageResult {
        let key = options.processing.recipe.cacheKey(resource.cacheKey)
        var keeping = options.keepingForVariants
        let record = original.result.entry?.record ?? original.result.record
        if original.result.isStale, let end = record.expiryTime, end <= cache.disk.clock.now {
            // What stands in for an image does not live on as what is made of that.
            keeping.storage.diskCacheExpiration = .expired
            // In memory alone it has to be somewhere.
            if !keeping.storage.cacheMemoryOnly || needs.contains(.bytes) {
                keeping.storage.memoryCacheExpiration = .expired
            }
        }
        let jobKey = VariantJobKey(cache: cache.name, key: key, mark: original.mark, options: keeping, needs: needs)
        var result = try await variants.value(
            for: jobKey, priority: caller.priority, lingers: options.caller.onLastCancel == .finish,
            joined: { _ in caller.joined() }
        ) { [self] effort in
            // Somebody else may have made it since it was looked for.
            if let found = try await made(resource, in: cache, options, from: original) { return found }
            if let base = try await intermediate(of: original, resource, in: cache, options) {
                do {
                    return try await storeLoaded(
                        try await rendered(
                            base, key, resource.url, in: cache, jobKey.options, needs: needs, priority: effort.priority)
                    )
                } catch let error as ImageError where base.isToBlame(for: error) {
                    // There is the original.
                }
            }
            return try await storeLoaded(
                try await rendered(
                    original, key, resource.url, in: cache, jobKey.options, needs: needs, priority: effort.priority))
        }
        if needs.contains(.bytes), result.bytes == nil, result.content == nil {
            result = try await loadingBytes(of: result, in: cache, options: jobKey.options)
        }
        // What the original is to this request; of that, neither the cache nor the others who wait have anything.
        (result.isStale, result.isRevalidated) = (original.result.isStale, original.result.isRevalidated)
        return result
    }

    /// Has the worker make the image, and says how it is to be stored.
    func rendered(
        _ original: Original, _ key: CacheKey, _ source: String, in cache: ImageCache, _ options: ImageOptions,
        needs: ImageNeeds, priority: CallPriority = CallPriority(0.5)
    ) async throws -> PendingStore {
        let jobKey = RenderJobKey(
            mark: original.workMark, recipe: original.rest ?? options.processing.recipe,
            limits: options.processing.limits)
        let file = try await renders.value(for: jobKey, priority: priority) { [self] _ in
            try await render(original, jobKey, source)
        }
        return try await pool.run {
            var keeping = options
            keeping.processing.recipe = ImageRecipe()
            return PendingStore(
                content: try Self.content(of: file), key: key, cache: cache, source: source,
                origin: VariantSource.origin(
                    original.origin, mark: original.mark, of: file.image.isExact ? original.format : nil),
                options: keeping, needs: needs)
        }
    }

    /// Has the worker make the image: a file that goes with the last who holds it.
    func render(_ original: Original, _ jobKey: RenderJobKey, _ source: String) async throws -> RenderedFile {
        let header = original.result.record.header
        try jobKey.limits.check(header, source: source)
        let file = ScratchFile(try await pool.run { [spool] in try Self.partialPath(in: spool) })
        var output = jobKey.recipe.output(of: header, to: file.path)
        if jobKey.isRaw { output.rule = .pixels }
        let request = RenderRequest(
            source: original.path, format: header.format.rawValue,
            originalFormat: original.rest == nil ? nil : original.format.rawValue, outputs: [output],
            limits: jobKey.limits)
        let reply: RenderReply
        do {
            reply = try await codec.render(request, cost: Self.cost(of: header))
        } catch let failure as CodecFailure {
            throw failure.imageError(source)
        }
        switch reply.outcomes.first {
        case .finished(let image):
            guard (image.format == "rgba") == jobKey.isRaw else {
                throw CodecFailure.garbled(reason: "it made \(image.format)").imageError(source)
            }
            return RenderedFile(file, image)
        case .failed(let failure): throw failure.imageError(source)
        case nil: throw CodecFailure.garbled(reason: "no outcome").imageError(source)
        }
    }

    /// Bytes of pixels that the worker will hold, by estimate.
    static func cost(of header: ImageHeader) -> Int {
        if header.format == .svg { return 32 << 20 }
        return header.width * header.height * 4 * max(1, min(header.frameCount, 100_000))
    }

    private static func partialPath(in folder: StorageFolder) throws(ImageError) -> String {
        do { return try folder.partialPath("made") } catch {
            throw ImageError.storage(error, folder: folder.path)
        }
    }

    /// What the worker has written: its bytes when they are few, else the file, which goes with the content.
    private static func content(of file: RenderedFile) throws(ImageError) -> DiskStorage.Content {
        guard let stamp = FileStamp(path: file.path) else {
            throw .storageFailed(reason: "The codec worker has left no file.", hint: "Try again.")
        }
        if stamp.size <= BodySpool.memoryLimit { return .bytes(try ImageCache.bytes(of: .file(file.path))) }
        let own = file.path + "~kept"
        guard link(file.path, own) == 0 else {
            throw .storageFailed(
                reason: "\(own) cannot be made: \(String(cString: strerror(errno))).",
                hint: "Check the cache folder.")
        }
        return .body(DownloadedBody(.file(path: own, count: stamp.size)))
    }
}
