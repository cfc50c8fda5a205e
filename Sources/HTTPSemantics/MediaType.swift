internal import Platform

/// Operations on media types as servers send them (RFC 9110, 8.3.1).
package enum MediaType {
    /// The lower-case type and subtype without parameters.
    package static func essence(_ text: String) -> String {
        // ASCII, the usual case, is processed bytewise, because this runs for each stored image.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return String((text.split(separator: ";").first ?? "").filter { !$0.isWhitespace }).lowercased()
        }
        let type = text.utf8.drop { $0 == UInt8(ascii: ";") }.prefix { $0 != UInt8(ascii: ";") }
        let letters = type.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        return String(decoding: letters, as: UTF8.self).asciiLowercased
    }

    /// `true` when a media type matches one of the patterns, such as `image/*`.
    package static func matches(_ text: String, _ patterns: Set<String>) -> Bool {
        let type = essence(text)
        let group = type.split(separator: "/").first.map { $0 + "/*" } ?? ""
        return !patterns.isDisjoint(with: [type, group, "*/*"])
    }
}
