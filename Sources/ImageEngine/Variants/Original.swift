internal import ImageRecipes

/// An image with a file that the worker can read, or something made of it that stands in for it.
struct Original: Sendable {
    let result: ImageResult
    /// The file that the worker reads.
    let path: String
    /// The file, when it exists for the worker alone.
    let scratch: ScratchFile?
    /// The mark of the original's bytes, also when this is something that was made of it.
    let mark: String
    /// The rest of the recipe, when this is something that was made of the original; `nil` for the original itself.
    var rest: ImageRecipe?
    /// The format of the original.
    var format: ImageFormat
    /// The mark of the bytes that are worked on.
    var workMark: String
    /// The origin of the original, which says who may have it.
    var origin: ImageOrigin

    /// An original with a file: its own where it has one, otherwise one that is written for the worker. Waits for the disk.
    ///
    /// - Parameters:
    ///   - home: The cache that has the image.
    ///   - mark: The mark of its bytes; calculated when `nil`.
    init(
        _ result: ImageResult, in home: ImageCache, _ options: ImageOptions, mark: String? = nil, spool: StorageFolder
    ) throws {
        let record = result.record
        self.result = result
        if let path = record.path ?? result.entry?.record.path,
            let mark = mark ?? record.checksum.map(VariantSource.mark)
        {
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
            do {
                let draft = try spool.write(content, for: "original", syncs: false)
                (path, scratch) = (draft.path, ScratchFile(draft.path))
                self.mark = mark ?? VariantSource.mark(draft.checksum)
            } catch { throw ImageError.storage(error, folder: spool.path) }
        }
        (format, workMark, origin) = (record.header.format, self.mark, record.origin)
    }

    /// `true` when work on it may have failed only because its file went on its way to the worker, or is damaged.
    func isToBlame(for error: ImageError) -> Bool {
        switch error {
        case .badData: true
        case .storageFailed: result.isGone
        default: false
        }
    }
}
