internal import ImageRecipes

/// An original image, or an intermediate made from it, with a file that the worker can read.
struct Original: Sendable {
    let result: ImageResult
    /// The path of the file that the worker reads.
    let path: String
    /// The file, when it exists only for the worker.
    let scratch: ScratchFile?
    /// The mark of the original's bytes, also for an intermediate.
    let mark: String
    /// The rest of the recipe for an intermediate; `nil` for the original itself.
    var rest: ImageRecipe?
    var format: ImageFormat
    /// The mark of the bytes that are processed.
    var workMark: String
    /// The origin of the original, which decides which requests it may answer.
    var origin: ImageOrigin

    /// An original with its own file, or otherwise with one that is written for the worker. Waits for the disk.
    ///
    /// - Parameters:
    ///   - home: The cache that has the image.
    ///   - mark: The mark of its bytes; `nil` to compute it.
    init(
        _ result: ImageResult, in home: ImageCache, _ options: ImageOptions, mark: String? = nil, spool: StorageFolder
    ) throws {
        let record = result.record
        self.result = result
        let filed = record.path == nil ? result.entry?.record : record
        if let path = filed?.path, let mark = mark ?? filed.flatMap(VariantSource.mark(ofOriginal:)) {
            (self.path, scratch, self.mark) = (path, nil, mark)
        } else {
            let content: DiskStorage.Content =
                if let bytes = result.bytes {
                    .bytes(bytes)
                } else if let content = result.content {
                    content
                } else {
                    .bytes(try home.loadBytes(of: result.entry?.record ?? record, options: options.storage).bytes)
                }
            let (file, checksum) = try ScratchFile.holding(content, in: spool)
            (path, scratch) = (file.path, file)
            self.mark = mark ?? VariantSource.mark(checksum)
        }
        (format, workMark, origin) = (record.header.format, self.mark, record.origin)
    }

    /// Removes the stored original with its key when that is another image: this one, which is not stored itself, has outdated
    /// it. Waits for the disk.
    func replaceStored(in home: ImageCache) {
        let key = result.record.key
        guard let old = (try? home.knownHit(for: key)).flatMap({ VariantSource.mark(ofOriginal: $0.record) }),
            old != mark
        else { return }
        try? home.discard(key)
    }

    /// `true` when an original has a file that the worker can read: it is made one without waiting.
    static func isReady(_ result: ImageResult) -> Bool {
        let record = result.record
        return result.cacheType != .none && record.checksum != nil && (record.path ?? result.entry?.record.path) != nil
    }

    /// `true` when processing may have failed only because its file was removed or is damaged.
    func isToBlame(for error: ImageError) -> Bool {
        switch error {
        case .badData: true
        case .storageFailed: result.isGone
        default: false
        }
    }
}
