@testable import ImageEngine

extension ImageManager {
    /// Stores bytes and waits for it.
    func store(
        _ bytes: [UInt8], for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil
    ) throws -> ImageResult {
        try store(.bytes(bytes), for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata)
    }

    /// Stores the content of a file and waits for it.
    func store(
        contentsOf path: String, for key: CacheKey, in cache: ImageCache, options: ImageOptions,
        overwrites: Bool = true, metadata: String? = nil
    ) throws -> ImageResult {
        try store(.file(path), for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata)
    }
}
