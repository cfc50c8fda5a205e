/// What is noted about an image itself beside what is kept of its server's answer: lines of one text, told apart by their
/// letters, which ``HTTPMetadata`` does not use.
enum ImageNotes {
    /// The server's answer alone.
    static func answer(in text: String?) -> [String] { lines(text).filter { !isNote($0) } }

    /// The notes alone.
    static func notes(in text: String?) -> [String] { lines(text).filter(isNote) }

    /// What follows the letter in the first line that begins with it; nil when there is none.
    static func note(_ letter: String, in text: String?) -> Substring? {
        text?.split(separator: "\n").first { $0.hasPrefix(letter) }?.dropFirst()
    }

    private static func lines(_ text: String?) -> [String] { (text ?? "").split(separator: "\n").map(String.init) }

    private static func isNote(_ line: String) -> Bool {
        [
            ImagePreview.letter, FrameTiming.letter, VariantSource.letter, VariantSource.exactLetter,
            DecodeVerdict.letter,
        ].contains { line.hasPrefix($0) }
    }
}

extension ImageOrigin {
    /// The same with a note, instead of others of its letter.
    func noting(_ letter: String, _ note: String) -> ImageOrigin {
        var noted = self
        let others = ImageNotes.notes(in: http).filter { !$0.hasPrefix(letter) }
        noted.http = (ImageNotes.answer(in: http) + others + [note]).joined(separator: "\n")
        return noted
    }

    /// The same with the timing of an animation; unchanged for a still.
    func noting(_ timing: FrameTiming?) -> ImageOrigin {
        timing.map { noting(FrameTiming.letter, $0.line) } ?? self
    }
}
