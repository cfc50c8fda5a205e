/// Writes JSON text into a byte buffer.
///
/// It writes the commas, escapes the strings and writes numbers so that they read back exactly. The caller must close
/// what it opened; a value outside ``object(_:)`` or ``array(_:)`` is a top-level value.
///
/// jansson is not used here: building a tree and dumping it costs fifteen times as much, and it prints 0.1 with 17
/// digits.
public struct JSONWriter: Sendable {
    /// The text so far, as UTF-8.
    public private(set) var bytes: [UInt8] = []

    private var needsComma = false
    private var depth = 0
    private let indented: Bool

    /// A writer of compact text, or of text with one value per line and two spaces per level.
    ///
    /// - Parameter capacity: The expected length of the text, in bytes.
    public init(indented: Bool = false, capacity: Int = 0) {
        self.indented = indented
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    // MARK: Structure

    /// Writes an object whose members `body` writes by ``field(_:_:)-7q3mm`` or ``key(_:)``.
    public mutating func object(_ body: (inout JSONWriter) throws -> Void) rethrows {
        open(UInt8(ascii: "{"))
        try body(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes an array whose elements `body` writes.
    public mutating func array(_ body: (inout JSONWriter) throws -> Void) rethrows {
        open(UInt8(ascii: "["))
        try body(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes the name of a member that needs no escape; the value must follow.
    public mutating func key(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        endKey()
    }

    /// Writes the name of a member; the value must follow.
    public mutating func key(_ name: String) {
        separate()
        quote(name)
        endKey()
    }

    // MARK: Values

    /// Writes a string.
    public mutating func write(_ value: String) {
        separate()
        quote(value)
        needsComma = true
    }

    /// Writes an integer.
    public mutating func write(_ value: Int) {
        separate()
        appendInteger(value)
        needsComma = true
    }

    /// Writes a number in the shortest form that reads back exactly; infinities and NaN become `null`.
    public mutating func write(_ value: Double) {
        separate()
        append(ascii: value.isFinite ? value.description : "null")
        needsComma = true
    }

    /// Writes `true` or `false`.
    public mutating func write(_ value: Bool) {
        separate()
        append(ascii: value ? "true" : "false")
        needsComma = true
    }

    /// Writes `null`.
    public mutating func writeNull() {
        separate()
        append(ascii: "null")
        needsComma = true
    }

    /// Writes text that is JSON already, as it is.
    public mutating func writeRaw(_ json: String) {
        separate()
        append(ascii: json)
        needsComma = true
    }

    /// Writes bytes that are JSON already, as they are.
    public mutating func writeRaw(_ json: some Collection<UInt8>) {
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// Writes members of an object that are JSON already: `"name":value`, with commas between but not around.
    public mutating func writeRawMembers(_ json: ArraySlice<UInt8>) {
        guard !json.isEmpty else { return }
        separate()
        bytes.append(contentsOf: json)
        needsComma = true
    }

    /// What places are made of: whole blocks are copied, where a debug build would append byte by byte.
    private static let zeros = [UInt8](repeating: 0, count: 1 << 16)

    /// Writes a string of `count` bytes that need no escape, such as base64, filled in place.
    ///
    /// - Parameter fill: Writes every byte of the buffer it is given.
    public mutating func writeUnescaped(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
        separate()
        // Room for what follows too, because a long text would be copied for it.
        bytes.reserveCapacity(bytes.count + count + 4096)
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        for place in stride(from: 0, to: count, by: Self.zeros.count) {
            bytes.append(contentsOf: Self.zeros.prefix(count - place))
        }
        bytes.withUnsafeMutableBytes { fill(UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    // MARK: Fields

    /// Writes a member with a string, or with `null`.
    public mutating func field(_ name: StaticString, _ value: String?) {
        key(name)
        if let value { write(value) } else { writeNull() }
    }

    /// Writes a member with an integer, or with `null`.
    public mutating func field(_ name: StaticString, _ value: Int?) {
        key(name)
        if let value { write(value) } else { writeNull() }
    }

    /// Writes a member with a boolean.
    public mutating func field(_ name: StaticString, _ value: Bool) {
        key(name)
        write(value)
    }

    // MARK: Reuse

    /// Empties the writer, keeping up to `limit` bytes of capacity for the next text.
    public mutating func reset(keeping limit: Int = 1 << 16) {
        bytes.removeAll(keepingCapacity: bytes.capacity <= limit)
        needsComma = false
        depth = 0
    }

    // MARK: Implementation

    private mutating func open(_ bracket: UInt8) {
        separate()
        bytes.append(bracket)
        needsComma = false
        depth += 1
    }

    private mutating func close(_ bracket: UInt8) {
        depth -= 1
        if indented, needsComma { newLine() }
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func endKey() {
        bytes.append(UInt8(ascii: ":"))
        if indented { bytes.append(UInt8(ascii: " ")) }
        afterKey = true
        needsComma = false
    }

    private var afterKey = false

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        if indented, !afterKey, depth > 0 { newLine() }
        afterKey = false
    }

    private mutating func newLine() {
        bytes.append(UInt8(ascii: "\n"))
        for _ in 0..<(2 * depth) { bytes.append(UInt8(ascii: " ")) }
    }

    private mutating func append(ascii text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func appendInteger(_ value: Int) {
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { buffer in
            var place = buffer.count
            var rest = value.magnitude
            repeat {
                place -= 1
                buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 {
                place -= 1
                buffer[place] = UInt8(ascii: "-")
            }
            bytes.append(contentsOf: buffer[place...])
        }
    }

    private mutating func quote(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            var rest = UnsafeRawBufferPointer(utf8)
            while true {
                let count = Self.plainCount(rest)
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: rest[..<count]))
                guard count < rest.count else { break }
                escape(rest[count])
                rest = UnsafeRawBufferPointer(rebasing: rest[(count + 1)...])
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The number of bytes before the first one that needs an escape: a control character, a quotation mark or a backslash.
    private static func plainCount(_ text: UnsafeRawBufferPointer) -> Int {
        var count = 0
        // Eight at a time: a byte of a difference is zero, or one of a word below 0x20, where the subtraction borrows.
        let (ones, highs): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        while count + 8 <= text.count {
            let word = text.loadUnaligned(fromByteOffset: count, as: UInt64.self)
            let (quote, slash) = (word ^ ones &* 0x22, word ^ ones &* 0x5C)
            let found = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (slash &- ones) & ~slash
            if found & highs != 0 { break }
            count += 8
        }
        while count < text.count, text[count] >= 0x20, text[count] != 0x22, text[count] != 0x5C { count += 1 }
        return count
    }

    private mutating func escape(_ byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x22, 0x5C: bytes.append(byte)
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            append(ascii: "u00")
            bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            let low = byte & 0x0F
            bytes.append(low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") + low - 10)
        }
    }
}
