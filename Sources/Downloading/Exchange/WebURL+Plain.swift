internal import HTTPSemantics
internal import Platform

extension WebURL {
    /// A URL that libcurl would leave as it is, byte by byte; `nil` for any other, which it has to parse. Most are plain, and
    /// libcurl's parsing costs more than a look-up in the cache.
    ///
    /// Plain is: a scheme in lower case, a host of lower-case letters, digits, `-` and `.` that no resolver takes for
    /// another address, a path without dot segments, and nothing that has to be encoded, decoded or left out.
    init?(plain text: String) {
        var copy = text
        let found = copy.withUTF8 { bytes -> (isSecure: Bool, host: Range<Int>, port: Range<Int>, end: Int)? in
            let isSecure = bytes.starts(with: "https://".utf8)
            guard isSecure || bytes.starts(with: "http://".utf8) else { return nil }
            var place = isSecure ? 8 : 7
            func span(_ isMeant: (UInt8) -> Bool) -> Range<Int> {
                let start = place
                while place < bytes.count, isMeant(bytes[place]) { place += 1 }
                return start..<place
            }
            let host = span { Self.isLetter($0) || Self.isDigit($0) || $0 == 0x2D || $0 == 0x2E }
            guard Self.isPlainHost(bytes[host]) else { return nil }
            var port = host.upperBound..<host.upperBound
            if place < bytes.count, bytes[place] == UInt8(ascii: ":") {
                place += 1
                port = span(Self.isDigit)
                let number = bytes[port].prefix(6).reduce(0) { 10 * $0 + Int($1 - 0x30) }
                guard !port.isEmpty, bytes[port.lowerBound] != 0x30, number <= 0xFFFF else { return nil }
            }
            let end = place
            guard place < bytes.count, bytes[place] == UInt8(ascii: "/") else { return nil }
            let path = span { Self.isPlainInPath($0) }
            let dots = path.dropLast().contains {
                bytes[$0] == UInt8(ascii: "/") && bytes[$0 + 1] == UInt8(ascii: ".")
            }
            guard !dots else { return nil }
            if place < bytes.count {
                guard bytes[place] == UInt8(ascii: "?") else { return nil }
                place += 1
                let query = span { Self.isPlainInPath($0) || $0 == UInt8(ascii: "?") }
                guard !query.isEmpty, place == bytes.count else { return nil }
            }
            return (isSecure, host, port, end)
        }
        guard let (isSecure, host, port, end) = found else { return nil }
        // Requests that wait share the texts of their host.
        let prefix = String(decoding: text.utf8.prefix(end), as: UTF8.self)
        let shared = Self.lastPlainHost.value(for: prefix) {
            let host = String(decoding: text.utf8.prefix(host.upperBound).dropFirst(host.lowerBound), as: UTF8.self)
            return Authority(origin: port.isEmpty ? prefix + (isSecure ? ":443" : ":80") : prefix, host: host)
        }
        self.init(parsed: ExactText(text), shared)
    }

    private static let lastPlainHost = LastValue<String, Authority>()

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// `true` for what stands for itself in a path (RFC 3986, 3.3), but not `%`.
    private static func isPlainInPath(_ byte: UInt8) -> Bool {
        isLetter(byte | 0x20) || isDigit(byte) || "/-._~=&+,:;!*()@".utf8.contains(byte)
    }

    /// `true` for a name whose last label begins with a letter, and for four numbers as they are written.
    private static func isPlainHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.allSatisfy({ !$0.isEmpty }), let first = labels.last?.first else { return false }
        if isLetter(first) { return true }
        return labels.count == 4
            && labels.allSatisfy { label in
                let number = label.prefix(4).reduce(0) { isDigit($1) ? 10 * $0 + Int($1 - 0x30) : 1000 }
                return number <= 255 && (label.count == 1 || label.first != 0x30)
            }
    }
}
