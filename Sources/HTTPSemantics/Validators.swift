/// The validators of a stored image (RFC 9110, 8.8).
package struct Validators: Hashable, Sendable {
    package let etag: String?
    package let lastModified: String?
    /// The URL that sent them. They mean nothing to any other URL, such as another target of a redirect.
    package let url: String
    /// `true` when no redirect led to that URL. The validators are then valid for every URL that names the image.
    package let isDirect: Bool

    package init(etag: String?, lastModified: String?, url: String, isDirect: Bool) {
        (self.etag, self.lastModified, self.url, self.isDirect) = (etag, lastModified, url, isDirect)
    }
}

/// Rules that header fields must follow to be trusted.
package enum HeaderRules {
    /// `true` when a Content-Length is one number, given once or several times (RFC 9112, 6.3). With two different
    /// numbers, an intermediary may take the rest of one body for the next response.
    package static func isOneLength(_ text: String) -> Bool {
        // The usual case: one number.
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return true }
        let lengths = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
            part.drop(while: isBlank).reversed().drop(while: isBlank)
        }
        return lengths.allSatisfy { length in
            !length.isEmpty && length.allSatisfy { 0x30...0x39 ~= $0 } && length.elementsEqual(lengths[0])
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// `true` when a validator can be sent in a request. It may be longer than servers accept, or contain half a line
    /// end.
    package static func canBeSentBack(_ text: String) -> Bool {
        // U+FFFD shows that the bytes were not UTF-8, so the original value is lost.
        guard text.utf8.count <= 4096 else { return false }
        return text.has(only: 0x20...0x7E)
            || text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !text.contains("\u{FFFD}")
    }
}
