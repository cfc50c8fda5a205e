internal import ImageRecipes
internal import Platform

/// Raw pixels: RGBA, eight bits each, sRGB, not premultiplied; the frames one below the other.
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

extension VariantMaker {
    /// Answers with the pixels that the recipe of the options makes. They are not cached; the original is, as the options
    /// say.
    ///
    /// Like images, they are made of what the cache has of the beginning of the chain, or of all of it, where that spares
    /// loading or decoding the original.
    func pixelsStep(_ request: ImageRequest) async throws -> RequestStep {
        // What may have to be revalidated is revalidated by its original.
        if !request.mayRevalidate, let base = try await intermediate(insteadOf: request),
            let made = try await pixels(insteadOf: base, request)
        {
            engine.counts.count(base.result.cacheType)
            return .answer(base.result.with(made))
        }
        return try await stepWithOriginal(request) { [self] original in
            if let base = try await intermediate(of: original, request),
                let made = try await pixels(insteadOf: base, request)
            {
                return original.result.with(made)
            }
            return original.result.with(try await rawPixels(of: original, request))
        }
    }

    /// The pixels of what stands in for the original; `nil` where it is of no use after all.
    private func pixels(insteadOf base: Original, _ request: ImageRequest) async throws -> PixelFile? {
        do {
            return try await rawPixels(of: base, request)
        } catch let error as ImageError where base.isToBlame(for: error) {
            return nil
        }
    }

    private func rawPixels(of original: Original, _ request: ImageRequest) async throws -> PixelFile {
        let options = request.options
        let key = JobKey.Render(
            mark: original.workMark, recipe: original.rest ?? options.processing.recipe,
            limits: options.processing.limits, isRaw: true)
        let file = try await Renderer(engine: engine).render(
            original, key, request.resource.url, priority: request.caller.priority)
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

extension ImageResult {
    /// The result with pixels.
    fileprivate func with(_ pixels: PixelFile) -> ImageResult {
        var result = self
        result.pixels = pixels
        return result
    }
}
