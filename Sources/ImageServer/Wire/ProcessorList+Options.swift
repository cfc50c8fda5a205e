internal import ImageEngine
internal import ImageRecipes
internal import JSONRPC

extension ProcessorList? {
    /// The options with the processors in them, their lengths multiplied as the options say.
    ///
    /// - Returns: nil when neither says anything.
    func options(_ given: ImageOptions?) throws -> ImageOptions? {
        guard let processors = self?.processors, !processors.isEmpty else { return given }
        var options = given ?? ImageOptions()
        options.processing.recipe.processors = try scaled(processors, by: options.processing.scaleFactor)
        return options
    }

    /// The key of the entry that holds what the processors, and the options, make of the image for `key`.
    func cacheKey(_ key: KeyText, _ given: ImageOptions?) throws -> CacheKey {
        guard let options = try options(given) else { return CacheKey(key.text) }
        return options.processing.recipe.cacheKey(key.text)
    }

    private func scaled(_ processors: [ImageProcessor], by factor: Double) throws -> [ImageProcessor] {
        if factor == 1 { return processors }
        do { return try processors.map { try $0.scaled(by: factor) } } catch let error as RecipeError {
            throw Mismatch(
                path: "options.processing.scaleFactor",
                message: "makes \(error.parameter) \(error.received), which must be \(error.expected)",
                expected: error.expected, received: error.received
            ).error
        }
    }
}
