internal import Platform

/// The options that single steps of a request use: those of the caller, with some at their defaults. A new option belongs
/// into each of these or not; `DerivedOptionTests` lists every option with those that leave it out.
extension ImageOptions {
    /// The options that decide on the bytes of an entry; those of one caller and of processing are at their defaults.
    public var decidingTheEntry: ImageOptions {
        if box === Self.standard { return self }
        let defaults = Self.standard.fields
        var deciding = self
        deciding.change { deciding in
            deciding.caller = defaults.caller
            deciding.network.merges = defaults.network.merges
            // A delegate decides for all callers of a transfer, so its callers share none when their limits differ.
            if deciding.network.delegates == nil { deciding.network.limits = defaults.network.limits }
            deciding.network.retry = defaults.network.retry
            deciding.network.waitForConnectivity = defaults.network.waitForConnectivity
            deciding.lookup.negativeCache = defaults.lookup.negativeCache
            deciding.lookup.staleIfError = defaults.lookup.staleIfError
            deciding.storage.lease = defaults.storage.lease
            deciding.processing.wantsPreview = defaults.processing.wantsPreview
            deciding.processing.recipe = defaults.processing.recipe
        }
        return deciding
    }

    /// The options that decide on acceptance and storage of a loaded image. Those for loading are at their defaults.
    var keepingOnlyCacheOptions: ImageOptions {
        box.kept.withLock { known in
            if let known { return known }
            let kept = onlyCacheOptions
            // Nothing holds itself.
            if kept.box !== box { known = kept }
            return kept
        }
    }

    private var onlyCacheOptions: ImageOptions {
        let defaults = Self.standard.fields
        var kept = box.fields
        (kept.network, kept.caller) = (defaults.network, defaults.caller)
        kept.storage.memoryCacheAccessExtendingExpiration = nil
        kept.storage.diskCacheAccessExtendingExpiration = nil
        kept.lookup.onlyFromCache = defaults.lookup.onlyFromCache
        kept.lookup.offline = defaults.lookup.offline
        kept.lookup.staleIfError = defaults.lookup.staleIfError
        kept.lookup.negativeCache = defaults.lookup.negativeCache
        kept.lookup.originalCache = defaults.lookup.originalCache
        (kept.lookup.scope, kept.lookup.credentialScope) = (nil, .separate)
        let limits = kept.processing.limits
        kept.processing = defaults.processing
        if kept.lookup.verifyDecode == true { kept.processing.limits = limits }
        // Most waiting requests share one copy. None of these options has texts that are equal with different bytes.
        return Self.lastKept.value(for: kept) { ImageOptions(kept) }
    }

    private static let lastKept = LastValue<Fields, ImageOptions>()

    /// The options for storing and answering what a recipe makes; its bytes are not those of the original.
    var keepingForVariants: ImageOptions {
        var keeping = keepingOnlyCacheOptions.unchecked
        keeping.change { [self] keeping in
            keeping.processing.recipe = self.processing.recipe
            keeping.processing.limits = self.processing.limits
        }
        return keeping
    }

    /// The options for loading the original of what a recipe makes.
    func loadingOriginal(of resource: Resource) -> ImageOptions {
        var loading = self
        loading.change { loading in
            loading.processing.recipe = ImageRecipe()
            loading.network.onFailureImage = nil
            loading.storage.forcedCacheFileExtension = nil
            loading.storage.queryDataWhenInMemory = false
            loading.lookup.originalCache = nil
            if !loading.processing.cacheOriginalImage || !resource.isOnNetwork { loading.storage.keepNothing() }
            // A local source is read again, because the cached image may be outdated.
            if !resource.prefersCache { loading.lookup.forceRefresh = true }
        }
        return loading
    }

    /// The options for an original that is loaded for one request alone and deleted with it.
    var keepingNoOriginal: ImageOptions {
        var own = self
        own.change { own in
            own.lookup.forceRefresh = true
            own.processing.cacheOriginalImage = false
        }
        return own
    }

    /// The same options for a request that ignores cached images.
    var refreshing: ImageOptions {
        var refreshing = self
        refreshing.lookup.forceRefresh = true
        return refreshing
    }

    /// The options without the checks of the bytes, for those that have been checked or are not the original's.
    var unchecked: ImageOptions {
        var unchecked = self
        unchecked.change { ($0.lookup.integrity, $0.lookup.verifyDecode) = (nil, nil) }
        return unchecked
    }

    /// The options for an image that is stored already, of whatever size.
    var ofAnySize: ImageOptions {
        var options = self
        options.network.limits.maxBytes = .max
        return options
    }
}
