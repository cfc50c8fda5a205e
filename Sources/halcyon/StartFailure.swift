/// The reason why the server cannot start, as a sentence.
struct StartFailure: Error, CustomStringConvertible {
    let description: String
}
