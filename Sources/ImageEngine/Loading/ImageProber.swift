internal import Platform

/// The properties of an image, from its first kilobytes.
public struct ProbedImage: Sendable, Equatable {
    /// The properties that the container states.
    public let probe: ImageProbe
    /// The size in bytes; `nil` when the server does not say.
    public let byteCount: Int?
    /// The tier that it was read from; `none` for its source.
    public let cacheType: CacheType
}

/// Reads the properties of images from their first kilobytes.
struct ImageProber: Sendable {
    let engine: EngineServices
    private var loader: ImageLoader { ImageLoader(engine: engine) }

    /// The numbers of bytes to request, one after the other while they are too few; then the whole image.
    private static let sizes = [64 << 10, 1 << 20]
    /// The statuses that apply to the whole image as well as to a range.
    private static let absences: Set<Int> = [404, 410]

    /// The look into the cache; see ``ImageManager/beginProbe(_:in:options:caller:)``.
    func begin(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, caller: ImageCaller?
    ) async throws -> @Sendable () async throws -> ProbedImage {
        let request = ImageRequest(
            resource, in: cache, options: cache.completed(options, for: engine.downloader), needs: [],
            caller: caller)
        if let error = loader.refusal(of: resource, options) { throw error }
        let now = engine.now
        if !engine.lookup.policy(resource, request.options).ignoresCache {
            do {
                if let known = try await probeCached(request) { return { known } }
            } catch let error as ImageError
                where !resource.url.isEmpty && engine.lookup.policy(resource, request.options).mayLoad(after: error)
            {
                // Its source has it all the same.
            }
        }
        if resource.url.isEmpty { throw ImageError.notCached(key: resource.cacheKey) }
        return { try await probeSources(request, since: now) }
    }

    private func probeSources(_ request: ImageRequest, since now: Int) async throws -> ProbedImage {
        let (resource, cache, options) = (request.resource, request.cache, request.options)
        let url = resource.url
        let note = { @Sendable [engine] (result: Result<ProbedImage, any Error>, source: String, isGivenUp: Bool) in
            engine.failures.note(
                result, of: source, key: resource.cacheKey, in: cache, options.scoped(from: url, to: source),
                isGivenUp: isGivenUp)
        }
        let attempts = SourceAttempts<ProbedImage>(
            [url] + options.network.alternativeSources, options.network, clock: engine.configuration.clock.monotonic,
            hasNetwork: engine.configuration.hasNetwork,
            givenUp: { source, error in note(.failure(error), source, true) }
        ) { [self] source, meter, end in
            let asked = request.with(options.scoped(from: url, to: source))
            return inTask { result in
                note(result, source, false)
                end(result)
            } _: { [self] in
                try await probe(try loader.source(of: source, asked.options), source, asked, meter)
            }
        }
        return try await attempts.value(deadline: request.deadline(at: now))
    }

    private func probe(
        _ source: ImageSource, _ given: String, _ request: ImageRequest, _ meter: AttemptMeter
    ) async throws -> ProbedImage {
        let options = request.options
        switch source {
        case .network(let url):
            if engine.lookup.policy(request.resource, options).staysInCache {
                throw ImageError.notCached(key: request.resource.cacheKey, url: url)
            }
            return try await probe(url, request, meter)
        case .data(let bytes):
            if let integrity = options.lookup.integrity, !integrity.allows(bytes) { throw Integrity.mismatch(given) }
            return try Self.probed(bytes, source: given, cacheType: .none)
        case .file(let path):
            return try await LocalFile(path: path, options: options).read(on: engine.pool) { file in
                try file.checkIntegrity()
                return try Self.probed(file, cacheType: .none)
            }
        }
    }

    private func probeCached(_ request: ImageRequest) async throws -> ProbedImage? {
        let (resource, cache, options) = (request.resource, request.cache, request.options)
        guard resource.prefersCache else { return nil }
        let found = try await engine.pool.run { [engine] () throws -> ImageCache.Candidate? in
            var looking = options
            looking.storage.lease = 0
            // Offline, an expired image may be the only one.
            let policy = engine.lookup.policy(resource, options, mode: .never)
            let found = try engine.lookup.stored(resource, for: request.outgoing, in: cache, policy) {
                (key) throws(ImageError) in
                try cache.candidate(
                    for: key, options: looking.storage, evenExpired: policy.isOffline, patience: options.patience)
            }
            guard let found, case .answer = policy.decision(for: found.entry).action else { return nil }
            return found.candidate
        }
        guard let hit = found?.hit else { return nil }
        let isLong = hit.record.byteCount > BodySpool.memoryLimit
        return try await engine.pool.run(isLong: isLong) { () throws -> ProbedImage? in
            if let bytes = hit.bytes { return try Self.probed(bytes, source: resource.name, cacheType: hit.cacheType) }
            return try hit.record.path.flatMap { path in
                do {
                    return try Self.probed(LocalFile(path: path, options: options.ofAnySize), cacheType: hit.cacheType)
                } catch _ where !hit.record.isIntact(burst: 0) {
                    // Another process has removed or replaced it.
                    return nil
                }
            }
        }
    }

