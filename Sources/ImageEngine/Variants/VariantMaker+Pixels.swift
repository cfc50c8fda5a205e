internal import ImageRecipes
internal import Platform

extension VariantMaker {
    /// Answers with the pixels that the options' recipe makes. Only the original is cached, as the options say.
    ///
    /// They are made from a cached intermediate, or from the cached result of the whole chain, where that avoids
    /// loading or decoding the original.
    func pixelsStep(_ request: ImageRequest) async throws -> RequestStep {
        // If revalidation may be needed, the original is revalidated.
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

    /// The pixels made from an intermediate; `nil` when its file is gone or damaged.
    private func pixels(insteadOf base: Original, _ request: ImageRequest) async throws -> PixelFile? {
        do {
            return try await rawPixels(of: base, request)
        } catch let error as ImageError where base.isToBlame(for: error) {
            return nil
        }
    }

    private func rawPixels(of original: Original, _ request: ImageRequest) async throws -> PixelFile {
        let options = request.options
        let key = RenderKey(
            mark: original.workMark, recipe: original.rest ?? options.processing.recipe,
            limits: options.processing.limits, isRaw: true, mayBeUnnamed: request.needs.contains(.bytes))
        let file = try await Renderer(engine: engine).render(
            original, key, request.resource.name, priority: request.caller.priority)
        let lease = options.storage.lease ?? ImageCache.lease
        // One without a name stays as long as the result.
        guard lease > 0, file.scratch.unnamed == nil else { return PixelFile(path: file.path, file: file) }
        let path = try await engine.pool.run {
            try request.cache.lend(
                file.path, bytes: file.image.byteCount, for: lease, source: request.resource.name)
        }
        return PixelFile(path: path, file: file)
    }
}

extension ImageResult {
    fileprivate func with(_ pixels: PixelFile) -> ImageResult {
        var result = self
        result.pixels = pixels
        return result
    }
}
