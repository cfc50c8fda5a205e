internal import ImageRecipes
internal import Platform

/// An image that a caller provides: it is stored, not loaded.
public enum GivenImage: Sendable {
    /// The bytes.
    case bytes([UInt8])
    /// A file of the user, by path.
    case file(String)

    /// `true` when the bytes are in memory and not more than ``BodySpool/memoryLimit``.
    var isSmall: Bool {
        if case .bytes(let bytes) = self { bytes.count <= BodySpool.memoryLimit } else { false }
    }
}

/// Receives the result of a store once, on this or another thread; it must not block: other stores wait.
public typealias StoreEnd = @Sendable (Result<ImageResult, ImageError>) -> Void

/// Stores given, loaded and made images.
struct ImageStorer: Sendable {
    let engine: EngineServices

    /// Stores an image under a key; see ``ImageManager/store(_:for:in:options:overwrites:metadata:then:)``.
    ///
    /// - Parameter isSecondTry: `true` when the file was being replaced at the first: it is whole now.
    func store(
        _ given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool,
        metadata: String?, isSecondTry: Bool = false,
        then: @escaping StoreEnd
    ) {
        let end = { @Sendable [self] (result: Result<ImageResult, ImageError>) in
            guard !isSecondTry, case .failure(.storageFailed(_, _, .changing)) = result else { return then(result) }
            store(
                given, for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata,
                isSecondTry: true, then: then)
        }
        let briefly = overwrites ? cache.ifBrief : nil
        engine.pool.submit(briefFor: given.isSmall ? briefly : nil, isLong: !given.isSmall) { [self] in
            let store: PendingStore
            do throws(ImageError) {
                store = try storing(given, for: key, in: cache, options, overwrites: overwrites, metadata: metadata)
            } catch {
                return end(.failure(error))
            }
            // Reading a user's file may take long: it is done first, then the bytes are stored together with others.
            let count = StorageFolder.count(of: store.content)
            guard let briefly, !given.isSmall, store.content.isInMemory, count <= BodySpool.memoryLimit,
                engine.readAhead.take(count)
            else { return store.run { end($0.map(\.stored)) } }
            engine.pool.submit(briefFor: briefly, isLast: true) { [self] in
                store.run { result in
                    engine.readAhead.giveBack(count)
                    end(result.map(\.stored))
                }
            }
        }
    }

    /// A given image, prepared for storing.
    func storing(
        _ given: GivenImage, for key: CacheKey, in cache: ImageCache, _ options: ImageOptions, overwrites: Bool,
        metadata: String?
    ) throws(ImageError) -> PendingStore {
        let (content, source): (DiskStorage.Content, String)
        switch given {
        case .bytes(let bytes):
            guard bytes.count <= options.network.limits.maxBytes else { throw options.network.limits.tooLarge(key.key) }
            (content, source) = (.bytes(bytes), key.key)
        case .file(let path):
            let path = absolutePath(path)
            (content, source) = (try LocalFile(path: path, options: options).content(), FileURL.text(path))
        }
        // Bytes that are in memory are put into the memory tier too, as in Kingfisher.
        var store = PendingStore(
            content: content, key: key, cache: cache, source: source, origin: ImageOrigin(), options: options,
            needs: content.isInMemory ? [.file, .bytes] : [.file], overwrites: overwrites, metadata: metadata,
            isGiven: true)
        if case .file = given { store.isOfFile = true }
        return store
    }

    // MARK: Loaded images

    /// Decodes a loaded image if the options require that, stores it as its ``StoragePlan`` says, and returns the answer.
    func verifyAndStore(_ store: PendingStore) async throws -> ImageResult {
        let verified =
            store.options.lookup.verifyDecode == true ? try await DecodeVerifier(engine: engine).verified(store) : store
        return try await storeVerified(isLong: verified.isLong) { verified }
    }

