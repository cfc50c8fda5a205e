@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

extension ImageManager {
    /// Stores a given image and waits for it.
    private func store(
        given: GivenImage, _ key: CacheKey, _ cache: ImageCache, _ options: ImageOptions, _ overwrites: Bool,
        _ metadata: String?
    ) throws -> ImageResult {
        try BlockingWait.wait { (_, then: @escaping @Sendable (Result<ImageResult, ImageError>) -> Void) in
            store(
                given, for: key, in: cache, options: options, overwrites: overwrites, metadata: metadata, then: then)
        }.get()
    }

    /// Stores bytes and waits for it.
    func store(
        _ bytes: [UInt8], for key: CacheKey, in cache: ImageCache, options: ImageOptions, overwrites: Bool = true,
        metadata: String? = nil
    ) throws -> ImageResult {
        try store(given: .bytes(bytes), key, cache, options, overwrites, metadata)
    }

    /// Stores the content of a file and waits for it.
    func store(
        contentsOf path: String, for key: CacheKey, in cache: ImageCache, options: ImageOptions,
        overwrites: Bool = true, metadata: String? = nil
    ) throws -> ImageResult {
        try store(given: .file(path), key, cache, options, overwrites, metadata)
    }

    /// The image, if a cache has it and it may be answered at once.
    func cachedImage(
        _ resource: Resource, in cache: ImageCache, options: ImageOptions, needs: ImageNeeds, burst: UInt64
    ) throws(ImageError) -> ImageResult? {
        guard
            case .found(let image) = try glance(
                at: resource, in: cache, options: options, needs: needs, burst: burst)
        else { return nil }
        return image
    }

    /// The pixels that the recipe of the options makes of a resource.
    func pixels(of resource: Resource, in cache: ImageCache, options: ImageOptions) async throws -> PixelFile? {
        try await image(ImageRequest(resource, in: cache, options: options, needs: .pixels)).pixels
    }

    /// The number of images that are refreshed in the background.
    var refreshCount: Int { BackgroundRefresh(engine: services).count }
}

extension CacheRegistry {
    /// Changes the settings of one cache, open or not, starting from the current ones.
    @discardableResult
    func configure(
        _ name: String, _ change: (inout ImageCache.Configuration) -> Void
    ) throws(FolderInUse) -> ImageCache.Configuration {
        var settings = settings(of: name)
        change(&settings)
        return try configure(name, settings)
    }
}
