internal import CCurl
package import HTTPSemantics
package import ImageErrors
internal import Platform

extension WebURL {
    /// The target that libcurl sends to a proxy: host and port of a tunnel for https, else the URL without a default
    /// port.
    var proxyTarget: String {
        let flags = UInt32(CURLU_NO_DEFAULT_PORT)
        guard let url = hc_url() else { return text }
        defer { hc_url_cleanup(url) }
        guard hc_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK,
            let value = hc_url_get(url, isSecure ? CURLUPART_HOST : CURLUPART_URL, flags)
        else { return text }
        defer { hc_free(value) }
        let port = origin.split(separator: ":").last ?? ""
        return isSecure ? "\(String(cString: value)):\(port)" : String(cString: value)
    }

    /// Parses `text`.
    ///
    /// - Throws: ``ImageError/invalidURL(_:reason:)``; ``ImageError/connectionFailed(url:reason:)`` when libcurl cannot
    ///   be loaded.
    package init(_ text: String) throws(ImageError) {
        if hc_load() == nil, let plain = WebURL(plain: text) {
            self = plain
        } else {
            try self.init(text, relativeTo: nil, naming: text)
        }
    }

    /// The URL that a `Location` of this one refers to (RFC 9110, 10.2.2). Error messages show `source`.
    func following(_ location: String, naming source: String) throws(ImageError) -> WebURL {
        // A fragment alone refers to the same document (RFC 3986, 4.4); libcurl would apply it to the host.
        location.hasPrefix("#") ? self : try WebURL(location, relativeTo: self, naming: source)
    }

