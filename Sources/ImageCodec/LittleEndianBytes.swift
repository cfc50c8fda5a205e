/// A byte buffer for little-endian numbers.
struct LittleEndianBytes {
    var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(ascii text: String) { bytes += Array(text.utf8) }

    mutating func append16(_ values: Int...) {
        for value in values { for shift in [0, 8] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) } }
    }

    mutating func append32(_ values: Int...) {
        for value in values { for shift in [0, 8, 16, 24] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) } }
    }
}
