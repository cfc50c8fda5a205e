internal import Glibc
internal import Logging
internal import Platform

/// One image to store: validated by its header, then stored as its ``plan`` says.
struct PendingStore: Sendable {
    var content: DiskStorage.Content
    let key: CacheKey
    let cache: ImageCache
    /// The name of the image in errors.
    let source: String
    var origin: ImageOrigin
    let options: ImageOptions
    let needs: ImageNeeds
    /// The server's media type, for errors and the log only.
    var contentType: String?
    /// `true` when an existing image with the key is replaced.
    var overwrites = true
    /// The entry that it takes the place of; see ``StoreRequest/successorOf``.
    var successorOf: ImageRecord?
    /// The caller's own data, stored with the image: a JSON object.
    var metadata: String?

    /// `true` when reading the content may take long.
    var isLong: Bool {
        if case .file = content { true } else { StorageFolder.count(of: content) > BodySpool.memoryLimit }
    }

    /// The file of the content, when it exists only for this store.
    var scratch: ScratchFile?
    /// `true` when the caller provides the image: it is stored, or the store fails.
    var isGiven = false
    /// `true` when the content was read from a file of the user.
    var isOfFile = false
    /// `true` when the image is made from an expired original.
    var isOfExpired = false
    /// The longest wait in seconds for another process that holds the index; as the options say when `nil`.
    var patience: Double?

    var policy: StoragePolicy {
        var policy = StoragePolicy(options, needs, isGiven: isGiven)
        (policy.overwrites, policy.isOfExpired) = (overwrites, isOfExpired)
        return policy
    }

    /// The plan for the image. Reads no more than the size of a file.
    var plan: StoragePlan {
        let (policy, count) = (policy, StorageFolder.count(of: content))
        return policy.plan(
            for: StoragePolicy.Image(
                byteCount: count, isNoStore: policy.obeysNoStore && origin.isNoStore,
                diskLimit: cache.disk.configuration.bytesLimit,
                memory: options.storage.cacheMemoryOnly
                    ? cache.memory.configuration.admission(cost: count, isLight: false) : .kept))
    }

    /// Stores the image as its ``plan`` says; content that is not an image is never cached. Waits for the disk.
    func run() throws(ImageError) -> ImageResult {
        try BlockingWait.wait { queue, then in run(in: queue, then: then) }.get()
    }

    /// Stores the image as its ``plan`` says; content that is not an image is never cached. Waits for the disk, but not
    /// for the index, which another thread may be writing.
    func run(then: @escaping StoreEnd) {
        run(in: cache.queue, then: then)
    }

    private func run(in queue: WorkQueue, then: @escaping StoreEnd) {
        let (header, plan): (ImageHeader, StoragePlan)
        do throws(ImageError) {
            (header, plan) = (try self.header(), self.plan)
            if plan.place == .nowhere { return then(.success(try unstored(header, plan))) }
        } catch {
            return then(.failure(error))
        }
        var request = StoreRequest(key: key, header: header)
        request.origin = origin
        request.expiration = options.storage.diskCacheExpiration
        request.fileExtension = options.storage.forcedCacheFileExtension
        (request.overwrites, request.successorOf, request.metadata) = (overwrites, successorOf, metadata)
        request.lease = options.storage.lease ?? ImageCache.lease
        request.allowsOversize = plan.place == .lease
        request.isLentWhenHeld = !isGiven && needs.contains(.file)
        request.patience = patience ?? options.patience(part: isGiven ? 1 : 0.25)
        cache.store(content, request, options.storage, keepsBytes: plan.keepsBytes, in: queue) { [request] kept in
            then(
                Result { () throws(ImageError) in try result(kept.get(), plan) }
                    .flatMapError { error in
                        guard let reason = policy.reason(after: error) else {
                            return .failure(failure(of: error, plan))
                        }
                        return Result { () throws(ImageError) in try withoutDisk(request, plan, reason) }
                    })
        }
    }

