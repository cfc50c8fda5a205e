@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

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
