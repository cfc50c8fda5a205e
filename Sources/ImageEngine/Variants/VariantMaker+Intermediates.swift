internal import ImageRecipes

/// Cached beginnings of a chain, worked on instead of the original.
extension VariantMaker {
    /// A beginning of the chain of the options that stands in for the original, because that would have to be loaded.
    ///
    /// It is what would be answered itself to a request for just that much of the chain: the freshness and the credentials
    /// of its original are its own. What is to be checked with its server, or against digests, is made of the original.
    ///
    /// - Returns: nil if the original is at hand, or there is no such beginning.
    func intermediate(insteadOf request: ImageRequest) async throws -> Original? {
        let (resource, options) = (request.resource, request.options)
        guard resource.isOnNetwork, options.lookup.integrity == nil, !options.lookup.forceRefresh else { return nil }
        // Nothing may be left to do then, which only the original shows: its own bytes are the answer.
        if options.processing.recipe.hasNoStep { return nil }
        let home = engine.lookup.originals(for: request.cache, options)
        guard try home.cacheType(for: request.key, burst: 0, mayWait: false) == CacheType.none else {
            return nil
        }
        return try await intermediate(of: request) { [engine] record in
            !record.isPersonal || !options.asksToModify && engine.scopes.mayAnswer(record, to: resource.url, options)
        }
    }

    /// A beginning of the chain of the options that is less work than the original: made of its very bytes, and of fewer
    /// pixels.
    func intermediate(of original: Original, _ request: ImageRequest) async throws -> Original? {
        let header = original.result.record.header
        guard original.rest == nil, !request.options.lookup.forceRefresh, header.format != .svg else { return nil }
        let found = try await intermediate(of: request) { record in
            VariantSource.mark(of: record) == original.mark && record.header.pixelCount < header.pixelCount
        }
        guard var base = found else { return nil }
        // The beginning may be somebody's own, and this original everybody's.
        base.origin = original.origin
        return base
    }

    /// The longest beginning that a cache has and that may be used.
    private func intermediate(
        of request: ImageRequest, _ isWanted: @escaping @Sendable (ImageRecord) -> Bool
    ) async throws -> Original? {
        let (resource, cache, options) = (request.resource, request.cache, request.options)
        let prefixes = ChainPrefix.all(of: options.processing.recipe, forPixels: request.needs.contains(.pixels))
        if prefixes.isEmpty { return nil }
        var looking = options.keepingOnlyCacheOptions
        looking.lookup.integrity = nil
        return try await engine.pool.runIfWanted { [engine, looking] in
            for prefix in prefixes {
                let key = prefix.recipe.cacheKey(resource.cacheKey)
                guard let known = try cache.knownRecord(for: key), isWanted(known),
                    let format = VariantSource.exactlyMade(known), let mark = VariantSource.mark(of: known),
                    prefix.serves(known.header),
                    let hit = try cache.hit(for: key, options: looking.storage, burst: 0, mayWait: true),
                    isWanted(hit.record),
                    VariantSource.mark(of: hit.record) == mark,
                    // What cannot be read is no help, and no harm: there is the original.
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
    /// The pixels of all frames together.
    var pixelCount: Int {
        let (one, isHuge) = width.multipliedReportingOverflow(by: height)
        let (all, isEndless) = one.multipliedReportingOverflow(by: frameCount)
        return isHuge || isEndless ? .max : all
    }
}
