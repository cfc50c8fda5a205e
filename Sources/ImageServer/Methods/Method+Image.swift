internal import ImageEngine
internal import JSONRPC
internal import Platform

private let processorsParam = Param<ProcessorList?>(
    "processors", "The processing steps, in order.", default: nil, [])
private let recipeParam = Param(
    options:
        "The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like."
)
private let optionsParam = Param(options: "How to look up, load and keep the image.")

/// The parameter of methods that remove images.
let remoteParam = Param<Bool>(
    "remote", "Remove them from the remote tier too, for all machines.", default: false, false)

extension Method {
    /// The six main methods on images.
    static let image: [Method] = [retrieve, store, remove, isCached, cachePath, calculateSize]

    private static let retrieve = Method(
        "retrieve", "Returns an image from memory, from disk, or else from its URL, and caches it.",
        anyOf: ["url", "key"], imageURLParam, imageKeyParam, cacheParam, processorsParam, optionsParam,
        Param<ResultForm>("as", "What the result contains.", default: .path, "path")
    ) { invocation, url, key, cacheName, processors, options, form -> Outcome<ImageReply> in
        .retrieval(
            try Retrieval(
                invocation, url, key: key, cache: cacheName, options: try processors.options(options), form))
    }

    private static let store = Method(
        "store", "Puts an image into the cache.", keyParam,
        Param<Base64Bytes?>("data", "The bytes, as base64. Give this or path.", default: nil),
        Param<PathText?>("path", "A file to copy from, absolute or relative to the server's directory.", default: nil),
        cacheParam, processorsParam, optionsParam,
        Param<Bool>("overwrite", "Replace an image that is there.", default: true, true),
        Param<Metadata?>("metadata", "Metadata to keep with the image, for inspect and list.", default: nil)
    ) { invocation, name, data, path, cacheName, processors, options, overwrites, metadata -> Outcome<StoreReply> in
        let cache = try invocation.server.cache(cacheName)
        let key = KeyText(text: cache.key(of: name.text))
        guard (data == nil) != (path == nil) else {
            throw RPCError.invalidParams(
                "Give either \"data\" or \"path\", not \(data == nil ? "neither" : "both").",
                param: data == nil ? "path" : "data", expected: "one of data and path",
                received: data == nil ? "neither" : "both")
        }
        let options = try processors.options(options) ?? ImageOptions()
        let manager = invocation.server.manager
        let entry = manager.entry(key.text, options).key
        let access = RequestOrder.Access(cache: cache.name, scope: .key(ExactText(key.text)), kind: .change)
        let given: GivenImage = data.map { .bytes($0.bytes) } ?? .file(path?.text ?? "")
        guard options.processing.recipe.isEmpty, !cache.verifiesDecode(options) else {
            return .ordered(
                access,
                .task { _ in
                    do {
                        let image = try await manager.storeVariant(
                            of: given, for: entry, in: cache, options: options, overwrites: overwrites,
                            metadata: metadata?.text)
                        return StoreReply(reply: ImageReply(image: image, form: .path))
                    } catch let error as ImageError {
                        throw error.rpcError(key: key.text, isGiven: true)
                    }
                })
        }
        return .ordered(
            access,
            Deferred { _, end in
                manager.store(
                    given, for: entry, in: cache, options: options, overwrites: overwrites,
                    metadata: metadata?.text
                ) { result in
                    end(
                        result.map { StoreReply(reply: ImageReply(image: $0, form: .path)) }
                            .mapError { $0.rpcError(key: key.text, isGiven: true) })
                }
            })
    }

    private static let remove = Method(
        "remove", "Removes an image from the cache.", keyParam, cacheParam, processorsParam,
        Param<Bool>("fromMemory", "Remove it from memory.", default: true, true),
        Param<Bool>("fromDisk", "Remove it from disk.", default: true, true),
        Param<Bool>("allVariants", "Remove everything made from it by processors too.", default: false, false),
        remoteParam, recipeParam
    ) {
        invocation, given, cacheName, processors, fromMemory, fromDisk, allVariants, remote, options
            -> Outcome<RemoveReply> in
        let cache = try invocation.server.cache(cacheName)
        let key = KeyText(text: cache.key(of: given.text))
        let entry = try processors.entry(key, options, invocation.server.manager)
        // Each variant has its own lane, so the removal of all of them is ordered with the whole cache.
        let access = RequestOrder.Access(
            cache: cache.name, scope: allVariants ? .wholeCache : .key(ExactText(key.text)), kind: .change)
        let manager = invocation.server.manager
        let removal = { @Sendable (end: @escaping @Sendable (Result<RemoveReply, any Error>) -> Void) in
            manager.remove(
                entry.key, from: cache, fromMemory: fromMemory, fromDisk: fromDisk, allVariants: allVariants,
                allUsers: entry.isAnyones
            ) { result in end(result.map { RemoveReply(removed: $0) }.mapError { $0 }) }
        }
        guard remote else { return .ordered(access, Deferred { _, end in removal(end) }) }
        return .inTwoParts(access) { _ in
            let remote = try await manager.beginRemoteRemoval(
                of: entry.key, in: cache, allVariants: allVariants, allUsers: entry.isAnyones)
            let reply = try await withCheckedThrowingContinuation { continuation in
                removal { continuation.resume(with: $0) }
            }
            return { RemoveReply(removed: reply.removed, remote: await manager.removeRemotely(remote)) }
        }
    }

