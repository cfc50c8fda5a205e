internal import Glibc
internal import ImageRecipes
internal import Platform

/// Makes images from originals by recipes.
///
/// A made image has its own entry, which is looked up first. Otherwise the original comes from the cache or is loaded,
/// once, and the image is made once for all waiting requests.
struct VariantMaker: Sendable {
    let engine: EngineServices
    var pipeline: RequestPipeline { RequestPipeline(engine: engine) }

    /// What a look into the cache for a request finds; nothing where the cache cannot be used and the image may be loaded.
    func found<Value>(for request: ImageRequest, _ look: () async throws -> Value?) async throws -> Value? {
        do { return try await look() } catch let error as ImageError
            where engine.lookup.policy(request.resource, request.options).mayLoad(after: error)
        {
            return nil
        }
    }

    /// The stored made image.
    ///
    /// - Parameters:
    ///   - original: The original that it must have been made from, when known; a request that may have the original may
    ///     have the made image too.
    ///   - key: The key of what is made of it.
    private func made(
        _ request: ImageRequest, from original: Original? = nil, key: CacheKey? = nil
    ) async throws -> ImageResult? {
        let (cache, options) = (request.cache, request.options)
        if options.lookup.forceRefresh { return nil }
        let keys = key.map { [$0] } ?? engine.lookup.madeKeys(request.resource, options)
        if try engine.lookup.lacks(keys, in: cache) { return nil }
        let looking = options.unchecked
        return try await engine.pool.runIfWanted { [engine] in
            for key in keys {
                guard let hit = try cache.hit(for: key, options: looking.storage, patience: options.patience) else {
                    continue
                }
                if let original {
                    if VariantSource.mark(of: hit.record) != original.mark { continue }
                } else if try !engine.lookup.isUsable(hit.record, of: request.resource, in: cache, options) {
                    continue
                }
                engine.counts.count(hit.cacheType)
                return try engine.lookup.answer(hit, in: cache, looking, request.needs)
            }
            return nil
        }
    }

    /// The entry of the image that a request makes of an original: one of the user whom the original belongs to.
    private func madeKey(of original: Original, _ request: ImageRequest) -> CacheKey {
        let (key, recipe) = (original.result.record.key, request.options.processing.recipe)
        let own = engine.lookup.ownKey(request.resource, request.options)
        return recipe.cacheKey(key.partition.isEmpty ? own : own.sameUser(as: key))
    }

    /// Answers with the image that the options' recipe makes from a resource.
    func variantStep(_ request: ImageRequest) async throws -> RequestStep {
        // If revalidation may be needed, the original is revalidated.
        if request.mayRevalidate {
            if let step = try await checkedVariantStep(request) { return step }
        } else {
            if let known = try await found(for: request, { try await made(request) }) { return .answer(known) }
            if let base = try await intermediate(insteadOf: request) {
                do {
                    let result = try await variant(of: base, request)
                    engine.counts.count(base.result.cacheType)
                    return .answer(result)
                } catch let error as ImageError where base.isToBlame(for: error) {
                    // The original is loaded.
                }
            }
        }
        if let known = try await found(for: request, { try await remotelyMade(request) }) { return .answer(known) }
        return try await stepWithOriginal(request) { [self] in try await variant(of: $0, request) }
    }

