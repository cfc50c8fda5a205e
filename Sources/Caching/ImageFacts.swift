package import ImageFormats

/// The facts about the bytes of an image that are found out once and kept with its entry, a column of the index each. An
/// entry that is replaced has none.
public struct ImageFacts: Sendable, Equatable {
    /// The placeholder, in its text form.
    package var preview: String?
    /// The timing of an animation; see ``ImageRecord/timing``.
    package var timing: FrameTiming?
    /// The mark of the original that a processed image was made from.
    package var sourceMark: String?
    /// The format of that original, when the file holds exactly what was made of it.
    package var exactSource: ImageFormat?
    /// The number of frames or pages of that original that the file lacks, although all were asked for.
    package var framesDropped = 0
    /// The result of decoding all of the image.
    package var verdict: DecodeVerdict?

    package init(
        preview: String? = nil, timing: FrameTiming? = nil, sourceMark: String? = nil, exactSource: ImageFormat? = nil,
        framesDropped: Int = 0, verdict: DecodeVerdict? = nil
    ) {
        (self.preview, self.timing, self.sourceMark) = (preview, timing, sourceMark)
        (self.exactSource, self.framesDropped, self.verdict) = (exactSource, framesDropped, verdict)
    }

    /// The text of the column `exact`: the format of the exact source, or the number of frames dropped; no file has both.
    package var exactness: String? { exactSource?.rawValue ?? (framesDropped > 0 ? String(framesDropped) : nil) }

    package init(preview: String?, timing: String?, sourceMark: String?, exactness: String?, verdict: String?) {
        self.init(
            preview: preview, timing: timing.flatMap { FrameTiming(text: $0[...]) }, sourceMark: sourceMark,
            exactSource: exactness.flatMap(ImageFormat.init(rawValue:)),
            framesDropped: max(0, exactness.flatMap { Int($0) } ?? 0),
            verdict: verdict.flatMap(DecodeVerdict.init(rawValue:)))
    }
}

/// The result of decoding all of an image.
package enum DecodeVerdict: String, Sendable {
    /// Every frame can be decoded.
    case sound
    /// Not all of it can.
    case damaged
}

/// The origin of an image, and the facts about it that are known beside its header.
public struct ImageOrigin: Sendable, Equatable {
    /// The URL after redirects.
    public var url: String?
    /// The server's entity tag.
    public var etag: String?
    /// The server's date of last change, as sent.
    public var lastModified: String?
    /// The server's answer about storing the image: the text of an ``HTTPMetadata``.
    package var http: String?
    package var facts: ImageFacts {
        get { knownFacts?.facts ?? ImageFacts() }
        set { knownFacts = newValue == ImageFacts() ? nil : KnownFacts(newValue) }
    }
    private var knownFacts: KnownFacts?

    /// The facts about few images: most are stored as they came, and nothing more is known.
    private final class KnownFacts: Sendable, Equatable {
        let facts: ImageFacts

        init(_ facts: ImageFacts) { self.facts = facts }

        static func == (one: KnownFacts, other: KnownFacts) -> Bool { one.facts == other.facts }
    }

    /// An origin of which only the server's answer is known.
    package init(http: String) { self.http = http }

    /// An origin of which so much is known.
    public init(url: String? = nil, etag: String? = nil, lastModified: String? = nil) {
        (self.url, self.etag, self.lastModified) = (url, etag, lastModified)
    }
}
