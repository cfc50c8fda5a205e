internal import ImageRecipes
internal import Platform

/// The mark of the original's bytes in the entry of a processed image.
///
/// An entry whose original has become another one is out of date: a local file that was written to, an image that was
/// stored or downloaded anew. The mark is one of the entry's facts; so is the format of the original, when the file holds
/// exactly what was made of that, so that more can be made of it (see ``ChainPrefix``).
enum VariantSource {
    static func mark(_ digest: Digest) -> String { String(digest.hex.prefix(32)) }

    /// The mark of the current content of a user's file; `nil` when there is no file.
    static func mark(file path: String) -> String? {
        (try? Descriptor(reading: path, followsLinks: true).stamp).map(mark)
    }

    private static func mark(_ stamp: FileStamp) -> String { "\(stamp.inode).\(stamp.size).\(stamp.modified)" }

    /// The mark of the bytes of an original: of one without a checksum, as those of other folders are, that of its file; `nil`
    /// for one that is only in memory.
    static func mark(ofOriginal record: ImageRecord) -> String? {
        record.checksum.map(mark) ?? (record.path == nil ? nil : record.stamp.map(mark))
    }

    /// The origin of an image made from an original with the given origin: the metadata of the server's response,
    /// without the notes about the original.
    static func origin(
        _ origin: ImageOrigin, mark: String, of image: RenderedImage, from format: ImageFormat
    ) -> ImageOrigin {
        var made = origin
        made.facts = ImageFacts(
            sourceMark: mark, exactSource: image.isExact ? format : nil, framesDropped: image.framesDropped)
        return made
    }

    /// The mark of what a processed image was made from; nil when it is not known.
    static func mark(of record: ImageRecord) -> String? { record.origin.facts.sourceMark }
}

/// A file that the worker has made, with its properties.
struct RenderedFile: Sendable {
    let scratch: ScratchFile
    let image: RenderedImage
    var path: String { scratch.path }
}
