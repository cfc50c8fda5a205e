internal import Glibc
internal import Platform

/// A file of the user that an image is read from.
struct LocalFile: Sendable {
    let path: String
    let options: ImageOptions

    private var url: String { FileURL.text(path) }

    /// Runs work that reads the file, on a thread of the pool; as long work unless the file is known to be small.
    func read<Value: Sendable>(
        on pool: BlockingPool, _ work: @escaping @Sendable (LocalFile) throws -> Value
    ) async throws -> Value {
        let done = try await pool.run { () throws -> Value? in
            guard let stamp = FileStamp(path: path), stamp.size <= BodySpool.memoryLimit else { return nil }
            return try work(self)
        }
        if let done { return done }
        return try await pool.run(isLong: true) { try work(self) }
    }

    /// The content to store: the bytes of a small file, otherwise the file itself in its state now.
    func content() throws(ImageError) -> DiskStorage.Content {
        try opened { (file, _) throws(ImageError) in
            try ImageError.reporting {
                guard let (state, mayBeWriting) = BlockingPool.waiting({ file.settled() }) else {
                    throw SystemError(ESTALE, "look at", path)
                }
                guard state.stamp.size <= BodySpool.memoryLimit else { return .file(path, as: state) }
                let bytes = try file.bytes(state.stamp.size)
                guard mayBeWriting else {
                    try state.checkUnchanged(path)
                    return .bytes(bytes)
                }
                try BlockingPool.waiting {
                    try state.checkUnchanged(path) { try Files.read(path, followsLinks: true) == bytes }
                }
                return .bytes(bytes)
            }
        }
    }

    /// The header of the image, and its size in bytes.
    func probe() throws(ImageError) -> (header: ImageHeader, byteCount: Int) {
        try opened { (file, stamp) throws(ImageError) in
            do throws(ImageHeader.Failure) {
                return (try ImageHeader(descriptor: file.number, count: stamp.size), stamp.size)
            } catch {
                throw .badData(
                    reason: error.sentence(), source: url,
                    sample: ContentSample(DiskStorage.Content.start(of: path)).ofLocalFile)
            }
        }
    }

    /// The image, read in place: it is never copied, and its record stays in memory as long as the file is unchanged.
    func image(_ key: CacheKey, in cache: ImageCache, needs: ImageNeeds, now: Int) throws(ImageError) -> ImageResult {
        let (header, size) = try probe()
        if let integrity = options.lookup.integrity, !integrity.allows(file: path) { throw Integrity.mismatch(url) }
        // A link is followed for reading, but a change of the file behind it would go unnoticed, so it is not remembered.
        let stamp = FileStamp(path: path)
        let record = ImageRecord(
            key: key, header: header, byteCount: size, path: path, isLocalFile: true, origin: ImageOrigin(url: url),
            storedAt: now, stamp: stamp)
        if stamp != nil { cache.remember(record, bytes: nil, options.storage) }
        var bytes: [UInt8]?
        if needs.contains(.bytes), size <= BodySpool.memoryLimit || stamp == nil {
            bytes = try ImageCache.bytes(of: .file(path))
        }
        return ImageResult(record: record, cache: cache.name, cacheType: .none, bytes: bytes)
    }

    /// Calls `body` with the open file, if it is a regular one that is not too large.
    func opened<Value>(
        _ body: (borrowing Descriptor, FileStamp) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let file: Descriptor
        do throws(SystemError) { file = try Descriptor(reading: path, followsLinks: true) } catch {
            throw .unreadableFile(url: url, reason: "\(String(cString: strerror(error.code))).")
        }
        guard let stamp = file.stamp else {
            throw .unreadableFile(url: url, reason: "It is not a regular file.")
        }
        guard stamp.size <= options.network.limits.maxBytes else { throw options.network.limits.tooLarge(url) }
        return try body(file, stamp)
    }
}
