internal import ImageRecipes
internal import Platform

/// Raw pixels: RGBA, eight bits each, sRGB, not premultiplied; the frames one below the other (D-20).
public struct PixelFile: Sendable {
    /// The file; it stays for the lease of the options, 60 s by default, and is gone after that or with the process.
    public let path: String
    /// In pixels.
    public let width: Int
    /// Of one frame, in pixels.
    public let height: Int
    /// How many frames there are.
    public let frameCount: Int
    /// Bytes from one row to the next.
    public let stride: Int
    /// The size of the file.
    public let byteCount: Int
    /// How long each frame is shown, in milliseconds; empty for a still.
    public let delays: [Int]
    /// How often the animation is played; 0 for ever.
    public let loopCount: Int
}

extension ImageManager {
    /// The pixels that the recipe of the options makes of a resource. They are not cached; the original is, as the options
    /// say.
    ///
    /// Like images, they are made of what the cache has of the beginning of the chain, or of all of it, where that spares
    /// loading or decoding the original.
    ///
    /// - Returns: The original, or what was worked on because the original was not at hand; and the pixels.
    public func pixels(
        of resource: Resource, in cache: ImageCache, options: ImageOptions, caller: ImageCaller? = nil
    ) async throws -> (original: ImageResult, pixels: PixelFile) {
        let options = completed(options, for: cache)
        let caller = caller ?? ImageCaller(priority: CallPriority(options.caller.downloadPriority))
        // What may have to be checked with its server is checked by its original.
        let isChecked = (options.lookup.revalidate ?? .never) != .never && resource.isOnNetwork
        if !isChecked, let base = try await intermediate(insteadOf: resource, in: cache, options, forPixels: true),
            let made = try await pixels(of: base, resource, options, caller)
        {
            count(base.result.cacheType)
            return (base.result, made)
        }
        return try await withOriginal(of: resource, in: cache, options, caller) { original in
            if let base = try await intermediate(of: original, resource, in: cache, options, forPixels: true),
                let made = try await pixels(of: base, resource, options, caller)
            {
                return (original.result, made)
            }
            return (original.result, try await rawPixels(of: original, resource, options, caller))
        }
    }

    /// The pixels of what stands in for the original; nil where it is of no use after all.
    private func pixels(
        of base: Original, _ resource: Resource, _ options: ImageOptions, _ caller: ImageCaller
    ) async throws -> PixelFile? {
        do {
            return try await rawPixels(of: base, resource, options, caller)
        } catch let error as ImageError where base.isToBlame(for: error) {
            return nil
        }
    }

    private func rawPixels(
        of original: Original, _ resource: Resource, _ options: ImageOptions, _ caller: ImageCaller
    ) async throws -> PixelFile {
        let jobKey = RenderJobKey(
            mark: original.workMark, recipe: original.rest ?? options.processing.recipe,
            limits: options.processing.limits, isRaw: true)
        let file = try await renders.value(for: jobKey, priority: caller.priority) { [self] _ in
            try await render(original, jobKey, resource.url)
        }
        let lease = options.storage.lease ?? ImageCache.lease
        Task {
            try? await Task.sleep(for: .seconds(lease))
            withExtendedLifetime(file) {}
        }
        let image = file.image
        return PixelFile(
            path: file.path, width: image.width, height: image.height, frameCount: image.frameCount,
            stride: image.stride, byteCount: image.byteCount, delays: image.delays, loopCount: image.loopCount)
    }
}
