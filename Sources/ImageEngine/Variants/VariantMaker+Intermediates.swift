internal import ImageRecipes

/// Cached results of a chain's prefixes, which are processed instead of the original.
extension VariantMaker {
    /// An intermediate that replaces an original which would have to be loaded.
    ///
    /// It is an image that could itself answer a request for that prefix: it has the freshness and the credentials of
    /// its original. Images that need revalidation or a check of digests are made from the original.
    ///
    /// - Returns: `nil` when the original is stored, or there is no such intermediate.
    func intermediate(insteadOf request: ImageRequest) async throws -> Original? {
        let (resource, options) = (request.resource, request.options)
        guard resource.isOnNetwork, options.lookup.integrity == nil, !options.lookup.forceRefresh else { return nil }
        // The original may need no processing, which only its header shows; then its own bytes are the answer.
        if options.processing.recipe.hasNoStep { return nil }
        let home = engine.lookup.originals(for: request.cache, options)
        let isMissing = try await found(for: request) {
            try await engine.lookup.lacks(
                engine.lookup.keys(resource, options), in: home, patience: options.patience, on: engine.pool)
        }
        guard isMissing == true else { return nil }
        let outgoing = request.outgoing
        return try await intermediate(of: request) { [engine] in !engine.scopes.isForeign($0, to: outgoing) }
    }

    /// An intermediate that is less work than the original: made from its exact bytes, with fewer pixels.
    func intermediate(of original: Original, _ request: ImageRequest) async throws -> Original? {
        let header = original.result.record.header
        guard original.rest == nil, !request.options.lookup.forceRefresh, !header.format.isVector else { return nil }
        let base = try await intermediate(of: request) { record in
            VariantSource.mark(of: record) == original.mark && record.header.pixelCount < header.pixelCount
        }
        guard var base else { return nil }
        // The intermediate may be limited to some credentials while this original is not.
        base.origin = original.origin
        return base
    }

    /// The intermediate of the longest prefix that the cache has and that may be used.
    private func intermediate(
        of request: ImageRequest, _ isWanted: @escaping @Sendable (ImageRecord) -> Bool
    ) async throws -> Original? {
        let (resource, cache, options) = (request.resource, request.cache, request.options)
        let prefixes = ChainPrefix.all(of: options.processing.recipe, forPixels: request.needs.contains(.pixels))
        let keys = engine.lookup.keys(resource, options)
        let wanted = prefixes.flatMap { prefix in keys.map { (prefix, prefix.recipe.cacheKey($0)) } }
        let isMissing = try await found(for: request) { try engine.lookup.lacks(wanted.map { $0.1 }, in: cache) }
        guard isMissing == false else { return nil }
        let looking = options.keepingOnlyCacheOptions.unchecked
        return try await engine.pool.runIfWanted { [engine] in
            for (prefix, key) in wanted {
                guard let known = try cache.knownHit(for: key)?.record, isWanted(known),
                    let format = known.origin.facts.exactSource, let mark = VariantSource.mark(of: known),
                    prefix.serves(known.header),
                    let hit = try cache.hit(for: key, options: looking.storage, patience: options.patience),
                    isWanted(hit.record), VariantSource.mark(of: hit.record) == mark,
                    // An unreadable intermediate is skipped, because the original remains.
                    var found = try? Original(
                        ImageResult(hit, in: cache, looking), in: cache, looking, mark: mark, spool: engine.spool)
                else { continue }
                (found.rest, found.format) = (prefix.rest, format)
                found.workMark = mark + " " + prefix.recipe.identifier
                return found
            }
            return nil
        }
    }
}

extension ImageHeader {
    /// The number of pixels in all frames together.
    var pixelCount: Int {
        let (one, isHuge) = width.multipliedReportingOverflow(by: height)
        let (all, isEndless) = one.multipliedReportingOverflow(by: frameCount)
        return isHuge || isEndless ? .max : all
    }
}
