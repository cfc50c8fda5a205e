/// What came of decoding all of an image, as its entry remembers it, so that it is done once: a line among what is kept of
/// the server's answer.
///
/// It is about the bytes alone: an entry that is replaced has none.
package enum DecodeVerdict: String {
    /// Every frame can be decoded.
    case sound
    /// Not all of it can.
    case damaged
}

extension ImageRecord {
    /// What came of decoding all of it; nil when that has not been tried.
    package var decodeVerdict: DecodeVerdict? {
        ImageNotes.note(ImageNotes.verdict, in: origin.http).flatMap { DecodeVerdict(rawValue: String($0)) }
    }
}

extension ImageOrigin {
    /// The same with what came of decoding all of the image.
    package func noting(_ verdict: DecodeVerdict) -> ImageOrigin {
        noting(ImageNotes.verdict, ImageNotes.verdict + verdict.rawValue)
    }
}
