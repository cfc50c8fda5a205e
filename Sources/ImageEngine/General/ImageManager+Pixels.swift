internal import ImageRecipes

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
    public func pixels(
        of resource: Resource, in cache: ImageCache, options: ImageOptions, caller: ImageCaller? = nil
    ) async throws -> (original: ImageResult, pixels: PixelFile) {
        let options = completed(options, for: cache)
        let caller = caller ?? ImageCaller(priority: CallPriority(options.downloadPriority))
        let original = try await original(of: resource, in: cache, options, caller)
        let wish = RenderWish(mark: original.mark, recipe: options.recipe, limits: options.limits, isRaw: true)
        let file = try await renders.value(for: wish, priority: caller.priority) { [self] _ in
            try await render(original, wish, resource.url)
        }
        let lease = options.lease ?? ImageCache.lease
        Task {
            try? await Task.sleep(for: .seconds(lease))
            withExtendedLifetime(file) {}
        }
        let image = file.image
        return (
            original.result,
            PixelFile(
                path: file.path, width: image.width, height: image.height, frameCount: image.frameCount,
                stride: image.stride, byteCount: image.byteCount, delays: image.delays, loopCount: image.loopCount)
        )
    }
}
