/// The place of objects in S3, as a URL gives it.
package struct S3Location: Sendable, Hashable {
    /// Where the name of the bucket stands in a request.
    package enum Style: String, Sendable, CaseIterable {
        /// At the beginning of the path.
        case path
        /// At the beginning of the host.
        case virtual
    }

    let bucket: String
    /// The beginning of all keys, without a slash at either end.
    let prefix: String
    private(set) var region: String?
    private(set) var endpoint: S3Endpoint?
    private(set) var style: Style?

    /// - Parameter rest: What follows the bucket: a path and a query.
    init(bucket: Substring, _ rest: Substring) throws(RemoteURL.Problem) {
        guard (3...63).contains(bucket.utf8.count), bucket.first?.isLetter == true || bucket.first?.isNumber == true,
            bucket.utf8.allSatisfy({ Self.isUnreserved($0) && $0 != UInt8(ascii: "~") })
        else { throw RemoteURL.Problem(predicate: "must name a bucket of 3 to 63 letters, digits, dots and hyphens") }
        self.bucket = String(bucket)
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = parts[0]
        if path.first == "/" { path.removeFirst() }
        if path.last == "/" { path.removeLast() }
        guard let prefix = RemoteURL.decoded(path),
            prefix.isEmpty
                || prefix.utf8.count <= 512
                    && !prefix.split(separator: "/", omittingEmptySubsequences: false).contains(where: {
                        ["", ".", ".."].contains($0)
                    })
        else {
            throw RemoteURL.Problem(predicate: "must have a path of at most 512 bytes, without empty parts, . and ..")
        }
        self.prefix = prefix
        var names: Set<Substring> = []
        for field in parts.count > 1 ? parts[1].split(separator: "&", omittingEmptySubsequences: false) : [] {
            let words = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard words.count == 2, let value = RemoteURL.decoded(words[1]), names.insert(words[0]).inserted else {
                throw Self.badQuery
            }
            try add(words[0], value)
        }
        if style == .virtual, !Self.isHostLabel(bucket) {
            throw RemoteURL.Problem(
                predicate:
                    "must name a bucket of lower-case letters, digits and hyphens for the style virtual (or style=path)"
            )
        }
    }

    private static let badQuery = RemoteURL.Problem(
        predicate: "must have no more than region=…, endpoint=… and style=… in its query, each once")

    private mutating func add(_ name: Substring, _ value: String) throws(RemoteURL.Problem) {
        switch name {
        case "region":
            guard Self.isRegion(value) else {
                throw RemoteURL.Problem(predicate: "must have a region such as eu-west-1 in its query")
            }
            region = value
        case "endpoint":
            guard let endpoint = S3Endpoint(value) else {
                throw RemoteURL.Problem(
                    predicate:
                        "must have an endpoint such as https://minio.example:9000 in its query, without user, password and path"
                )
            }
            self.endpoint = endpoint
        case "style":
            guard let style = Style(rawValue: value) else {
                throw RemoteURL.Problem(predicate: "must have style=path or style=virtual in its query")
            }
            self.style = style
        default: throw Self.badQuery
        }
    }

    /// The URL without the keys.
    var shown: String {
        let path = prefix.isEmpty ? "" : "/" + Self.encoded(prefix)
        let query = [
            region.map { "region=\($0)" }, endpoint.map { "endpoint=\($0.url)" }, style.map { "style=\($0.rawValue)" },
        ].compactMap(\.self)
        return "s3://\(bucket)\(path)" + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    static func isRegion(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { isUnreserved($0) && $0 != UInt8(ascii: "~") }
    }

    /// `true` when a bucket can stand at the beginning of a host whose certificate is for all such names.
    static func isHostLabel(_ bucket: some StringProtocol) -> Bool {
        bucket.utf8.allSatisfy { isUnreserved($0) && !(0x41...0x5A).contains($0) && !"._~".utf8.contains($0) }
            && bucket.last != "-"
    }

    /// A key as it stands in a path: every byte but the unreserved ones and slashes percent-encoded.
    static func encoded(_ key: String) -> String {
        var bytes: [UInt8] = []
        for byte in key.utf8 {
            if isUnreserved(byte) || byte == UInt8(ascii: "/") {
                bytes.append(byte)
            } else {
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "-._~".utf8.contains(byte)
    }
}

/// A server that speaks the protocol of S3.
package struct S3Endpoint: Sendable, Hashable {
    let isSecure: Bool
    /// Host and port, without a port that is the scheme's own, as libcurl sends them.
    let authority: String

    /// `nil` when the text is no http or https URL, or has more than host and port. Without a scheme it is https.
    init?(_ text: String) {
        var rest = text.lowercased()[...]
        isSecure = !rest.hasPrefix("http://")
        for scheme in ["https://", "http://"] where rest.hasPrefix(scheme) { rest = rest.dropFirst(scheme.count) }
        if rest.last == "/" { rest.removeLast() }
        let end = rest.first == "[" ? rest.firstIndex(of: "]").map { rest.index(after: $0) } : rest.firstIndex(of: ":")
        let (host, tail) = (rest[..<(end ?? rest.endIndex)], rest[(end ?? rest.endIndex)...])
        let letters = host.first == "[" ? "[]:.abcdef" : "abcdefghijklmnopqrstuvwxyz-."
        guard !host.isEmpty, host.first != ".", host.first != "-",
            host.allSatisfy({ letters.contains($0) || ("0"..."9").contains($0) })
        else { return nil }
        if tail.isEmpty {
            authority = String(host)
            return
        }
        guard tail.first == ":", let port = Int(tail.dropFirst()), (1...65_535).contains(port),
            tail[tail.index(after: tail.startIndex)] != "+"
        else { return nil }
        authority = port == (isSecure ? 443 : 80) ? String(host) : "\(host):\(port)"
    }

    /// The endpoint of AWS for a region.
    init(region: String) {
        isSecure = true
        authority = "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
    }

    var url: String { (isSecure ? "https://" : "http://") + authority }

    /// `true` when the host is a number, before which no name of a bucket can stand.
    var isAddress: Bool { authority.first == "[" || authority.allSatisfy { "0123456789.:".contains($0) } }
}
