internal import Glibc

/// Text that equals another only when their bytes are the same.
///
/// Swift takes "é" and "e" with a combining accent for the same text; a cache key or an id may not.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (one: ExactText, other: ExactText) -> Bool {
        // Without a copy of the texts, whose references would be counted: all but foreign ones lie in one piece.
        let isEqual = one.text.utf8.withContiguousStorageIfAvailable { one in
            other.text.utf8.withContiguousStorageIfAvailable { other in
                guard one.count == other.count else { return false }
                guard let left = one.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left, right, one.count) == 0
            }
        }
        return isEqual.flatMap { $0 } ?? one.text.utf8.elementsEqual(other.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        let isDone: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isDone == nil { Array(text.utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
}

extension String {
    /// The text, shortened, with its length; data URLs and keys may be megabytes long.
    package var shortened: String {
        guard utf8.count > 200 else { return self }
        // A place in the middle of a character of several bytes counts as its beginning.
        return "\(self[..<utf8.index(startIndex, offsetBy: 160)])… (\(utf8.count) bytes)"
    }

    /// The text as it can stand in a sentence: shortened, and without users and passwords in URLs.
    package var excerpt: String { has("@") ? withoutLogins.shortened : shortened }

    /// The text in quotation marks, for a message about a value that is wrong: without the user and the password, should it be a
    /// URL that was given in the wrong place, or that nobody can read.
    package var quoted: String { "\"\(withoutAllBeforeHost)\"" }

    /// The same, shortened.
    package var quotedExcerpt: String { "\"\(withoutAllBeforeHost.shortened)\"" }

    /// The text with … in place of the user and the password, wherever they end: all up to the last @.
    private var withoutAllBeforeHost: String {
        guard let at = lastIndex(of: "@") else { return self }
        let scheme = self[..<(self[..<at].firstRange(of: "://")?.upperBound ?? startIndex)]
        // A user alone is no secret, and an @ may stand in a path.
        return self[scheme.endIndex..<at].contains(":") ? "\(scheme)…\(self[at...])" : self
    }

    /// The text with … in place of the user and the password of each URL in it.
    ///
    /// - Complexity: O(*n*).
    private var withoutLogins: String {
        var (shown, rest) = ("", self[...])
        while let sign = rest.firstRange(of: "://") {
            let slashes = rest[sign.upperBound...].prefix { $0 == "/" }
            shown += rest[..<slashes.endIndex]
            rest = rest[slashes.endIndex...]
            // A password may contain an @ that should have been escaped: the host begins behind the last.
            let authority = rest.prefix { !"/?#".contains($0) && !$0.isWhitespace }
            guard let at = authority.lastIndex(of: "@") else { continue }
            shown += "…"
            rest = rest[at...]
        }
        return shown + rest
    }

    /// The parts one after the other.
    ///
    /// - Complexity: O(*n*) in bytes, with one allocation of the text where an interpolation makes several.
    package static func joining(_ parts: String...) -> String {
        var count = 0
        for part in parts { count += part.utf8.count }
        return String(unsafeUninitializedCapacity: count) { text in
            var end = 0
            for var part in parts {
                part.withUTF8 { _ = UnsafeMutableBufferPointer(rebasing: text[end...]).update(fromContentsOf: $0) }
                end += part.utf8.count
            }
            return end
        }
    }

    /// `true` when the text has an ASCII character: looked for with one call, because hits ask it of their URLs.
    package func has(_ character: Unicode.Scalar) -> Bool {
        var text = self
        return text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return false }
            return memchr(start, Int32(character.value), bytes.count) != nil
        }
    }

    /// `true` when every byte of the UTF-8 is in a range.
    package func has(only range: ClosedRange<UInt8>) -> Bool {
        var text = self
        return text.withUTF8 { $0.allSatisfy(range.contains) }
    }
}

extension Double {
    /// The number without a fraction when it has none.
    package var shortest: String { self == rounded() && abs(self) < 1e15 ? String(Int(self)) : description }
}