    /// The image that the options' recipe makes from the given original.
    func variant(of original: Original, _ request: ImageRequest) async throws -> ImageResult {
        let (options, needs) = (request.options, request.needs)
        if original.rest == nil, options.processing.recipe.isNothing(for: original.result.record.header) {
            return try await untouched(original.result, request)
        }
        var keeping = options.keepingForVariants
        let record = original.result.entry?.record ?? original.result.record
        let isOfExpired = original.result.isStale && record.isExpired
        if isOfExpired { keeping.storage = keeping.storage.ofExpiredOriginal(needs) }
        let key = VariantKey(
            cache: request.cache.name, key: madeKey(of: original, request), mark: original.mark, options: keeping,
            needs: needs)
        var result = try await engine.jobs.value(
            for: HashedOnce(key), priority: request.caller.priority, lingers: options.caller.onLastCancel == .finish,
            joined: { _ in request.caller.joined() }
        ) { [self] job in
            try await makeVariant(of: original, request, key, priority: job, isOfExpired: isOfExpired)
        }
        if needs.contains(.bytes), result.bytes == nil, result.content == nil {
            result = try await engine.lookup.loadingBytes(of: result, in: request.cache, options: keeping, engine.pool)
        }
        // The state of the original for this request; it is neither stored nor shared with other waiting requests.
        result.noteLoad(of: original.result)
        result.storing += original.result.storing
        return result
    }

    /// The work of the job that makes a variant: looks it up again, makes it, and stores it.
    private func makeVariant(
        of original: Original, _ request: ImageRequest, _ key: VariantKey, priority: any ChangingPriority,
        isOfExpired: Bool
    ) async throws -> ImageResult {
        // Another job may have made it since the last look-up.
        let known = try await found(for: request) { try await made(request, from: original, key: key.key) }
        if let known { return known }
        func make(_ base: Original) async throws -> ImageResult {
            let made = try await Renderer(engine: engine).rendered(
                base, key.key, request.resource.name, in: request.cache, key.options, needs: key.needs,
                priority: priority, isOfExpired: isOfExpired)
            let result = try await ImageStorer(engine: engine).storeVerified(isLong: made.isLong, made.store)
            if !isOfExpired { remote(request, key.key)?.upload(result) }
            return result
        }
        if let base = try await intermediate(of: original, request) {
            do { return try await make(base) } catch let error as ImageError where base.isToBlame(for: error) {
                // Falls back to the original.
            }
        }
        return try await make(original)
    }

    /// How an original is loaded.
    enum Loading {
        case first
        /// The file of the first one was removed: this one is for this request alone, so that nothing else can remove it.
        case alone
        /// The one that was there cannot be decoded, and may be of the remote tier: its source may have a better one.
        case fromSource
    }

    /// Runs work on the original, from the cache or from its source.
    func stepWithOriginal(
        _ request: ImageRequest, _ way: Loading = .first,
        _ work: @escaping @Sendable (Original) async throws -> ImageResult
    ) async throws -> RequestStep {
        let home = engine.lookup.originals(for: request.cache, request.options)
        let options =
            switch way {
            case .alone where mayAskSource(request): request.options.keepingNoOriginal
            case .fromSource: request.options.refreshing
            case .first, .alone: request.options
            }
        let loading = request.with(options).loadingOriginal(in: home)
        return try await pipeline.firstStep(loading).then { [self] loaded in
            try await stepWithOriginal(loaded, by: loading, request, way, work)
        }
    }

    private func mayAskSource(_ request: ImageRequest) -> Bool {
        !engine.lookup.policy(request.resource, request.options).staysInCache
            && !engine.lookup.isOffline(request.options)
    }

