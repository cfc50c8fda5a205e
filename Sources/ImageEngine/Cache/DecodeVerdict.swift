/// What came of decoding all of an image, as its entry remembers it, so that it is done once: a line among what is kept of
/// the server's answer.
///
/// It is about the bytes alone: an entry that is replaced has none.
enum DecodeVerdict: String {
    /// Every frame can be decoded.
    case sound
    /// Not all of it can.
    case damaged

    static let letter = "k"
}

extension ImageRecord {
    /// What came of decoding all of it; nil when that has not been tried.
    var decodeVerdict: DecodeVerdict? {
        ImageNotes.note(DecodeVerdict.letter, in: origin.http).flatMap { DecodeVerdict(rawValue: String($0)) }
    }
}

extension ImageOrigin {
    /// The same with what came of decoding all of the image.
    func noting(_ verdict: DecodeVerdict) -> ImageOrigin {
        noting(DecodeVerdict.letter, DecodeVerdict.letter + verdict.rawValue)
    }
}
