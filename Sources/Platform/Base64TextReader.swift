/// Decodes Base64 text in pieces of any size (RFC 4648, 4 and 5).
///
/// White space is skipped, padding may be missing, the URL-safe alphabet is accepted, and the text may be in a data URL
/// (RFC 2397).
package struct Base64TextReader {
    /// The reason why the text cannot be decoded.
    package struct Failure: Error, Equatable {
        /// The reason as a sentence.
        package let reason: String
    }

    /// The maximum number of bytes before the comma of a data URL.
    static let headLimit = 1024

    /// The letters that are not decoded yet: fewer than a group, or the beginning while a data URL may begin there.
    private var rest: [UInt8] = []
    private var isAtStart = true
    /// `true` after padding, where nothing may follow.
    private var isComplete = false
    private var position = 0

    package init() {}

    /// Appends the decoded bytes of the next piece.
    package mutating func read(_ text: some Sequence<UInt8>, into bytes: inout [UInt8]) throws(Failure) {
        if isAtStart {
            rest += text
            return try skipHead() ? readAgain(into: &bytes) : ()
        }
        rest += text.lazy.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        try decode(rest.count & ~3, into: &bytes)
    }

    /// Appends the remaining bytes at the end.
    package mutating func finish(into bytes: inout [UInt8]) throws(Failure) {
        if isAtStart {
            isAtStart = false
            try readAgain(into: &bytes)
        }
        try decode(rest.count, into: &bytes)
    }

    /// Reads what was held back for the start.
    private mutating func readAgain(into bytes: inout [UInt8]) throws(Failure) {
        let text = rest
        rest = []
        try read(text, into: &bytes)
    }

    private mutating func decode(_ count: Int, into bytes: inout [UInt8]) throws(Failure) {
        if count == 0 { return }
        let letters = rest[..<count]
        let isPadded = letters.last == UInt8(ascii: "=")
        guard !isComplete, !isPadded || count % 4 == 0, let decoded = letters.withUnsafeBytes(Base64.decode) else {
            throw Failure(
                reason: "Characters \(position) to \(position + count) of it, white space aside, are not Base64.")
        }
        bytes += decoded
        position += count
        isComplete = isPadded
        rest.removeFirst(count)
    }

    /// Removes the beginning of a data URL from ``rest``.
    ///
    /// - Returns: `false` while it is incomplete.
    private mutating func skipHead() throws(Failure) -> Bool {
        let start = rest.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let mark = "data:".utf8
        guard zip(start, mark).allSatisfy({ $0 | ($1 == 0x3A ? 0 : 0x20) == $1 }) else {
            isAtStart = false
            return true
        }
        guard let comma = start.firstIndex(of: UInt8(ascii: ",")) else {
            guard start.count <= Self.headLimit else {
                throw Failure(reason: "The data URL has no comma in its first \(Self.headLimit) bytes.")
            }
            return false
        }
        guard String(decoding: start[..<comma], as: UTF8.self).asciiLowercased.hasSuffix(";base64") else {
            throw Failure(reason: "The data URL does not say that it is Base64.")
        }
        rest.removeSubrange(...comma)
        isAtStart = false
        return true
    }
}
