internal import Glibc
internal import ImageRecipes
internal import Platform

/// Images that are made from others (A-128…A-132).
///
/// What is made has an entry of its own. It is looked for there first; else the original is taken from the cache, or
/// loaded once, and the work is done once however many wait for it.
extension ImageManager {
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
    private func made(_ request: ImageRequest, from original: Original? = nil) async throws -> ImageResult? {
        let (key, cache, options) = (request.madeKey, request.cache, request.options)
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
            } else if try !isUsable(hit.record, of: request.resource, in: cache, options) {
                return nil
            }
            count(hit.cacheType)
            return try answer(hit, in: cache, looking, request.needs)
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

    /// Answers with the image that the recipe of the options makes of a resource.
    func variantStep(_ request: ImageRequest) async throws -> RequestStep {
        // What may have to be revalidated is revalidated by its original.
        if request.mayRevalidate {
            if let step = try await checkedVariantStep(request) { return step }
        } else {
            if let found = try await made(request) { return .answer(found) }
            if let base = try await intermediate(insteadOf: request) {
                do {
                    let result = try await variant(of: base, request)
                    count(base.result.cacheType)
                    return .answer(result)
                } catch let error as ImageError where base.isToBlame(for: error) {
                    // The original is loaded.
                }
            }
        }
        return try await stepWithOriginal(request) { [self] in try await variant(of: $0, request) }
    }

    /// The image that the recipe of the options makes of that very original.
    func variant(of original: Original, _ request: ImageRequest) async throws -> ImageResult {
        let (options, needs) = (request.options, request.needs)
        if original.rest == nil, options.processing.recipe.isNothing(for: original.result.record.header) {
            return try await untouched(original.result, request)
        }
        var keeping = options.keepingForVariants
        let record = original.result.entry?.record ?? original.result.record
        let isOfExpired =
            original.result.isStale && record.expiryTime.map { $0 <= request.cache.disk.clock.now } == true
        if isOfExpired { keeping.storage = keeping.storage.ofExpiredOriginal(needs) }
        let key = JobKey.Variant(
            cache: request.cache.name, key: request.madeKey, mark: original.mark, options: keeping, needs: needs)
        var result = try await jobs.value(
            for: .variant(key), priority: request.caller.priority, lingers: options.caller.onLastCancel == .finish,
            joined: { _ in request.caller.joined() }
        ) { [self] job in
            .image(
                try await makeVariant(
                    of: original, request, key, priority: job.priority, isOfExpired: isOfExpired))
        }.image.get()
        if needs.contains(.bytes), result.bytes == nil, result.content == nil {
            result = try await loadingBytes(of: result, in: request.cache, options: keeping)
        }
        // What the original is to this request; of that, neither the cache nor the others who wait have anything.
        (result.isStale, result.isRevalidated) = (original.result.isStale, original.result.isRevalidated)
        return result
    }

    /// The work of the job that makes a variant: looks for it once more, makes it, and stores it.
    private func makeVariant(
        of original: Original, _ request: ImageRequest, _ key: JobKey.Variant, priority: CallPriority,
        isOfExpired: Bool
    ) async throws -> ImageResult {
        // Another job may have made it since it was looked for.
        if let found = try await made(request, from: original) { return found }
        func make(_ base: Original) async throws -> ImageResult {
            try await storeLoaded(
                try await rendered(
                    base, key.key, request.resource.url, in: request.cache, key.options, needs: key.needs,
                    priority: priority, isOfExpired: isOfExpired))
        }
        if let base = try await intermediate(of: original, request) {
            do { return try await make(base) } catch let error as ImageError where base.isToBlame(for: error) {
                // There is the original.
            }
        }
        return try await make(original)
    }

    /// Has the worker make the image, and says how it is to be stored.
    func rendered(
        _ original: Original, _ key: CacheKey, _ source: String, in cache: ImageCache, _ options: ImageOptions,
        needs: ImageNeeds, priority: CallPriority = CallPriority(0.5), isOfExpired: Bool = false
    ) async throws -> PendingStore {
        let work = JobKey.Render(
            mark: original.workMark, recipe: original.rest ?? options.processing.recipe,
            limits: options.processing.limits)
        let file = try await render(original, work, source, priority: priority)
        return try await pool.run {
            var keeping = options
            keeping.processing.recipe = ImageRecipe()
            return PendingStore(
                content: try Self.content(of: file), key: key, cache: cache, source: source,
                origin: VariantSource.origin(
                    original.origin, mark: original.mark, of: file.image.isExact ? original.format : nil),
                options: keeping, needs: needs, isOfExpired: isOfExpired)
        }
    }

    /// The file that the worker makes, once for all who want the same; it goes with the last who holds it.
    func render(
        _ original: Original, _ key: JobKey.Render, _ source: String, priority: CallPriority
    ) async throws -> RenderedFile {
        try await jobs.value(for: .render(key), priority: priority) { [self] _ in
            .rendered(try await render(original, key, source))
        }.file()
    }

    private func render(_ original: Original, _ key: JobKey.Render, _ source: String) async throws -> RenderedFile {
        let header = original.result.record.header
        try key.limits.check(header, source: source)
        let file = ScratchFile(try await pool.run { [spool] in try Self.partialPath(in: spool) })
        var output = key.recipe.output(of: header, to: file.path)
        if key.isRaw { output.rule = .pixels }
        let request = RenderRequest(
            source: original.path, format: header.format.rawValue,
            originalFormat: original.rest == nil ? nil : original.format.rawValue, outputs: [output],
            limits: key.limits)
        let reply: RenderReply
        do {
            reply = try await codec.render(request, cost: Self.cost(of: header))
        } catch let failure as CodecFailure {
            throw failure.imageError(source)
        }
        switch reply.outcomes.first {
        case .finished(let image):
            guard (image.format == "rgba") == key.isRaw else {
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
