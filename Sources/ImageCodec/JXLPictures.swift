internal import CVips
internal import ImageRecipes

/// The pictures of a JPEG XL as displayed, one after another: the only one, or the frames of an animation.
final class JXLPictures {
    private let source: SourceBytes
    private let reader: OpaquePointer

    init(_ source: SourceBytes) throws(RenderFailure) {
        guard let reader = hv_begin_jxl(source.bytes.baseAddress, source.count) else { throw .ofLibrary(.badData) }
        (self.source, self.reader) = (source, reader)
    }

    deinit { hv_end_jxl(reader) }

    /// The next picture, in memory.
    func next() throws(RenderFailure) -> CodecImage {
        guard let result = hv_next_jxl(reader) else { throw .ofLibrary(.badData) }
        return CodecImage(result, isInMemory: true)
    }

    /// The picture of a number, from 0.
    ///
    /// - Complexity: O(pixels of it and of those before it).
    static func picture(_ number: Int, of source: SourceBytes) throws(RenderFailure) -> CodecImage {
        let pictures = try JXLPictures(source)
        for _ in 0..<number { _ = try pictures.next() }
        return try pictures.next()
    }
}