    /// Runs work on a loaded original. If it is removed before the worker opens its file, or what was made of it before it is
    /// read, it is loaded again, once. So is one that cannot be decoded where there is a remote tier, because no request fails
    /// for that; it is noted with the entry, so that each image is loaded again once.
    func stepWithOriginal(
        _ loaded: ImageResult, by loading: ImageRequest, _ request: ImageRequest, _ way: Loading = .first,
        _ work: @escaping @Sendable (Original) async throws -> ImageResult
    ) async throws -> RequestStep {
        let prepare = { @Sendable [engine] in
            let isNew = loaded.cacheType == .none
            let original = try Original(
                loaded, in: loading.cache, loading.options,
                mark: isNew ? engine.lookup.sourceMark(request.resource) : nil, spool: engine.spool)
            if isNew, request.resource.isOnNetwork, loading.options.storage.keepsNothing {
                original.replaceStored(in: loading.cache)
            }
            return original
        }
        do {
            let original = Original.isReady(loaded) ? try prepare() : try await engine.pool.run(prepare)
            try Task.checkCancellation()
            return .answer(try await work(original))
        } catch ImageError.storageFailed where loaded.isGone && way == .first, ImageError.notCached where way == .first
        {
            return try await stepWithOriginal(request, .alone, work)
        } catch ImageError.badData(let reason, let source, let sample)
            where engine.remote != nil && source == request.resource.name && !loaded.record.isLocalFile
        {
            let isNews = loaded.cacheType != .none && loaded.record.decodeVerdict != .damaged
            _ = try await engine.pool.run {
                DecodeVerifier.noting(.damaged, of: loaded, in: loading.cache, loading.options)
            }
            guard way == .first, isNews, mayAskSource(request) else {
                throw ImageError.badData(reason: reason, source: source, sample: sample)
            }
            return try await stepWithOriginal(request, .fromSource, work)
        }
    }

    /// The original as the answer when it needs no processing; stored like an image requested without a recipe.
    func untouched(_ loaded: ImageResult, _ request: ImageRequest) async throws -> ImageResult {
        let (record, cache, options) = (loaded.record, request.cache, request.options)
        guard record.path == nil, loaded.cacheType.isNew || !options.storage.cacheMemoryOnly else { return loaded }
        if let known = loaded.entry?.record, known.path != nil {
            var found = loaded
            found.record = known
            return found
        }
        guard let content = loaded.bytes.map({ .bytes($0) }) ?? loaded.content else { return loaded }
        let kept = try await ImageStorer(engine: engine).verifyAndStore(
            PendingStore(
                content: content, key: record.key, cache: cache, source: record.key.key, origin: record.origin,
                options: options.keepingOnlyCacheOptions.unchecked, needs: request.needs, patience: options.patience))
        var result = kept
        result.cacheType = loaded.cacheType
        result.noteLoad(of: loaded)
        return result
    }

    // MARK: Made images of other machines

    /// The way of a request to the remote tier for a made image; `nil` when there is no such tier.
    func remote(_ request: ImageRequest, _ key: CacheKey) -> RemoteAccess? {
        RemoteAccess.loading(
            request.resource, request.outgoing, to: key, in: request.cache, needs: request.needs, engine)
    }

    /// The made image out of the remote tier, stored here, for all equal requests; `nil` when the tier has none, or the original
    /// is here: then it is made from that.
    func remotelyMade(_ request: ImageRequest) async throws -> ImageResult? {
        let (cache, options) = (request.cache, request.options)
        let key = options.processing.recipe.cacheKey(engine.lookup.ownKey(request.resource, options))
        guard let remote = remote(request, key), remote.mayRead,
            !engine.lookup.policy(request.resource, options).staysInCache,
            !engine.lookup.isOffline(options),
            try await engine.lookup.lacks(
                engine.lookup.keys(request.resource, options), in: engine.lookup.originals(for: cache, options),
                patience: options.patience, on: engine.pool)
        else { return nil }
        // Nothing has an empty mark that was made here.
        let job = VariantKey(
            cache: cache.name, key: key, mark: "", options: options.keepingForVariants, needs: request.needs)
        do {
            return try await engine.jobs.value(
                for: HashedOnce(job), priority: request.caller.priority,
                lingers: options.caller.onLastCancel == .finish, joined: { _ in request.caller.joined() }
            ) { [engine] _ in
                guard let store = try await remote.image() else { throw NotInRemoteTier() }
                return remote.answer(with: try await ImageStorer(engine: engine).verifyAndStore(store))
            }
        } catch is NotInRemoteTier {
            return nil
        }
    }
}

/// The error of a job that looked for a made image in the remote tier, and found none.
private struct NotInRemoteTier: Error {}
