internal import ImageRecipes
internal import Platform

/// Verifies that images can be decoded completely before they are answered and stored: `verifyDecode`.
///
/// The worker decodes every frame and writes nothing. The verdict is stored with the entry, so that each image is
/// decoded once: a sound image is answered from then on; a damaged one is no hit for requests with `verifyDecode`, but
/// still one for the others.
struct DecodeVerifier: Sendable {
    let engine: EngineServices

    /// Answers with the image after complete decoding; a stored image is decoded now, unless it has a verdict already.
    /// A damaged image is loaded again, once.
    func step(_ request: ImageRequest, isLastTry: Bool = false) async throws -> RequestStep {
        try await RequestPipeline(engine: engine).imageStep(request).then { [self] result in
            if result.record.decodeVerdict == .sound { return .answer(result) }
            do {
                return .answer(try await verified(result, request))
            } catch ImageError.badData where !isLastTry && result.cacheType != .none {
                // The verdict is stored now, so the next try does not hit this entry.
            } catch ImageError.storageFailed where !isLastTry && !result.record.isIntact(burst: 0) {
                // The file was removed before the worker opened it.
            }
            return try await step(request, isLastTry: true)
        }
    }

    /// The result after decoding its image; the verdict is stored with the entry.
    private func verified(_ result: ImageResult, _ request: ImageRequest) async throws -> ImageResult {
        let (cache, options, source) = (request.cache, request.options, request.resource.name)
        let isLocal = result.record.isLocalFile
        let original = try await engine.pool.run { [engine] in
            try Original(
                result, in: cache, options,
                mark: isLocal ? result.record.path.flatMap { VariantSource.mark(file: $0) } : nil, spool: engine.spool)
        }
        let failure = try await failure(
            of: original.path, original.scratch, result.record.header, mark: original.mark, options, source,
            request.caller.priority)
        // A file of the user may change at any time, so its verdict is not stored.
        if !isLocal, failure == nil || failure?.kind == .badData {
            let verdict = failure == nil ? DecodeVerdict.sound : .damaged
            let noted = try await engine.pool.run { Self.noting(verdict, of: result, in: cache, options) }
            if failure == nil { return noted }
        }
        if let failure { throw failure.verificationError(source) }
        return result
    }

    /// The result with a verdict, which is stored with the entry. Waits for the disk.
    static func noting(
        _ verdict: DecodeVerdict, of result: ImageResult, in cache: ImageCache, _ options: ImageOptions
    ) -> ImageResult {
        let kept = result.entry?.record ?? result.record
        var origin = kept.origin
        origin.facts.verdict = verdict
        // What cannot be written down is found out again.
        let record = (try? cache.note(origin, of: kept, options.storage)) ?? kept.replacing(origin)
        var noted = result
        noted.record = kept === result.record ? record : result.record.replacing(origin)
        return noted
    }

    /// The pending store after decoding its image.
    @inline(never)
    func verified(_ store: PendingStore) async throws -> PendingStore {
        // As it is when it was copied from another cache.
        if store.origin.facts.verdict == .sound { return store }
        let (header, (scratch, checksum)) = try await engine.pool.run(isLong: store.isLong) { [spool = engine.spool] in
            let header = try store.header(warns: false)
            return (header, try ScratchFile.holding(store.content, in: spool))
        }
        let failure = try await failure(
            of: scratch.path, scratch, header, mark: VariantSource.mark(checksum), store.options, store.source,
            CallPriority(0.5))
        if let failure { throw failure.verificationError(store.source, store.sample) }
        var store = store
        store.origin.facts.verdict = .sound
        if case .file = store.content {
            // Stores the bytes that were decoded, even if another program writes to the file meanwhile.
            (store.content, store.scratch) = (.file(scratch.path), scratch)
        }
        return store
    }

    /// Decodes a file in the worker, once for all requests that need it at the same time.
    ///
    /// - Parameter scratch: The file's owner, kept alive while the worker needs the file.
    /// - Returns: The reason why it cannot be decoded; `nil` when it can.
    private func failure(
        of path: String, _ scratch: ScratchFile?, _ header: ImageHeader, mark: String, _ options: ImageOptions,
        _ source: String, _ priority: any ChangingPriority
    ) async throws -> RenderFailure? {
        try options.processing.limits.check(header, source: source)
        let key = VerificationKey(mark: mark, format: header.format, limits: options.processing.limits)
        do {
            let verdict = try await engine.jobs.value(for: HashedOnce(key), priority: priority) {
                [codec = engine.codec] _ in
                defer { withExtendedLifetime(scratch) {} }
                let request = RenderRequest(
                    source: path, format: key.format.rawValue,
                    outputs: [RenderOutput(steps: [], rule: .nothing, path: "")], limits: key.limits)
                switch try await codec.render(request, cost: RenderLimits.cost(of: header)).outcomes.first {
                case .finished: return Verdict(failure: nil)
                case .failed(let failure): return Verdict(failure: failure)
                case nil: throw CodecFailure.garbled(reason: "no outcome")
                }
            }
            return verdict.failure
        } catch let failure as CodecFailure {
            throw failure.verificationError(source)
        }
    }
}

private struct Verdict {
    /// The reason why it cannot; `nil` when it can.
    let failure: RenderFailure?
}

extension RenderFailure {
    /// The error for a request with `verifyDecode`.
    fileprivate func verificationError(_ source: String, _ sample: ContentSample? = nil) -> ImageError {
        switch kind {
        case .badData:
            .badData(
                reason: "\(reason) That was found by decoding all of it, as verifyDecode asks.", source: source,
                sample: sample)
        // An image that this machine cannot decode is not known to be sound.
        case .unsupported:
            .processingFailed(reason: "\(source.excerpt) cannot be decoded, as verifyDecode asks: \(reason)")
        default: imageError(source)
        }
    }
}

extension CodecFailure {
    /// The error for a request with `verifyDecode`.
    fileprivate func verificationError(_ source: String) -> any Error {
        guard case ImageError.processingFailed(let reason) = imageError(source) else { return imageError(source) }
        return ImageError.processingFailed(
            reason: "\(source.excerpt) was not decoded, as verifyDecode asks. \(reason)")
    }
}
