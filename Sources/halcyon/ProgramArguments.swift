internal import CLinux

/// The words on the command line of this process.
///
/// Swift's own list of them is read from `/proc`, and is empty where that cannot be: then all flags would be left out, those
/// too that limit what the server may do.
enum ProgramArguments {
    /// All but the program's name.
    ///
    /// - Throws: ``StartFailure`` when the system passed not even that: what was asked for is not known. `ValidationError` for a
    ///   word that is not UTF-8, which would name another file.
    static var all: [String] {
        get throws {
            guard hl_argument(0) != nil else {
                throw StartFailure(description: "The system passed no arguments, not even the name of the program.")
            }
            var words: [String] = []
            while let bytes = hl_argument(Int32(words.count) + 1) {
                guard let word = String(validatingCString: bytes) else {
                    throw notText("An argument", String(cString: bytes))
                }
                words.append(word)
            }
            return words
        }
    }
}
