internal import ImageErrors
internal import Platform

/// The decoding of a downloaded body that happens before anything inspects it.
public enum DataModifier: String, Sendable, Hashable, CaseIterable {
    /// The body is Base64 text, or a data URL that contains some; see ``Base64TextReader``.
    case base64
}

extension DataModifier {
    /// The decoded body: in memory while it is small, then in a file. Waits for the disk.
    ///
    /// - Complexity: O(bytes) in time, O(1) in memory.
    package func modified(_ body: DownloadedBody, of source: String, in place: SpoolPlace) throws -> DownloadedBody {
        let spool = BodySpool(place)
        var reader = Base64TextReader()
        var bytes: [UInt8] = []
        func flush() throws {
            try bytes.withUnsafeBytes { try spool.append($0, expected: nil) }
            bytes.removeAll(keepingCapacity: true)
        }
        do {
            try body.forEachPiece { piece in
                // A body in memory comes in one piece.
                var rest = piece[...]
                while !rest.isEmpty {
                    try reader.read(rest.prefix(1 << 16), into: &bytes)
                    rest = rest.dropFirst(1 << 16)
                    try flush()
                }
            }
            try reader.finish(into: &bytes)
            try flush()
            return try spool.finish()
        } catch let failure as Base64TextReader.Failure {
            throw ImageError.dataModifyingFailed(reason: failure.reason, source: source)
        } catch {
            throw ImageError.storage(error, folder: "the cache folder")
        }
    }
}

/// Decodes Base64 text in pieces of any size (RFC 4648, 4 and 5).
///
/// White space is skipped, padding may be missing, the URL-safe alphabet is accepted, and the text may be in a data URL
/// (RFC 2397).
struct Base64TextReader {
    /// The reason why the text cannot be decoded.
    struct Failure: Error, Equatable {
        /// The reason as a sentence.
        let reason: String
    }

    private enum State {
        /// The first characters, which may begin a data URL.
        case start([UInt8])
        /// Between `data:` and the comma.
        case head([UInt8])
        case text
        /// After padding, where only padding may follow.
        case padding
    }

    /// The maximum number of bytes before the comma of a data URL.
    static let headLimit = 1024

    private var state = State.start([])
    private var group: UInt32 = 0
    /// The number of letters in the current group.
    private var count = 0
    private var padding = 0
    private var position = 0

    /// Appends the decoded bytes of the next piece.
    mutating func read(_ text: some Sequence<UInt8>, into bytes: inout [UInt8]) throws(Failure) {
        for byte in text {
            position += 1
            try read(byte, &bytes)
        }
    }

    /// Appends the remaining bytes at the end.
    mutating func finish(into bytes: inout [UInt8]) throws(Failure) {
        switch state {
        case .start(let seen): try readText(with: seen, &bytes)
        case .head: throw Failure(reason: "The data URL ends before its comma.")
        case .text, .padding: break
        }
        // Two letters are one byte, three are two. Padding, if present, completes the group.
        guard count != 1, padding == 0 || count + padding == 4 else {
            throw Failure(reason: "The Base64 text is cut off.")
        }
        if count > 1 { bytes.append(UInt8(truncatingIfNeeded: group >> (count == 2 ? 4 : 10))) }
        if count > 2 { bytes.append(UInt8(truncatingIfNeeded: group >> 2)) }
    }

    private mutating func read(_ byte: UInt8, _ bytes: inout [UInt8]) throws(Failure) {
        switch state {
        case .text: try readLetter(byte, &bytes)
        case .start(var seen):
            if seen.isEmpty, Self.isSpace(byte) { return }
            seen.append(byte)
            let mark = Array("data:".utf8)
            if seen.last.map({ $0 | (mark[seen.count - 1] == 0x3A ? 0 : 0x20) }) != mark[seen.count - 1] {
                return try readText(with: seen, &bytes)
            }
            state = seen.count == mark.count ? .head([]) : .start(seen)
        case .head(var head):
            guard byte == UInt8(ascii: ",") else {
                guard head.count < Self.headLimit else {
                    throw Failure(reason: "The data URL has no comma in its first \(Self.headLimit) bytes.")
                }
                head.append(byte)
                return state = .head(head)
            }
            guard String(decoding: head, as: UTF8.self).asciiLowercased.hasSuffix(";base64") else {
                throw Failure(reason: "The data URL does not say that it is Base64.")
            }
            state = .text
        case .padding:
            if Self.isSpace(byte) { return }
            guard byte == UInt8(ascii: "="), count + padding < 4 else { throw invalidByte(byte) }
            padding += 1
        }
    }

    private mutating func readText(with seen: [UInt8], _ bytes: inout [UInt8]) throws(Failure) {
        state = .text
        for byte in seen { try read(byte, &bytes) }
    }

    private mutating func readLetter(_ byte: UInt8, _ bytes: inout [UInt8]) throws(Failure) {
        let value = Self.values[Int(byte)]
        guard value < 64 else {
            if Self.isSpace(byte) { return }
            guard byte == UInt8(ascii: "="), count >= 2 else { throw invalidByte(byte) }
            (state, padding) = (.padding, 1)
            return
        }
        group = group << 6 | UInt32(value)
        count += 1
        guard count == 4 else { return }
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
        (group, count) = (0, 0)
    }

    private func invalidByte(_ byte: UInt8) -> Failure {
        let hex = "0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        return Failure(reason: "Byte \(position) of the text is \(hex), which does not stand there in Base64.")
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// The values of the bytes; 64 for those that are not Base64 letters.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 64, count: 256)
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        for (value, byte) in alphabet.utf8.enumerated() { values[Int(byte)] = UInt8(value) }
        (values[Int(UInt8(ascii: "-"))], values[Int(UInt8(ascii: "_"))]) = (62, 63)
        return values
    }()
}
