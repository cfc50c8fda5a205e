/// Collects the bytes of a message: numbers little-endian, texts and lists preceded by their count.
struct FrameWriter {
    var bytes: [UInt8] = []

    mutating func byte(_ value: UInt8) { bytes.append(value) }
    mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func integer(_ value: Int) {
        withUnsafeBytes(of: Int64(value).littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func number(_ value: Double) {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func data(_ value: [UInt8]) {
        integer(value.count)
        bytes.append(contentsOf: value)
    }

    mutating func text(_ value: String) { data(Array(value.utf8)) }

    mutating func optional<Value>(_ value: Value?, _ write: (inout FrameWriter, Value) -> Void) {
        flag(value != nil)
        if let value { write(&self, value) }
    }

    mutating func list<Value>(_ values: [Value], _ write: (inout FrameWriter, Value) -> Void) {
        integer(values.count)
        for value in values { write(&self, value) }
    }
}

/// The error for bytes that are not a valid message.
public struct FrameError: Error, Hashable, Sendable {
    /// The description of the fault.
    public let reason: String

    init(_ reason: String) { self.reason = reason }
}

/// Parses a message; it never reads beyond the end of the bytes.
struct FrameReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func take(_ count: Int) throws(FrameError) -> ArraySlice<UInt8> {
        guard count >= 0, count <= rest.count else { throw FrameError("it is cut off") }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func byte() throws(FrameError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw FrameError("it is cut off") }
        return byte
    }

    mutating func flag() throws(FrameError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw FrameError("a yes or no is neither")
        }
    }

    private mutating func word() throws(FrameError) -> UInt64 {
        var value: UInt64 = 0
        for (place, byte) in try take(8).enumerated() { value |= UInt64(byte) << (8 * place) }
        return value
    }

    mutating func integer() throws(FrameError) -> Int { Int(Int64(bitPattern: try word())) }

    mutating func number() throws(FrameError) -> Double { Double(bitPattern: try word()) }

    mutating func data() throws(FrameError) -> [UInt8] {
        let count = try integer()
        return Array(try take(count))
    }

    mutating func text() throws(FrameError) -> String {
        guard let text = String(validating: try data(), as: UTF8.self) else { throw FrameError("a text is not UTF-8") }
        return text
    }

    mutating func optional<Value>(
        _ read: (inout FrameReader) throws(FrameError) -> Value
    ) throws(FrameError) -> Value? {
        try flag() ? try read(&self) : nil
    }

    mutating func list<Value>(_ read: (inout FrameReader) throws(FrameError) -> Value) throws(FrameError) -> [Value] {
        let count = try integer()
        // Every element takes at least one byte, so a wrong count reserves no memory.
        guard count >= 0, count <= rest.count else { throw FrameError("it is cut off") }
        var values: [Value] = []
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }

    mutating func name<Value: RawRepresentable<String>>(_ type: Value.Type) throws(FrameError) -> Value {
        let text = try text()
        guard let value = Value(rawValue: text) else { throw FrameError("\(text) is no \(type)") }
        return value
    }
}
