internal import ImageRecipes
internal import Platform

/// The beginning of a chain, and what is left of the chain behind it: a plain value.
///
/// What a cache has of the beginning is worked on instead of the original only when that makes the very same picture,
/// sample for sample; a resolution in dots per inch may come out rounded or not at all:
/// - its worker has said that the file holds all that the steps had made: a format without loss, every frame, no other
///   colours, no smaller depth, no opaque alpha or metadata left out (``RenderedImage/isExact``);
/// - it was made with the same choice of frames, for that is in its name, and of the original in force, by its mark;
/// - the next step does not depend on how its source is decoded (``serves(_:)``).
struct ChainPrefix: Equatable {
    /// What names the entry of the beginning.
    let recipe: ImageRecipe
    /// What is still to be done.
    let rest: ImageRecipe
    /// Whether a step of the beginning changes pixels.
    private let hasWorked: Bool

    /// Every beginning of a chain, the longest first, in the serializations that are likely: the chain's own, the one chosen
    /// by the result, and PNG. The chain itself, as it is asked for, and the bare original are none.
    ///
    /// - Parameter forPixels: Whether pixels are wanted and no file: then the chain itself is a beginning too.
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
        guard !recipe.isEmpty, mayBeWhole || recipe.identifier != whole.identifier else { return nil }
        self.recipe = recipe
        var rest = whole
        // A format that is said in the beginning is still that of the end.
        rest.processors =
            recipe.processors.filter { if case .format = $0 { true } else { false } }
            + whole.processors.dropFirst(count)
        // What was taken of the frames is all that there is.
        rest.frames = .all
        rest.scalesDown = false
        self.rest = rest
        hasWorked = recipe.processors.contains { !$0.changesNothing }
    }

    /// Whether the rest makes of the beginning just what the whole makes of the original.
    ///
    /// A step that only changes the size, when it is the first, lets JPEG, WebP and SVG be decoded smaller, and is done
    /// before an EXIF orientation is: that gives other pixels than decoding first and resampling then.
    ///
    /// - Parameter header: Of the beginning.
    func serves(_ header: ImageHeader) -> Bool {
        guard let next = rest.processors.first(where: { !$0.changesNothing }), next.isResampling else { return true }
        return hasWorked && header.format != .webp
            && header.pixelCount / max(header.frameCount, 1) <= ImageProcessor.mostPixelsInMemory
    }
}