    /// Counts the image as not stored when the result of the store says so.
    ///
    /// - Parameter isAwaited: `false` when no caller receives the result; that is then a warning in the log.
    func note(_ result: Result<ImageResult, ImageError>, in counts: EngineCounts, isAwaited: Bool) {
        let reason: NotStoredReason? =
            switch result {
            case .success(let image): image.notStored
            case .failure(.notStored(let reason, _)): reason
            case .failure: nil
            }
        guard let reason else { return }
        if isAwaited { RequestLog.notStored(source, reason) }
        counts.count(reason, unawaited: isAwaited ? nil : (cache.name, cache.disk.name(of: key).hex))
    }

    private func result(_ kept: ImageCache.Kept, _ plan: StoragePlan) throws(ImageError) -> ImageResult {
        // The content may be in a file that is deleted with `scratch`.
        defer { withExtendedLifetime(scratch) {} }
        let record = kept.entry.record
        var result = ImageResult(record: record, cache: cache.name, cacheType: .none, bytes: nil)
        result.notStored = plan.reason(after: kept.transience)
        if plan.place == .memory || kept.admission == .occupied { result.notStored = NotStoredReason(kept.admission) }
        if policy.wantsBytesInMemory || plan.place == .memory || kept.admission == .occupied {
            result.admission = kept.admission
        }
        if plan.place == .memory, let reason = result.notStored, policy.fails(for: reason) {
            throw refusal(reason, kept.admission)
        }
        // Large bytes are not held by all waiting callers until their clients read them.
        if (kept.entry.bytes?.count ?? 0) <= BodySpool.memoryLimit { result.entry = kept.entry }
        // Without a file, the entry may be the only place with the bytes.
        let onlyBytes = record.path == nil && needs.takesBytes ? kept.entry.bytes : nil
        result.bytes = if let onlyBytes { onlyBytes } else { try bytesIfNeeded() }
        return result
    }

    /// The result of a plan that stores the image in no tier.
    private func unstored(_ header: ImageHeader, _ plan: StoragePlan) throws(ImageError) -> ImageResult {
        if let old = successorOf, !cache.holds(old) { throw .notCached(key: key.key) }
        var result = try withoutFile(header, plan.reason)
        result.admission = plan.admission
        switch plan.removal {
        case .none: break
        case .fromMemory: cache.memory.remove(key)
        case .fromBothTiers:
            do { try cache.discard(key) } catch ImageError.storageFailed { /* Then it cannot be read either. */  }
        }
        if plan.fails, let reason = plan.reason { throw refusal(reason, plan.admission) }
        return result
    }

    /// The error of a store that failed, with the reason why the image is not stored, if it is that.
    private func failure(of error: ImageError, _ plan: StoragePlan) -> ImageError {
        NotStoredReason(error).map { .notStored(plan.reason(after: $0) ?? $0, error) } ?? error
    }

    /// The error for a caller that needs the image stored.
    private func refusal(_ reason: NotStoredReason, _ admission: MemoryAdmission?) -> ImageError {
        .notStored(reason, error(for: reason, admission))
    }

    private func error(for reason: NotStoredReason, _ admission: MemoryAdmission?) -> ImageError {
        if let admission, let setting = admission.setting, let sentence = admission.reason {
            return .limitExceeded(
                limit: setting, reason: "it was to be kept in memory only: \(sentence)", source: key.key)
        }
        switch reason {
        case .tooLarge: return DiskStorage.tooLarge(StorageFolder.count(of: content), key)
        case .noStore:
            return .storageFailed(
                reason: "\(source.excerpt) must not be stored, as its server says (Cache-Control: no-store).",
                hint:
                    "retrieve has its data without storing it; to have it stored, set revalidate to another value than \"http\"."
            )
        case .expired, .memoryOff, .notAsked, .noRoom, .diskFailed, .busy, .occupied:
            return .storageFailed(
                reason: "\(source.excerpt) cannot be stored: no tier keeps it (\(reason.rawValue)).",
                hint: "Ask for its data, or change the options and limits that keep it out.")
        }
    }

    /// The result when the disk did not take the image. Memory keeps it meanwhile, so that it is not loaded again at once.
    private func withoutDisk(
        _ request: StoreRequest, _ plan: StoragePlan, _ reason: NotStoredReason
    ) throws(ImageError) -> ImageResult {
        let isWanted = plan.place == .disk && plan.reason == nil && overwrites && options.storage.keepsInMemory
        if isWanted, StorageFolder.count(of: content) <= BodySpool.memoryLimit,
            request.successorOf.map(cache.holds) ?? true
        {
            cache.keepWithoutFile(try ImageCache.bytes(of: content), request, options.storage)
        }
        return try withoutFile(request.header, plan.reason(after: reason))
    }

