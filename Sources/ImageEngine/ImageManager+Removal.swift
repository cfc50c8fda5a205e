/// Images that are taken out by hand.
extension ImageManager {
    /// Removes an image from the tiers chosen; see ``ImageCache/remove(_:fromMemory:fromDisk:allVariants:)``.
    ///
    /// - Parameter then: Is told what went, once and from another thread; it must not wait, for others do.
    public func remove(
        _ key: CacheKey, from cache: ImageCache, fromMemory: Bool = true, fromDisk: Bool = true,
        allVariants: Bool = false, then: @escaping @Sendable (Result<ImageCache.Removed, ImageError>) -> Void
    ) {
        // What stays in memory is read first, and variants may be many.
        let isBrief = fromMemory && !allVariants
        pool.submit(briefFor: isBrief ? cache.ifBrief : nil) {
            cache.remove(key, fromMemory, fromDisk, allVariants, in: cache.queue, then: then)
        }
    }
}
