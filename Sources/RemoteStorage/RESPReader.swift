/// A reply of Redis (RESP2). An array holds no arrays, because no command of ours is answered with such.
enum RESPValue: Sendable, Equatable {
    case status(String)
    case error(String)
    case integer(Int)
    case bytes([UInt8])
    case null
    indirect case array([RESPValue])
}

/// Reads replies of Redis from bytes as they come. The bytes of a long value are read to where they stay.
///
/// What it holds is bounded by the largest value, whatever the server sends.
struct RESPReader: Sendable {
    /// The longest line, and the largest number of values in an array.
    private static let limits = (line: 4096, values: 16)

    /// The bytes that are not part of a long value.
    private var buffer = [UInt8](repeating: 0, count: 1 << 14)
    /// The part of ``buffer`` that has been read to and is not parsed.
    private var unparsed = 0..<0
    /// The value that is being read, with the end of its line; `nil` between values.
    private var value: [UInt8]?
    private var filled = 0
    /// The values of the array that is being read, and their number; `nil` outside of arrays.
    private var array: (values: [RESPValue], count: Int)?
    private let maxBytes: Int
    /// The bytes that the values of the reply may still have.
    private var left: Int

    /// - Parameter maxBytes: The most bytes of one reply's values.
    init(maxBytes: Int) { (self.maxBytes, left) = (maxBytes, maxBytes) }

    /// Has bytes read to where they belong. All replies that are there must have been taken by ``next()``.
    ///
    /// - Parameter source: Writes to the beginning of what it is given, which is not empty, and returns the number of bytes.
    mutating func fill(_ source: (UnsafeMutableRawBufferPointer) -> Int) {
        if value != nil {
            let start = filled
            value?.withUnsafeMutableBytes { bytes in
                filled += source(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
            }
            return
        }
        if unparsed.isEmpty {
            unparsed = 0..<0
        } else if unparsed.upperBound == buffer.count {
            // The beginning of a line, and so short.
            buffer.replaceSubrange(0..<unparsed.count, with: Array(buffer[unparsed]))
            unparsed = 0..<unparsed.count
        }
        let end = unparsed.upperBound
        let count = buffer.withUnsafeMutableBytes { source(UnsafeMutableRawBufferPointer(rebasing: $0[end...])) }
        unparsed = unparsed.lowerBound..<end + count
    }

    /// The next reply; `nil` when it is not complete yet.
    mutating func next() throws(RemoteError) -> RESPValue? {
        while let value = try part() {
            array?.values.append(value)
            if let array, array.values.count < array.count { continue }
            defer { (array, left) = (nil, maxBytes) }
            return array.map { .array($0.values) } ?? value
        }
        return nil
    }

    /// The next value that is no array; `nil` when it is not complete yet.
    private mutating func part() throws(RemoteError) -> RESPValue? {
        while value == nil {
            guard let (kind, text) = try line() else { return nil }
            switch kind {
            case UInt8(ascii: "+"): return .status(text)
            case UInt8(ascii: "-"): return .error(text)
            case UInt8(ascii: ":"): return .integer(try number(text, in: Int.min...Int.max))
            case UInt8(ascii: "$"):
                let count = try number(text, in: -1...left)
                if count < 0 { return .null }
                left -= count
                (value, filled) = ([UInt8](repeating: 0, count: count + 2), 0)
            case UInt8(ascii: "*") where array == nil:
                let count = try number(text, in: -1...Self.limits.values)
                if count < 0 { return .null }
                if count == 0 { return .array([]) }
                array = ([], count)
            default: throw .malformed
            }
        }
        return try finishedValue()
    }

    /// Moves bytes to the value that is being read; `nil` when there are too few.
    private mutating func finishedValue() throws(RemoteError) -> RESPValue? {
        guard var bytes = value.take() else { return nil }
        let count = min(unparsed.count, bytes.count - filled)
        if count > 0 {
            bytes.withUnsafeMutableBytes { bytes in
                UnsafeMutableRawBufferPointer(rebasing: bytes[filled...]).copyBytes(
                    from: buffer[unparsed.prefix(count)])
            }
            unparsed = unparsed.dropFirst(count)
            filled += count
        }
        guard filled == bytes.count else {
            value = bytes
            return nil
        }
        guard bytes.suffix(2) == [13, 10] else { throw .malformed }
        bytes.removeLast(2)
        return .bytes(bytes)
    }

    /// The next line, without its kind and its end; `nil` when it is not complete yet.
    private mutating func line() throws(RemoteError) -> (kind: UInt8, text: String)? {
        guard let end = buffer[unparsed].prefix(Self.limits.line).firstIndex(of: 13) else {
            if unparsed.count >= Self.limits.line { throw .malformed }
            return nil
        }
        guard end + 1 < unparsed.upperBound else { return nil }
        guard buffer[end + 1] == 10, end > unparsed.lowerBound else { throw .malformed }
        defer { unparsed = end + 2..<unparsed.upperBound }
        return (buffer[unparsed.lowerBound], String(decoding: buffer[unparsed.lowerBound + 1..<end], as: UTF8.self))
    }

    private func number(_ text: String, in range: ClosedRange<Int>) throws(RemoteError) -> Int {
        guard let number = Int(text), range.contains(number) else { throw .malformed }
        return number
    }
}