    init(_ text: String, relativeTo base: WebURL?, naming source: String) throws(ImageError) {
        func invalid(_ reason: String) -> ImageError {
            .invalidURL(source, reason: base == nil ? reason : "It redirects to \(text.quotedExcerpt). \(reason)")
        }
        guard !text.utf8.contains(0) else { throw invalid("It contains a NUL.") }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw invalid("It contains a control character.")
        }
        // Browsers end the host at a backslash, libcurl takes it for a part of the user's name.
        if let backslash = text.utf8.firstIndex(of: UInt8(ascii: "\\")), backslash < Self.endOfAuthority(text) {
            throw invalid("It contains a backslash before its path; write %5C if the user's name contains one.")
        }
        if let failure = hc_load() {
            throw .connectionFailed(url: source, reason: String(cString: failure) + ".")
        }
        guard let url = hc_url() else { throw invalid("There is no memory to parse it.") }
        defer { hc_url_cleanup(url) }
        let flags = UInt32(CURLU_URLENCODE)
        if let base, hc_url_set(url, CURLUPART_URL, base.text, flags) != CURLUE_OK {
            throw invalid("It is not a well-formed URL.")
        }
        guard Self.percentEncoded(text).withCString({ hc_url_set(url, CURLUPART_URL, $0, flags) }) == CURLUE_OK
        else {
            throw invalid("It is not a well-formed URL.")
        }
        func part(_ part: CURLUPart, _ flags: Int32 = CURLU_DEFAULT_PORT) -> String? {
            guard let value = hc_url_get(url, part, UInt32(flags)) else { return nil }
            defer { hc_free(value) }
            return String(cString: value)
        }
        let scheme = part(CURLUPART_SCHEME) ?? ""
        guard scheme == "http" || scheme == "https" else {
            throw invalid("It leads to a URL that is neither http nor https.")
        }
        var noName: ImageError { invalid("Its host has a name that cannot be looked up.") }
        var name = part(CURLUPART_HOST)
        if name?.utf8.allSatisfy({ $0 < 0x80 }) == false {
            // The host is compared in the form that resolvers receive: letters may stand for others, or for the digits
            // of an address.
            guard let plain = part(CURLUPART_HOST, 1 << 12), plain.utf8.allSatisfy({ $0 < 0x80 }),
                hc_url_set(url, CURLUPART_HOST, plain, 0) == CURLUE_OK, let whole = part(CURLUPART_URL, 0),
                hc_url_set(url, CURLUPART_URL, whole, flags) == CURLUE_OK
            else { throw noName }
            name = part(CURLUPART_HOST)
        }
        if text.utf8.contains(UInt8(ascii: "%")) || name?.hasSuffix(".") == true {
            guard Self.stabilizeHost(url, flags, part) else { throw noName }
            name = part(CURLUPART_HOST)
        }
        let host = (name ?? "").quicklyLowercased
        guard !host.isEmpty else { throw invalid("It names no host.") }
        // Requests that wait share the texts of their host, and each its URL with its caller.
        let origin = "\(scheme)://\(host):\(part(CURLUPART_PORT) ?? "")"
        var authority = Self.lastAuthority.value(for: origin) { Authority(origin: origin, host: host) }
        // Most URLs have neither user nor fragment, which these characters show.
        let mayHaveMore = text.utf8.contains { "@#%".utf8.contains($0) || $0 >= 0x80 }
        if mayHaveMore, part(CURLUPART_USER) != nil || part(CURLUPART_PASSWORD) != nil {
            let (user, password) = (part(CURLUPART_USER, CURLU_URLDECODE), part(CURLUPART_PASSWORD, CURLU_URLDECODE))
            // libcurl refuses to decode a control character.
            guard user != nil || part(CURLUPART_USER) == nil, password != nil || part(CURLUPART_PASSWORD) == nil else {
                throw invalid("Its user or password contains a control character.")
            }
            authority = Authority(
                origin: origin, host: host, credentials: .basic(user: user ?? "", password: password ?? ""))
            hc_url_set(url, CURLUPART_USER, nil, 0)
            hc_url_set(url, CURLUPART_PASSWORD, nil, 0)
        }
        if mayHaveMore { hc_url_set(url, CURLUPART_FRAGMENT, nil, 0) }
        guard let whole = part(CURLUPART_URL, 0) else { throw invalid("It is not a well-formed URL.") }
        self.init(parsed: ExactText(text) == ExactText(whole) ? ExactText(text) : ExactText(whole), authority)
    }

    private static let lastAuthority = LastValue<String, Authority>()

    /// The text with what cannot stand in a path or query (RFC 3986, 3.3) percent-encoded there, as browsers and others send
    /// it: libcurl encodes less of it, with digits in lower case, and makes a plus sign of a space. What is percent-encoded
    /// already stays as it is, as its signature may count the digits. libcurl judges the host.
    private static func percentEncoded(_ text: String) -> String {
        guard text.utf8.contains(where: needsEncoding) else { return text }
        let bytes = text.utf8
        let start = endOfAuthority(text)
        var encoded = Array(bytes[..<start])
        for byte in bytes[start...] {
            if needsEncoding(byte) { encoded += percentEncoding(of: byte) } else { encoded.append(byte) }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Where the path, query or fragment begins; the start of a text without a host.
    private static func endOfAuthority(_ text: String) -> String.Index {
        guard let slashes = text.firstRange(of: /^([A-Za-z][A-Za-z0-9+.\-]*:\/+|\/\/)/) else { return text.startIndex }
        return text.utf8[slashes.upperBound...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
    }

    private static func needsEncoding(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte >= 0x7F || "\"<>\\^`{}".utf8.contains(byte)
    }

    /// Repeats parsing until the host does not change any more: `%31`, or a dot at the end, may hide the digits of an
    /// address, which libcurl recognises only when it parses the result again, to connect or to name it to a proxy.
    /// Returns `false` when it changes each time.
    private static func stabilizeHost(
        _ url: OpaquePointer, _ flags: UInt32, _ part: (CURLUPart, Int32) -> String?
    ) -> Bool {
        for _ in 0..<8 {
            guard let host = part(CURLUPART_HOST, 0) else { return true }
            let last = host.dropLast().split(separator: ".").last
            if host.hasSuffix("."), let digit = last?.first, ("0"..."9").contains(digit) {
                guard hc_url_set(url, CURLUPART_HOST, String(host.dropLast()), 0) == CURLUE_OK else { return false }
            }
            guard let whole = part(CURLUPART_URL, 0), hc_url_set(url, CURLUPART_URL, whole, flags) == CURLUE_OK else {
                return false
            }
            if part(CURLUPART_HOST, 0) == host { return true }
        }
        return false
    }

    // MARK: Plain URLs

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
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "!"): true
        // ( ) * + , - . / digits : ; and @ with the letters.
        case 0x28...0x3B, 0x40...0x5A, 0x61...0x7A: true
        default: false
        }
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
