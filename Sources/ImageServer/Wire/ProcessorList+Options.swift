internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

extension ProcessorList? {
    /// The options with the processors added, their lengths multiplied by the options' scale factor.
    ///
    /// - Returns: `nil` when there are neither options nor processors.
    func options(_ given: ImageOptions?) throws -> ImageOptions? {
        guard let processors = self?.processors, !processors.isEmpty else { return given }
        var options = given ?? ImageOptions()
        options.processing.recipe.processors = try scaled(processors, by: options.processing.scaleFactor)
        return options
    }

    /// The entry for the result of the processors and the options on the image for `key`, of the user whom the options name.
    ///
    /// - Returns: The entry; `isAnyones` is `true` when they name none. See ``ImageManager/entry(_:_:)``.
    func entry(
        _ key: KeyText, _ given: ImageOptions?, _ manager: ImageManager
    ) throws -> (key: CacheKey, isAnyones: Bool) {
        guard let options = try options(given) else { return (CacheKey(key.text), true) }
        let entry = manager.entry(key.text, options)
        return (options.processing.recipe.cacheKey(entry.key), entry.isAnyones)
    }

    private func scaled(_ processors: [ImageProcessor], by factor: Double) throws -> [ImageProcessor] {
        if factor == 1 { return processors }
        do { return try processors.map { try $0.scaled(by: factor) } } catch let error as RecipeError {
            throw Mismatch(
                path: "options.scaleFactor",
                message: "makes \(error.parameter) \(error.received), which must be \(error.expected)",
                expected: error.expected, received: error.received
            ).error
        }
    }
}