    private func probe(
        _ url: String, _ request: ImageRequest, _ meter: AttemptMeter
    ) async throws -> ProbedImage {
        let (options, caller) = (request.options, request.caller)
        let outgoing = try await loader.modified(url, options)
        // A failure is remembered for the request of the whole image.
        try loader.admit(
            try DownloadRequest(url: outgoing.url, options: outgoing.options.network),
            key: request.resource.cacheKey, in: request.cache, outgoing.options)
        let place = engine.downloader.transport.spool
        // Data modifiers, methods other than GET and digests, which cover the whole image, need all bytes.
        let isWhole =
            outgoing.options.network.dataModifier != nil || outgoing.options.network.request.method != .get
            || options.lookup.integrity != nil
        var takesRanges = !isWhole
        for size in Self.sizes.map(Optional.some) + [nil] where takesRanges || size == nil {
            var asking = outgoing.options
            if let size {
                asking.network.request.headers = asking.network.request.headers.filter {
                    $0.key.lowercased() != "range"
                }
                asking.network.request.headers["Range"] = "bytes=0-\(size - 1)"
                asking.network.limits.validStatusCodes =
                    (asking.network.limits.validStatusCodes ?? Set(200..<400).subtracting([304]))
                    .union([206])
            }
            let sent = try DownloadRequest(url: outgoing.url, options: asking.network)
            let download: Download
            do {
                download = try await engine.downloader.download(sent, priority: caller.priority) { progress in
                    meter.note(progress)
                    caller.report?(progress)
                }
            } catch let error as ImageError {
                // Some servers reject a range with such a status, but send the whole image. 304 is no answer to what was asked.
                guard size != nil, let status = error.statusCode, status == 304 || ResumeNote.refusesRanges(status),
                    !Self.absences.contains(status)
                else { throw error }
                takesRanges = false
                continue
            }
            let isPart = download.response.status == 206
            let probed = try await engine.pool.run { () throws -> ProbedImage? in
                let body = try sent.dataModifier?.modified(download.body, of: url, in: place) ?? download.body
                let bytes = try ImageCache.bytes(of: .body(body))
                if let integrity = options.lookup.integrity, !integrity.allows(bytes) { throw Integrity.mismatch(url) }
                if !isPart { return try Self.probed(bytes, source: url, cacheType: .none) }
                let total = Self.total(download.response.fields["content-range"])
                if total == bytes.count { return try Self.probed(bytes, source: url, cacheType: .none) }
                return bytes.withUnsafeBytes { start in
                    guard let probe = try? ImageProbe(start: start, of: total ?? .max) else { return nil }
                    return ProbedImage(probe: probe, byteCount: total, cacheType: .none)
                }
            }
            if let probed { return probed }
        }
        throw ImageError.badData(reason: ImageHeader.Failure.unrecognised.sentence(), source: url)
    }

    /// The total length in a `Content-Range` (RFC 9110, 14.4).
    private static func total(_ range: String?) -> Int? {
        range.flatMap { $0.split(separator: "/").last }.flatMap { Int($0) }
    }

    private static func probed(_ bytes: [UInt8], source: String, cacheType: CacheType) throws -> ProbedImage {
        do {
            let probe = try bytes.withUnsafeBytes { try ImageProbe(whole: $0) }
            return ProbedImage(probe: probe, byteCount: bytes.count, cacheType: cacheType)
        } catch let error as ImageHeader.Failure {
            throw ImageError.badData(reason: error.sentence(), source: source, sample: ContentSample(bytes))
        }
    }

    private static func probed(_ file: LocalFile, cacheType: CacheType) throws(ImageError) -> ProbedImage {
        let (probe, stamp) = try file.inspected(ImageProbe.init(descriptor:count:))
        return ProbedImage(probe: probe, byteCount: stamp.size, cacheType: cacheType)
    }
}
