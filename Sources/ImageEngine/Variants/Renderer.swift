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
                content: try Self.content(of: file), key: key, cache: cache, source: source,
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
        let request = RenderRequest(
            source: original.path, format: header.format.rawValue,
            originalFormat: original.rest == nil ? nil : original.format.rawValue, outputs: [output],
            limits: key.limits)
        do {
            let path = try await engine.pool.run { [spool = engine.spool] in
                try ImageError.reporting(spool.path) { try spool.partialPath("made") }
            }
            return try await render(request, into: ScratchFile(path), header, source)
        } catch let failure as ImageError {
            guard case .storageFailed = failure, key.mayBeUnnamed,
                let made = try await renderElsewhere(request, header, source)
            else { throw failure }
            return made
        }
    }

    /// Renders a file that the cache folder does not take to another place; `nil` when no other takes it either.
    private func renderElsewhere(
        _ request: RenderRequest, _ header: ImageHeader, _ source: String
    ) async throws -> RenderedFile? {
        for place in UnnamedFile.places {
            guard let file = try? place() else { continue }
            do {
                return try await render(request, into: ScratchFile(file), header, source)
            } catch ImageError.storageFailed {
                // The next place may take it.
            }
        }
        return nil
    }

    private func render(
        _ request: RenderRequest, into file: ScratchFile, _ header: ImageHeader, _ source: String
    ) async throws -> RenderedFile {
        var request = request
        request.outputs[0].path = file.path
        let reply: RenderReply
        do {
            reply = try await engine.codec.render(request, cost: RenderLimits.cost(of: header))
        } catch let failure as CodecFailure {
            throw failure.imageError(source)
        }
        switch reply.outcomes.first {
        case .finished(let image):
            guard (image.format == "rgba") == (request.outputs[0].rule == .pixels) else {
                throw CodecFailure.garbled(reason: "it made \(image.format)").imageError(source)
            }
            return RenderedFile(scratch: file, image: image)
        case .failed(let failure): throw failure.imageError(source)
        case nil: throw CodecFailure.garbled(reason: "no outcome").imageError(source)
        }
    }

    /// The content of a rendered file: the bytes of a small one, otherwise the file, which is deleted with the content.
    private static func content(of file: RenderedFile) throws(ImageError) -> DiskStorage.Content {
        if let unnamed = file.scratch.unnamed {
            let body = DownloadedBody(.unnamed(unnamed, count: file.image.byteCount))
            return body.count <= BodySpool.memoryLimit ? .bytes(try ImageCache.bytes(of: .body(body))) : .body(body)
        }
        guard let stamp = FileStamp(path: file.path) else {
            throw .storageFailed(reason: "The codec worker has left no file.", hint: "Try again.")
        }
        if stamp.size <= BodySpool.memoryLimit { return .bytes(try ImageCache.bytes(of: .file(file.path))) }
        let own = file.path + "~kept"
        guard link(file.path, own) == 0 else {
            throw .storageFailed(
                reason: "\(own) cannot be made: \(String(cString: strerror(errno))).",
                hint: "Check the cache folder.")
        }
        return .body(DownloadedBody(.file(path: own, count: stamp.size)))
    }
}
