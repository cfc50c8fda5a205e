internal import Glibc
internal import ImageRecipes
internal import Platform

/// What a processed image was made from, as its entry remembers it: the mark of the original's bytes.
///
/// An entry whose original has become another one is out of date: a local file that was written to, an image that was
/// stored or downloaded anew. The mark is one of the entry's facts; so is the format of the original, when the file holds
/// exactly what was made of that, so that more can be made of it (see ``ChainPrefix``).
enum VariantSource {
    /// The mark of bytes with that digest.
    static func mark(_ digest: Digest) -> String { String(digest.hex.prefix(32)) }

    /// The mark of a file of the user's as it is now; nil when there is none.
    static func mark(file path: String) -> String? {
        let stamp = try? Descriptor(reading: path, followsLinks: true).stamp
        return stamp.map { "\($0.inode).\($0.size).\($0.modified)" }
    }

    /// The origin of what is made from an image of that origin: what is kept of the server's answer, without what was noted
    /// about the image itself.
    ///
    /// - Parameters:
    ///   - mark: Of the original's bytes.
    ///   - format: That of the original, if the file holds exactly what was made of it.
    static func origin(_ origin: ImageOrigin, mark: String, of format: ImageFormat?) -> ImageOrigin {
        var made = origin
        made.facts = ImageFacts(sourceMark: mark, exactSource: format)
        return made
    }

    /// The format of the original, if the file of a processed image holds exactly what was made of that.
    static func exactlyMade(_ record: ImageRecord) -> ImageFormat? { record.origin.facts.exactSource }

    /// The mark of what a processed image was made from; nil when it is not known.
    static func mark(of record: ImageRecord) -> String? { record.origin.facts.sourceMark }
}

/// A file that goes with whoever needs it last.
final class ScratchFile: Sendable {
    let path: String

    init(_ path: String) { self.path = path }

    deinit { unlink(path) }
}

/// A file that the worker has made, with what it says of it.
final class RenderedFile: Sendable {
    private let scratch: ScratchFile
    let image: RenderedImage
    var path: String { scratch.path }

    init(_ scratch: ScratchFile, _ image: RenderedImage) {
        self.scratch = scratch
        self.image = image
    }
}
