internal import Glibc

/// Text that equals another only when their bytes are the same.
///
/// Swift takes "é" and "e" with a combining accent for the same text; a cache key or an id may not.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (one: ExactText, other: ExactText) -> Bool {
        var (one, other) = (one.text, other.text)
        return one.withUTF8 { one in
            other.withUTF8 { other in
                guard one.count == other.count else { return false }
                guard let left = one.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left, right, one.count) == 0
            }
        }
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// The text, shortened so that it can stand in a sentence, with its length; data URLs and keys may be megabytes long.
    package var excerpt: String {
        guard utf8.count > 200 else { return self }
        // Not in the middle of a character of several bytes.
        let start = utf8.prefix(160).reversed().drop { $0 & 0xC0 == 0x80 }.count
        let isWhole = utf8.dropFirst(160).first.map { $0 & 0xC0 != 0x80 } ?? true
        let text = String(decoding: utf8.prefix(isWhole ? 160 : start - 1), as: UTF8.self)
        return "\(text)… (\(utf8.count) bytes)"
    }

    /// The parts one after the other.
    ///
    /// - Complexity: O(*n*) in bytes, with one allocation where an interpolation makes several.
    @inline(__always)
    package static func joining<each Part: StringProtocol>(_ part: repeat each Part) -> String {
        var count = 0
        for part in repeat each part { count += part.utf8.count }
        var text = ""
        text.reserveCapacity(count)
        for part in repeat each part { text.append(contentsOf: part) }
        return text
    }
}

extension Double {
    /// The number without a fraction when it has none.
    package var shortest: String { self == rounded() && abs(self) < 1e15 ? String(Int(self)) : description }
}