    /// Stores a made image, or a loaded one that is decoded already if the options require that, and returns the answer.
    ///
    /// - Parameter isLong: `true` when preparing the store may take long.
    func storeVerified(
        isLong: Bool, _ prepare: @escaping @Sendable () throws -> PendingStore
    ) async throws -> ImageResult {
        try await withCheckedThrowingContinuation { continuation in
            engine.pool.submit(isLong: isLong) { [self] in
                do {
                    storeVerified(try prepare(), holding: nil) { continuation.resume(with: $0) }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
    }

    /// Stores a loaded image, already decoded if the options require that. Waits for the disk, but not for the index.
    ///
    /// - Parameters:
    ///   - owner: An object that is kept alive until the image is stored.
    ///   - isAwaited: `false` when no caller receives the result; an image that was not stored is then logged.
    ///   - then: Receives the answer once, on this or another thread; it must not block: other stores wait.
    func storeVerified(
        _ store: PendingStore, holding owner: (any AnyObject & Sendable)?, isAwaited: Bool = true,
        then: @escaping @Sendable (Result<ImageResult, any Error>) -> Void
    ) {
        let plan = store.policy.answersFirst ? store.plan : nil
        guard let plan, plan.answersFirst else {
            return storeAndCount(store, isAwaited: isAwaited) { then($0.mapError { $0 }) }
        }
        do {
            var result = try store.withoutFile(plan.reason)
            let (isAwaited, backlogs) = (result.notStored != nil, [Backlog(), engine.unawaited])
            result.storing = [backlogs[0]]
            for backlog in backlogs { backlog.begin() }
            engine.pool.submit(isLong: store.isLong) { [self] in
                storeAndCount(store, isAwaited: isAwaited) { _ in
                    withExtendedLifetime(owner) {}
                    for backlog in backlogs { backlog.end() }
                }
            }
            then(.success(result))
        } catch {
            then(.failure(error))
        }
    }

    /// Stores an image and counts it if no tier keeps it. Waits for the disk, but not for the index.
    private func storeAndCount(
        _ store: PendingStore, isAwaited: Bool,
        then: @escaping StoreEnd
    ) {
        store.run { [counts = engine.counts] result in
            store.note(result, in: counts, isAwaited: isAwaited)
            then(result)
        }
    }

    // MARK: Processed forms of given images

    /// Stores the result of the options' recipe; see
    /// ``ImageManager/storeVariant(of:for:in:options:overwrites:metadata:)``.
    func storeVariant(
        of given: GivenImage, for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool,
        metadata: String?
    ) async throws -> ImageResult {
        let options = cache.completed(options)
        if options.lookup.verifyDecode == true || options.processing.recipe.isEmpty {
            var store = try await engine.pool.run(isLong: !given.isSmall) { [self] in
                try storing(
                    given, for: key, in: cache, options, overwrites: overwrites, metadata: metadata)
            }
            if options.lookup.verifyDecode == true { store = try await DecodeVerifier(engine: engine).verified(store) }
            if options.processing.recipe.isEmpty {
                return try await engine.pool.run(isLong: store.isLong) { [store] in try store.run().stored }
            }
        }
        let original = try await original(
            given, for: key, in: engine.lookup.originals(for: cache, options), options, overwrites: overwrites)
        if options.processing.recipe.isNothing(for: original.result.record.header),
            options.processing.cacheOriginalImage
        {
            return original.result.stored
        }
        func rendered(_ original: Original) async throws -> Renderer.Rendered {
            try await Renderer(engine: engine).rendered(
                original, options.processing.recipe.cacheKey(key), key.key, in: cache, options.keepingForVariants,
                needs: [.file, .bytes])
        }
        let made: Renderer.Rendered
        do { made = try await rendered(original) } catch ImageError.storageFailed where original.result.isGone {
            // Somebody has removed the original meanwhile: it is made of what was given.
            var own = options
            own.processing.cacheOriginalImage = false
            made = try await rendered(try await self.original(given, for: key, in: cache, own, overwrites: false))
        }
        return try await engine.pool.run(isLong: made.isLong) {
            var store = try made.store()
            store.overwrites = overwrites
            store.metadata = metadata
            store.isGiven = true
            return try store.run().stored
        }
    }

    /// Makes the result of the options' recipe; see ``ImageManager/made(of:named:in:options:)``.
    func made(
        of given: GivenImage, named name: String, in cache: ImageCache, options: ImageOptions
    ) async throws -> ImageResult {
        var options = cache.completed(options)
        options.processing.cacheOriginalImage = false
        let key = CacheKey(name)
        let original = try await original(given, for: key, in: cache, options, overwrites: false)
        let made = try await Renderer(engine: engine).rendered(
            original, key, name, in: cache, options.keepingForVariants, needs: .bytes)
        return try await engine.pool.run(isLong: made.isLong) { try made.store().withoutFile() }
    }

    /// The original with a file for the worker; stored if the options keep originals.
    private func original(
        _ given: GivenImage, for key: CacheKey, in home: ImageCache, _ options: ImageOptions, overwrites: Bool
    ) async throws -> Original {
        var loading = options
        loading.processing.recipe = ImageRecipe()
        loading.storage.forcedCacheFileExtension = nil
        return try await engine.pool.run(isLong: !given.isSmall) { [self, loading] in
            let store = try storing(given, for: key, in: home, loading, overwrites: overwrites, metadata: nil)
            var result: ImageResult
            if options.processing.cacheOriginalImage {
                // An existing original that was not replaced is the one that variants are made from.
                result = try store.run().stored
            } else {
                result = try store.withoutFile()
                result.content = store.content
            }
            let original = try Original(result, in: home, loading, spool: engine.spool)
            if overwrites, !options.processing.cacheOriginalImage { original.replaceStored(in: home) }
            return original
        }
    }
}
