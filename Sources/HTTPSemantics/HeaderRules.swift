internal import Platform

/// What header fields must be like to be believed: pure.
package enum HeaderRules {
    /// Whether a Content-Length is one number, said once or several times (RFC 9112, 6.3): where two differ, somebody
    /// between the server and us may take the rest of one body for the next answer.
    package static func isOneLength(_ text: String) -> Bool {
        // Most say it once, and nothing else.
        if !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) { return true }
        let lengths = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { part in
            part.drop(while: isBlank).reversed().drop(while: isBlank)
        }
        return lengths.allSatisfy { length in
            !length.isEmpty && length.allSatisfy { 0x30...0x39 ~= $0 } && length.elementsEqual(lengths[0])
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Whether a validator can stand in a request: it may be longer than servers read, or hold half a line end.
    package static func canBeSentBack(_ text: String) -> Bool {
        // What is no UTF-8 has lost what it was.
        text.utf8.count <= 4096 && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            && (text.utf8.allSatisfy { $0 < 0x80 } || !text.contains("\u{FFFD}"))
    }
}
