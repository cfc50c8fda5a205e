internal import ImageRecipes
internal import Platform

/// A prefix of a chain of processors, and the rest of the chain: a plain value.
///
/// A cached image made by the prefix replaces the original only when the result is the same, sample for sample; the
/// resolution in dots per inch may be rounded or lost. The conditions:
/// - The worker has reported that the file holds the exact result of the steps: lossless, every frame, the same colours
///   and depth, with opaque alpha and metadata (``RenderedImage/isExact``).
/// - It was made with the same choice of frames, which is part of its name, and from the current original, by its mark.
/// - The next step does not depend on the decoding of its source (``serves(_:)``).
struct ChainPrefix: Equatable {
    /// The recipe of the prefix, which names its entry.
    let recipe: ImageRecipe
    let rest: ImageRecipe
    /// `true` when a step of the prefix changes pixels.
    private let hasWorked: Bool

    /// The prefixes of a chain, longest first, in the likely serializations: its own, the automatic one, PNG. The
    /// requested chain itself and the unprocessed original are excluded.
    ///
    /// - Parameter forPixels: `true` when pixels are requested instead of a file; then the chain is a prefix too.
    static func all(of recipe: ImageRecipe, forPixels: Bool = false) -> [ChainPrefix] {
        var serializers: [CacheSerializer?] = [nil, CacheSerializer(format: .png)]
        if let own = recipe.serializer, own != CacheSerializer(), !serializers.contains(own) {
            serializers.insert(own, at: 0)
        }
        return (0...recipe.processors.count).reversed().flatMap { count in
            serializers.compactMap { ChainPrefix(recipe, count, $0, mayBeWhole: forPixels) }
        }
    }

    private init?(_ whole: ImageRecipe, _ count: Int, _ serializer: CacheSerializer?, mayBeWhole: Bool) {
        var recipe = whole
        recipe.processors = Array(whole.processors.prefix(count))
        recipe.serializer = serializer
        // With all processors it is the whole chain, unless its file is another one.
        func isWhole() -> Bool {
            count == whole.processors.count && (serializer?.identifier ?? "") == (whole.serializer?.identifier ?? "")
        }
        guard !recipe.isEmpty, mayBeWhole || !isWhole() else { return nil }
        self.recipe = recipe
        var rest = whole
        // A format set in the prefix still applies to the result.
        rest.processors =
            recipe.processors.filter { if case .format = $0 { true } else { false } }
            + whole.processors.dropFirst(count)
        // The file of the prefix contains only the chosen frames.
        rest.frames = .all
        rest.scalesDown = false
        self.rest = rest
        hasWorked = recipe.processors.contains { !$0.changesNothing }
    }

    /// `true` when the rest makes the same image from the prefix as the whole chain makes from the original.
    ///
    /// A resampling step that is the first lets JPEG, WebP and SVG be decoded at a smaller size, and runs before the
    /// EXIF orientation is applied: that gives other pixels than decoding and then resampling.
    ///
    /// - Parameter header: The header of the prefix's image.
    func serves(_ header: ImageHeader) -> Bool {
        guard let next = rest.processors.first(where: { !$0.changesNothing }), next.isResampling else { return true }
        return hasWorked && header.format != .webp
            && header.pixelCount / max(header.frameCount, 1) <= ImageProcessor.mostPixelsInMemory
    }
}
