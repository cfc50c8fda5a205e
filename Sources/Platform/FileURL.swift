/// File URLs (RFC 8089) for absolute paths.
public enum FileURL {
    /// `file://` and the path, with everything but unreserved characters and slashes percent-encoded (RFC 3986).
    public static func text(_ path: String) -> String {
        if path.utf8.allSatisfy(isPlain) { return "file://" + path }
        let digits = Array("0123456789ABCDEF".utf8)
        var url = Array("file://".utf8)
        for byte in path.utf8 {
            if isPlain(byte) {
                url.append(byte)
            } else {
                url += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: url, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x2F, 0x5F, 0x7E: true
        default: false
        }
    }
}
