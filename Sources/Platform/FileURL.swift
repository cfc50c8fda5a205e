internal import Glibc

/// File URLs (RFC 8089) for absolute paths.
public enum FileURL {
    /// `file://` and the path, with everything but unreserved characters and slashes percent-encoded (RFC 3986).
    public static func text(_ path: String) -> String {
        var path = path
        // Most are plain, and each answer has one: looked through where it lies.
        if path.withUTF8({ $0.allSatisfy(isPlain) }) { return .joining("file://", path) }
        var url = Array("file://".utf8)
        for byte in path.utf8 { url += isPlain(byte) ? [byte] : percentEncoding(of: byte) }
        return String(decoding: url, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E: true
        default: false
        }
    }
}

/// A percent sign and two hexadecimal digits in upper case (RFC 3986, 2.1).
package func percentEncoding(of byte: UInt8) -> [UInt8] {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
    return [UInt8(ascii: "%"), digit(byte >> 4), digit(byte & 15)]
}

/// `text` with every `%` and two hexadecimal digits as the byte they stand for (RFC 3986, 2.1); another `%` stays.
package func percentDecoded(_ text: Substring) -> [UInt8] {
    let encoded = Array(text.utf8)
    guard memchr(encoded, 0x25, encoded.count) != nil else { return encoded }
    var (bytes, rest) = ([UInt8](), encoded[...])
    while let byte = rest.popFirst() {
        let digits = byte == 0x25 ? rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue } : []
        bytes.append(digits.count == 2 ? UInt8(digits[0] << 4 | digits[1]) : byte)
        if digits.count == 2 { rest = rest.dropFirst(2) }
    }
    return bytes
}
