import Glibc

/// Numbers as bytes, for files made by hand.
package func big32(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
package func big16(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
package func little32(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
package func little16(_ value: UInt16) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }
package func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
package func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// A GIF of two pixels, with a delay in hundredths of a second for each frame, or none.
package func animatedGIF(_ delays: [Int?], loops: Int?, as name: String = "NETSCAPE2.0") -> [UInt8] {
    var bytes = ascii("GIF89a") + [2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
    if let loops {
        bytes += [0x21, 0xFF, 11] + ascii(name) + [3, 1, UInt8(loops & 255), UInt8(loops >> 8), 0]
    }
    for delay in delays {
        if let delay { bytes += [0x21, 0xF9, 4, 0, UInt8(delay & 255), UInt8(delay >> 8), 0, 0] }
        bytes += [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x0A, 0]
    }
    return bytes + [0x3B]
}

extension [UInt8] {
    /// The place of the first newline at or after `start`. By memchr: a search by elements is slow where nothing is optimised.
    package func firstNewline(from start: Int = 0) -> Int? {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count else { return nil }
            return memchr(base + start, Int32(UInt8(ascii: "\n")), bytes.count - start).map {
                UnsafeRawPointer($0) - base
            }
        }
    }
}