    func withoutFile(_ reason: NotStoredReason? = nil) throws(ImageError) -> ImageResult {
        try withoutFile(try header(), reason)
    }

    private func withoutFile(_ header: ImageHeader, _ reason: NotStoredReason?) throws(ImageError) -> ImageResult {
        let record = ImageRecord(
            key: key, header: header, byteCount: StorageFolder.count(of: content), path: nil, origin: origin,
            storedAt: 0)
        var result = ImageResult(record: record, cache: cache.name, cacheType: .none, bytes: nil)
        result.notStored = reason
        if needs.takesBytes {
            // A file that exists only for this store would be deleted before the caller reads it.
            if record.byteCount > BodySpool.memoryLimit, !content.isInMemory, scratch == nil {
                result.content = content
            } else {
                result.bytes = try ImageCache.bytes(of: content)
            }
        }
        return result
    }

    /// The bytes if the caller needs them and they are small; large ones are read later.
    private func bytesIfNeeded() throws(ImageError) -> [UInt8]? {
        guard needs.contains(.bytes) else { return nil }
        switch content {
        case .bytes(let bytes): return bytes
        case .body(let body) where body.count <= BodySpool.memoryLimit:
            return try ImageCache.bytes(of: content)
        case .body, .file: return nil
        }
    }

    var sample: ContentSample {
        let sample = ContentSample(content.start, contentType: contentType)
        return isOfFile ? sample.ofLocalFile : sample
    }

    /// Logs a wrong media type from the server; names the image by its hash, because URLs are private.
    private func logMismatch(of format: ImageFormat) {
        guard let contentType, !format.mayBeCalled(contentType) else { return }
        Self.logger.notice(
            "a server calls an image something else than it is",
            metadata: [
                "called": "\(MediaType.essence(contentType).excerpt)", "is": "\(format.mimeType)",
                "image": "\(cache.disk.name(of: key).hex)",
            ])
    }

    private static let logger = Logger(label: "halcyon.images")

    /// The header of the image.
    ///
    /// - Parameter warns: `true` when a wrong media type from the server is logged.
    func header(warns: Bool = true) throws(ImageError) -> ImageHeader {
        do {
            if let integrity = options.lookup.integrity, try !integrity.allows(content) {
                throw Integrity.mismatch(source, sample)
            }
            let header =
                switch content {
                case .bytes(let bytes):
                    try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
                case .body(let body): try body.header()
                case .file(let path, _):
                    try LocalFile(path: path, options: options).inspected(ImageHeader.init(descriptor:count:)).facts
                }
            if warns { logMismatch(of: header.format) }
            return header
        } catch ImageHeader.Failure.unreadable(let code) {
            throw .storage(SystemError(code, "read", "the body of \(source)"), folder: "the cache folder")
        } catch let failure as ImageHeader.Failure {
            throw .badData(reason: failure.sentence(contentType: contentType), source: source, sample: sample)
        } catch let error as ImageError {
            throw error
        } catch {
            throw ImageError.storage(error, folder: "the cache folder")
        }
    }
}

extension ImageOrigin {
    /// `true` when the response or its request forbids storing.
    var isNoStore: Bool {
        http.flatMap(HTTPMetadata.init)?.freshness(lastModified: nil).control.noStore == true
    }
}

extension ImageHeader.Failure {
    /// A sentence for the user about the fault.
    func sentence(contentType: String? = nil) -> String {
        switch self {
        case .empty: "It is empty."
        case .unrecognised:
            "The bytes have no signature of a known format"
                + (contentType.map { "; the server called them \($0.excerpt)." } ?? ".")
        case .cutOff(let format): "The \(format.rawValue.uppercased()) data is cut off."
        case .malformed(let format): "The \(format.rawValue.uppercased()) data is malformed."
        case .unreadable(let code): "It cannot be read: \(String(cString: strerror(code)))."
        }
    }
}
