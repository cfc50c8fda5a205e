internal import Glibc
internal import ImageRecipes
internal import Platform

/// Renders files from originals in the codec worker, each once for all equal requests.
struct Renderer: Sendable {
    let engine: EngineServices

    /// A rendered image that is to be stored.
    struct Rendered: Sendable {
        /// `true` when reading it may take long.
        let isLong: Bool
        /// The image as it is stored. Reads its file.
        let store: @Sendable () throws -> PendingStore
    }

    func rendered(
        _ original: Original, _ key: CacheKey, _ source: String, in cache: ImageCache, _ options: ImageOptions,
        needs: ImageNeeds, priority: any ChangingPriority = CallPriority(0.5), isOfExpired: Bool = false
    ) async throws -> Rendered {
        let work = RenderKey(
            mark: original.workMark, recipe: original.rest ?? options.processing.recipe,
            limits: options.processing.limits)
        let file = try await render(original, work, source, priority: priority)
        return Rendered(isLong: file.image.byteCount > BodySpool.memoryLimit) {
            var keeping = options
            keeping.processing.recipe = ImageRecipe()
            return PendingStore(
                content: try file.content(), key: key, cache: cache, source: source,
                origin: VariantSource.origin(
                    original.origin, mark: original.mark, of: file.image, from: original.format),
                options: keeping, needs: needs, isOfExpired: isOfExpired)
        }
    }

    /// The rendered file, shared by all equal requests; it is deleted with the last reference.
    func render(
        _ original: Original, _ key: RenderKey, _ source: String, priority: any ChangingPriority
    ) async throws -> RenderedFile {
        try await engine.jobs.value(for: HashedOnce(key), priority: priority) { [self] _ in
            try await render(original, key, source)
        }
    }

    private func render(_ original: Original, _ key: RenderKey, _ source: String) async throws -> RenderedFile {
        let header = original.result.record.header
        var output = key.recipe.output(of: header)
        let first = output.steps.first { !$0.changesNothing }
        try key.limits.check(header, source: source, isShrunk: first?.isResampling == true)
        if key.isRaw { output.rule = .pixels }
        var request = RenderRequest(
            source: original.path, format: header.format.rawValue,
            originalFormat: original.rest == nil ? nil : original.format.rawValue, outputs: [output],
            limits: key.limits)
        var places: [@Sendable () throws -> ScratchFile] = [
            { [spool = engine.spool] in ScratchFile(try spool.partialPath("made")) }
        ]
        if key.mayBeUnnamed { places += UnnamedFile.places.map { place in { ScratchFile(try place()) } } }
        // The error of the cache folder, when only other places are left to try.
        var refusal: ImageError?
        for place in places {
            let file: ScratchFile
            do { file = try await engine.pool.run(place) } catch {
                refusal = refusal ?? .storage(error, folder: engine.spool.path)
                continue
            }
            request.outputs[0].path = file.path
            switch try await outcome(of: request, header, source) {
            case .finished(let image): return RenderedFile(scratch: file, image: image)
            case .failed(let failure) where failure.kind == .resultFailed:
                refusal = refusal ?? failure.imageError(source)
            case .failed(let failure): throw failure.imageError(source)
            }
        }
        throw refusal ?? .noFileLeft
    }

    /// The outcome of a request with one output.
    private func outcome(of request: RenderRequest, _ header: ImageHeader, _ source: String) async throws
        -> RenderOutcome
    {
        do {
            let reply = try await engine.codec.render(request, cost: RenderLimits.cost(of: header))
            guard let outcome = reply.outcomes.first else { throw CodecFailure.garbled(reason: "no outcome") }
            if case .finished(let image) = outcome, (image.format == "rgba") != (request.outputs[0].rule == .pixels) {
                throw CodecFailure.garbled(reason: "it made \(image.format)")
            }
            return outcome
        } catch let failure as CodecFailure {
            throw failure.imageError(source)
        }
    }
}

extension RenderedFile {
    /// The bytes of a small file, otherwise the file, which stays as long as the content.
    fileprivate func content() throws(ImageError) -> DiskStorage.Content {
        let body: DownloadedBody
        if let unnamed = scratch.unnamed {
            body = DownloadedBody(.unnamed(unnamed, count: image.byteCount))
        } else {
            guard let stamp = FileStamp(path: path) else { throw .noFileLeft }
            body = DownloadedBody(.file(path: path, count: stamp.size), ownedBy: scratch)
        }
        return body.count <= BodySpool.memoryLimit ? .bytes(try ImageCache.bytes(of: .body(body))) : .body(body)
    }
}

extension ImageError {
    fileprivate static let noFileLeft = Self.storageFailed(
        reason: "The codec worker has left no file.", hint: "Try again.")
}