    private static let isCached = Method(
        "isCached", "Returns whether an image is cached, and in which tier; nothing is loaded.", keyParam, cacheParam,
        processorsParam, recipeParam
    ) { invocation, given, cacheName, processors, options -> Outcome<IsCachedReply> in
        try looking(
            invocation, given, cacheName, processors, options, isThere: { $0.cacheType != .none },
            absent: { _, _ in IsCachedReply(cacheType: .none) }
        ) { cache, entry, burst in
            switch try cache.cacheType(for: entry, burst: burst ?? 0, mayWait: burst == nil) {
            case .found(let tier): IsCachedReply(cacheType: tier)
            case .missing: IsCachedReply(cacheType: .none)
            case .unsettled: nil
            }
        }
    }

    private static let cachePath = Method(
        "cachePath", "Returns the path at which an image is cached, or would be.", keyParam, cacheParam,
        processorsParam,
        recipeParam
    ) { invocation, given, cacheName, processors, options -> Outcome<CachePathReply> in
        try looking(
            invocation, given, cacheName, processors, options, isThere: \.exists,
            absent: { CachePathReply(path: $0.disk.path(for: $1), exists: false, isLent: false) }
        ) { cache, entry, burst in
            try cache.path(
                for: entry, lease: options?.storage.lease, burst: burst ?? 0, mayWait: burst == nil
            )
            .map { CachePathReply(path: $0.path, exists: $0.exists, isLent: $0.isLent) }
        }
    }

    /// A request that only reads: answered at once when the order allows it.
    ///
    /// - Parameters:
    ///   - isThere: `true` when an answer is that of an image that is there. Otherwise the entries of single users are
    ///     looked for.
    ///   - absent: The answer for an image that is not there, as one that is made of an original that has been replaced.
    ///   - look: Receives the burst of the message for an answer at once: it may use observations of the same burst, and
    ///     returns `nil` if it would have to wait. Without a burst it must return the answer.
    private static func looking<Value: WireResult>(
        _ invocation: Invocation, _ given: KeyText, _ cacheName: String?, _ processors: ProcessorList?,
        _ options: ImageOptions?, isThere: @escaping @Sendable (Value) -> Bool,
        absent: @escaping @Sendable (ImageCache, CacheKey) -> Value,
        _ look: @escaping @Sendable (ImageCache, CacheKey, UInt64?) throws -> Value?
    ) throws -> Outcome<Value> {
        let cache = try invocation.server.cache(cacheName)
        let key = KeyText(text: cache.key(of: given.text))
        let manager = invocation.server.manager
        let entry = try processors.entry(key, options, manager)
        let burst = invocation.message.burst
        let isMade = !entry.key.identifier.isEmpty
        let answer = { @Sendable (entry: CacheKey, burst: UInt64?) throws -> Value? in
            if isMade {
                let isCurrent = try manager.isOfKnownOriginal(
                    entry, in: cache, options: options, mayWait: burst == nil)
                guard let isCurrent else { return nil }
                if !isCurrent { return absent(cache, entry) }
            }
            return try look(cache, entry, burst)
        }
        let find = { @Sendable (burst: UInt64?) throws -> Value? in
            let value = try answer(entry.key, burst)
            guard entry.isAnyones, let value, !isThere(value), let own = try cache.latestOfUsers(entry.key) else {
                return value
            }
            return try answer(own, burst)
        }
        return .onDisk(RequestOrder.Access(cache: cache.name, scope: .key(ExactText(key.text)), kind: .look)) {
            try find(burst)
        } later: {
            guard let value = try find(nil) else {
                throw RPCError.internalError("The index could not be repaired.")
            }
            return value
        }
    }

    private static let calculateSize = Method(
        "calculateSize",
        "Returns how many images a cache holds and how many bytes they take, without walking a folder.",
        cacheParam
    ) { invocation, cacheName -> Outcome<SizeReply> in
        let cache = try invocation.server.cache(cacheName)
        return .onDisk(RequestOrder.Access(cache: cache.name, scope: .survey, kind: .look)) {
            try cache.sizesAtOnce().map { SizeReply(sizes: $0) }
        } later: {
            SizeReply(sizes: try cache.sizes())
        }
    }
}

extension ImageResult {
    /// The memory for an answer with the image inline, in bytes: those of the image, the same as base64, and the rest.
    var inlineMemory: Int { record.byteCount + Base64.encodedCount(record.byteCount) + 4096 }
}

extension ImageReply {
    /// The reply, unless its image is too large for an inline answer.
    ///
    /// - Parameters:
    ///   - instead: The alternative that the error message suggests.
    ///   - source: The URL in the error; the key when `nil`.
    func checked(instead: String = "ask for its path", source: String? = nil) throws -> ImageReply {
        guard form.needsBytes, image.record.byteCount > ImageServer.maxInlineBytes else { return self }
        var error = ImageError.limitExceeded(
            limit: "maxInlineBytes", reason: "", source: source ?? image.record.key.key
        ).rpcError()
        error.message =
            "The image has \(image.record.byteCount) bytes, and at most \(ImageServer.maxInlineBytes) are answered inline: \(instead)."
        throw error
    }
}

/// A string that may be empty: an empty URL is an invalid URL, not an invalid parameter.
struct URLText: WireValue {
    let text: String

    static var schema: JSONLiteral { ["type": "string", "format": "uri"] }

    static func decode(_ view: JSONView) throws(Mismatch) -> URLText {
        URLText(text: try String.decode(view))
    }
}
