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

    /// What its bytes tell, and its stamp.
    ///
    /// - Parameter facts: Reads them from a descriptor, of so many bytes.
    func inspected<Facts>(
        _ facts: (Int32, Int) throws(ImageHeader.Failure) -> Facts
    ) throws(ImageError) -> (facts: Facts, stamp: FileStamp) {
        try opened { (file, stamp) throws(ImageError) in (try inspected(file, stamp, facts), stamp) }
    }

    private func inspected<Facts>(
        _ file: borrowing Descriptor, _ stamp: FileStamp, _ facts: (Int32, Int) throws(ImageHeader.Failure) -> Facts
    ) throws(ImageError) -> Facts {
        do throws(ImageHeader.Failure) { return try facts(file.number, stamp.size) } catch .unreadable(let code) {
            throw unreadable(code)
        } catch {
            throw .badData(
                reason: error.sentence(), source: url,
                sample: ContentSample(DiskStorage.Content.start(of: path)).ofLocalFile)
        }
    }

    private func unreadable(_ code: Int32) -> ImageError {
        .unreadableFile(url: url, reason: "\(String(cString: strerror(code))).")
    }

    private func reading<Value>(_ work: () throws -> Value) throws(ImageError) -> Value {
        do { return try work() } catch { throw unreadable((error as? SystemError)?.code ?? EIO) }
    }

    /// - Throws: ``ImageError`` when the bytes are not those that the options name.
    func checkIntegrity() throws(ImageError) {
        if options.lookup.integrity != nil {
            try opened { (file, _) throws(ImageError) in try checkIntegrity(of: file) }
        }
    }

    private func checkIntegrity(of file: borrowing Descriptor) throws(ImageError) {
        guard let integrity = options.lookup.integrity else { return }
        if try !reading({ try integrity.allows(file) }) { throw Integrity.mismatch(url) }
    }

    /// The image, read in place: it is never copied, and its record stays in memory as long as the file is unchanged.
    func image(_ key: CacheKey, in cache: ImageCache, needs: ImageNeeds, now: Int) throws(ImageError) -> ImageResult {
        try opened { (file, read) throws(ImageError) in
            let header = try inspected(file, read, ImageHeader.init(descriptor:count:))
            try checkIntegrity(of: file)
            // A link is followed for reading, but a change of the file behind it would go unnoticed, so it is not
            // remembered; nor is a file that was replaced or written to while it was read.
            let stamp = FileStamp(path: path).flatMap { $0.matches(read) ? $0 : nil }
            let record = ImageRecord(
                key: key, header: header, byteCount: read.size, path: path, isLocalFile: true,
                origin: ImageOrigin(url: url), storedAt: now, stamp: stamp)
            if stamp != nil { cache.remember(record, bytes: nil, options.storage) }
            var bytes: [UInt8]?
            if needs.contains(.bytes), read.size <= BodySpool.memoryLimit || stamp == nil {
                bytes = try reading { try file.bytes(read.size, at: 0) }
            }
            return ImageResult(record: record, cache: cache.name, cacheType: .none, bytes: bytes)
        }
    }

    /// Calls `body` with the open file, if it is a regular one that is not too large.
    func opened<Value>(
        _ body: (borrowing Descriptor, FileStamp) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        let file: Descriptor
        do throws(SystemError) { file = try Descriptor(reading: path, followsLinks: true) } catch {
            throw unreadable(error.code)
        }
        guard let stamp = file.stamp else {
            throw .unreadableFile(url: url, reason: "It is not a regular file.")
        }
        guard stamp.size <= options.network.limits.maxBytes else { throw options.network.limits.tooLarge(url) }
        return try body(file, stamp)
    }
}
