/// Finds the sender of a message that the parser refused: its top-level `id`, so that the error reaches the right caller, or
/// that it is a notification of one of the two protocols, whose method begins with `$/` or `notifications/`.
///
/// Half of the existing clients cannot handle an error with `id: null`. The scanner knows just enough JSON to skip
/// strings and nested values; it never recurses and never fails, but may find nothing.
///
/// - Complexity: O(*n*).
struct IDSalvage {
    private let text: UnsafeRawBufferPointer
    private var place = 0

    /// The sender of a message.
    enum Sender: Equatable {
        case request(RequestID)
        case notification
        case unknown

        var id: RequestID? { if case .request(let id) = self { id } else { nil } }
    }

    private var isNotification = false
    private var hasFound = false

    /// The sender of the message `text`.
    static func sender(of text: UnsafeRawBufferPointer) -> Sender {
        var scanner = IDSalvage(text: text)
        if let id = scanner.scan() { return .request(id) }
        return scanner.isNotification && !scanner.hasFound ? .notification : .unknown
    }

    private init(text: UnsafeRawBufferPointer) { self.text = text }

    /// The id found; `nil` when there is none, when there are several, or when the text is not an object.
    private mutating func scan() -> RequestID? {
        skipBlanks()
        guard consume(UInt8(ascii: "{")) else { return nil }
        var found: RequestID?
        var depth = 1
        var expectsKey = true
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""):
                let token = string()
                guard depth == 1, expectsKey else { continue }
                expectsKey = false
                skipBlanks()
                guard consume(UInt8(ascii: ":")) else { continue }
                skipBlanks()
                if token.elementsEqual("\"id\"".utf8) {
                    guard !hasFound else { return nil }
                    hasFound = true
                    found = value()
                } else if token.elementsEqual("\"method\"".utf8) {
                    let rest = text[place...]
                    isNotification = rest.starts(with: "\"$/".utf8) || rest.starts(with: "\"notifications/".utf8)
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                place += 1
                if depth == 0 { return found }
            case UInt8(ascii: ","):
                if depth == 1 { expectsKey = true }
                place += 1
            default: place += 1
            }
        }
        return found
    }

    /// The scalar at the current position as an id that echoes the source text; `nil` for any value that is not allowed
    /// as an id.
    private mutating func value() -> RequestID? {
        guard place < text.count else { return nil }
        let start = place
        if text[place] == UInt8(ascii: "\"") {
            let token = string()
            let isClosed = token.count >= 2 && token.last == UInt8(ascii: "\"")
            guard isClosed, let decoded = String(validating: token, as: UTF8.self) else { return nil }
            let isPlain = !token.contains { $0 == UInt8(ascii: "\\") || $0 < 0x20 }
            if isPlain { return .string(String(decoded.dropFirst().dropLast())) }
            return Self.isValidString(token) ? .literal(decoded) : nil
        }
        let stops = ",}] \t\r\n".utf8
        while place < text.count, !stops.contains(text[place]) { place += 1 }
        // The text may have been cut off: more digits could follow, and the answer would go to another caller.
        guard place < text.count else { return nil }
        let token = String(decoding: text[start..<place], as: UTF8.self)
        if token == "null" { return .null }
        if let number = Int(token), String(number) == token { return .integer(number) }
        return Self.isNumber(token) ? .literal(token) : nil
    }

    /// `true` when a quoted `token` has only the escapes that JSON allows (RFC 8259, section 7) and no raw control
    /// character.
    private static func isValidString(_ token: Slice<UnsafeRawBufferPointer>) -> Bool {
        var rest = token.dropFirst().dropLast()
        while let byte = rest.popFirst() {
            if byte < 0x20 { return false }
            guard byte == UInt8(ascii: "\\") else { continue }
            guard let kind = rest.popFirst() else { return false }
            if kind == UInt8(ascii: "u") {
                let digits = rest.prefix(4)
                let isHex = digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
                guard digits.count == 4, isHex else { return false }
                rest = rest.dropFirst(4)
            } else if !"\"\\/bfnrt".utf8.contains(kind) {
                return false
            }
        }
        return true
    }

    /// `true` when `token` follows JSON's grammar of numbers (RFC 8259, section 6), regardless of its size.
    private static func isNumber(_ token: String) -> Bool {
        var rest = Substring(token)
        func digits() -> Bool {
            let run = rest.prefix { $0.isASCII && $0.isNumber }
            rest.removeFirst(run.count)
            return !run.isEmpty
        }
        if rest.first == "-" { rest.removeFirst() }
        if rest.first == "0" { rest.removeFirst() } else if !digits() { return false }
        if rest.first == "." {
            rest.removeFirst()
            if !digits() { return false }
        }
        if rest.first == "e" || rest.first == "E" {
            rest.removeFirst()
            if rest.first == "+" || rest.first == "-" { rest.removeFirst() }
            if !digits() { return false }
        }
        return rest.isEmpty
    }

    /// Skips the string that begins at the current position and returns it with its quotes.
    private mutating func string() -> Slice<UnsafeRawBufferPointer> {
        let start = place
        place += 1
        while place < text.count {
            let byte = text[place]
            place += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { break }
        }
        place = min(place, text.count)
        return text[start..<place]
    }

    private mutating func skipBlanks() {
        while place < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[place]) { place += 1 }
    }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard place < text.count, text[place] == byte else { return false }
        place += 1
        return true
    }
}
