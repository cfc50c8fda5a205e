public import ImageFormats
internal import Platform

/// What is noted about an image itself beside what is kept of its server's answer: lines of one text, told apart by their
/// letters, which ``HTTPMetadata`` does not use.
package enum ImageNotes {
    /// The letter of a placeholder: its colour, and its hash in base64.
    package static let preview = "t"
    /// The letter of the timing of an animation.
    package static let timing = "f"
    /// The letter of the mark of the original that an image was made from.
    package static let source = "m"
    /// The letter of the format of the original, when the file holds exactly what was made of it.
    package static let exactSource = "x"
    /// The letter of what came of decoding the image.
    package static let verdict = "k"

    /// The server's answer alone.
    package static func answer(in text: String?) -> [String] { lines(text).filter { !isNote($0) } }

    /// The notes alone.
    package static func notes(in text: String?) -> [String] { lines(text).filter(isNote) }

    /// What follows the letter in the first line that begins with it; nil when there is none.
    package static func note(_ letter: String, in text: String?) -> Substring? {
        text?.split(separator: "\n").first { $0.hasPrefix(letter) }?.dropFirst()
    }

    private static func lines(_ text: String?) -> [String] { (text ?? "").split(separator: "\n").map(String.init) }

    private static func isNote(_ line: String) -> Bool {
        [preview, timing, source, exactSource, verdict].contains { line.hasPrefix($0) }
    }
}

extension ImageOrigin {
    /// The same with a note, instead of others of its letter.
    package func noting(_ letter: String, _ note: String) -> ImageOrigin {
        var noted = self
        let others = ImageNotes.notes(in: http).filter { !$0.hasPrefix(letter) }
        noted.http = (ImageNotes.answer(in: http) + others + [note]).joined(separator: "\n")
        return noted
    }

    /// The same with the timing of an animation; unchanged for a still.
    package func noting(_ timing: FrameTiming?) -> ImageOrigin {
        timing.map { noting(ImageNotes.timing, ImageNotes.timing + $0.text) } ?? self
    }
}

extension ImageRecord {
    /// When the frames of an animation are shown, where that is known; nil for stills, for formats whose headers do not
    /// tell, and for what older versions have stored.
    public var timing: FrameTiming? {
        if header.frameCount == 1 { return nil }
        return header.timing ?? ImageNotes.note(ImageNotes.timing, in: origin.http).flatMap { FrameTiming(text: $0) }
    }
}
