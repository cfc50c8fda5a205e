internal import ImageEngine

extension Gallery {
    /// The seconds past what its server allows for which a cached picture stands in for one that cannot be loaded; not past its
    /// life in the cache.
    private static let standIn = 604_800.0

    /// Loads a picture of the web into the cache. When it is there, its server is asked whether it has changed, unless the
    /// settings of the cache say when to ask.
    ///
    /// - Returns: Where it comes from, for a sentence about it, when it is not what the server has now.
    func load(_ resource: Resource, _ progress: ToolProgress?) async throws -> String? {
        guard resource.isOnNetwork else { return nil }
        let cache = try cache()
        var options = options
        if cache.revalidation == .never { options.lookup.revalidate = .always }
        options.lookup.staleIfError = Self.standIn
        let image: ImageResult
        do {
            image = try await self.image(resource, options, needs: [], progress)
        } catch ImageError.storageFailed, ImageError.notStored {
            // Without a cache, each step loads it for itself.
            return nil
        }
        guard !image.cacheType.isNew, !image.isRevalidated else { return nil }
        let age = Self.words(forSeconds: cache.disk.clock.now - image.record.storedAt)
        return "comes from the cache, stored \(age) ago; its server \(image.isStale ? "could" : "need") not be asked"
    }

    private static func words(forSeconds seconds: Int) -> String {
        for (unit, name) in [(86_400, "day"), (3600, "hour"), (60, "minute")] where seconds >= unit {
            let count = seconds / unit
            return "\(count) \(name)\(count == 1 ? "" : "s")"
        }
        return "less than a minute"
    }
}
