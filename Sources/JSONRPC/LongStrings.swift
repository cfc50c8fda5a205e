internal import CJansson
internal import Glibc

/// A JSON text without its long strings, and the strings to put back into the parsed tree.
///
/// The parser takes 10 ns for each byte: for an image in base64 that is more time than all other work on the message.
/// Only plain ASCII values without escapes are cut out, because they need no decoding; any syntax error of the text is
/// still in the remaining text.
struct LongStrings {
    /// The length of the shortest string that is cut out, in bytes.
    static let smallest = 4096

    /// The beginning of the placeholder for a string: a NUL, a random number that no client can guess, and a hyphen.
    /// The index of the string follows.
    private static let mark: [UInt8] = {
        let secret = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
        return [0] + Array(secret.utf8) + [UInt8(ascii: "-")]
    }()

    /// The remaining text.
    private(set) var rest: [UInt8] = []
    private var strings: [UnsafeRawBufferPointer] = []

    /// Cuts the long strings out of `text`, which must outlive this value; `nil` if that does not pay off.
    init?(of text: UnsafeRawBufferPointer) {
        guard text.count >= 2 * Self.smallest else { return nil }
        var (place, copied, saved) = (0, 0, 0)
        while let quote = Self.firstQuote(in: text, from: place) {
            guard let end = Self.end(ofStringFrom: quote + 1, in: text) else { return nil }
            place = end + 1
            let string = UnsafeRawBufferPointer(rebasing: text[(quote + 1)..<end])
            guard string.count >= Self.smallest, !Self.isName(text, end), Self.isPlain(string) else { continue }
            rest.append(contentsOf: text[copied...quote])
            rest.append(contentsOf: "\\u0000".utf8)
            rest.append(contentsOf: Self.mark.dropFirst())
            rest.append(contentsOf: String(strings.count).utf8)
            copied = end
            saved += string.count
            strings.append(string)
        }
        guard saved > text.count / 2 else { return nil }
        rest.append(contentsOf: text[copied...])
    }

    /// Replaces the placeholders in `tree` by the strings.
    ///
    /// - Returns: `true` if every string found its placeholder.
    func insert(into tree: UnsafeMutablePointer<json_t>) -> Bool {
        var missing = strings.count
        var nodes = [tree]
        while missing > 0, let node = nodes.popLast() {
            switch node.pointee.type {
            case JSON_ARRAY:
                for index in 0..<json_array_size(node) {
                    if let element = json_array_get(node, index) { nodes.append(element) }
                }
            case JSON_OBJECT:
                var member = json_object_iter(node)
                while member != nil {
                    if let value = json_object_iter_value(member) { nodes.append(value) }
                    member = json_object_iter_next(node, member)
                }
            case JSON_STRING:
                guard let string = string(for: node) else { continue }
                let text = string.baseAddress?.assumingMemoryBound(to: CChar.self)
                guard json_string_setn_nocheck(node, text, string.count) == 0 else { return false }
                missing -= 1
            default: continue
            }
        }
        return missing == 0
    }

    /// The string that `node` stands for; `nil` if it is not a placeholder.
    private func string(for node: UnsafeMutablePointer<json_t>) -> UnsafeRawBufferPointer? {
        let value = UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
        guard value.count > Self.mark.count, value.starts(with: Self.mark),
            let index = Int(String(decoding: value.dropFirst(Self.mark.count), as: UTF8.self)),
            strings.indices.contains(index)
        else { return nil }
        return strings[index]
    }

    // MARK: Reading the text

    private static func firstQuote(in text: UnsafeRawBufferPointer, from place: Int) -> Int? {
        guard place < text.count, let base = text.baseAddress,
            let quote = memchr(base + place, Int32(UInt8(ascii: "\"")), text.count - place)
        else { return nil }
        return UnsafeRawPointer(quote) - base
    }

    /// The index of the quote that ends the string whose first byte is at `start`.
    private static func end(ofStringFrom start: Int, in text: UnsafeRawBufferPointer) -> Int? {
        var place = start
        while let quote = firstQuote(in: text, from: place) {
            var slash = quote
            while slash > start, text[slash - 1] == UInt8(ascii: "\\") { slash -= 1 }
            if (quote - slash) % 2 == 0 { return quote }
            place = quote + 1
        }
        return nil
    }

    /// `true` when the string that ends at `end` is the name of a member.
    private static func isName(_ text: UnsafeRawBufferPointer, _ end: Int) -> Bool {
        text[(end + 1)...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: ":")
    }

    private static func isPlain(_ string: UnsafeRawBufferPointer) -> Bool {
        var others: UInt8 = 0
        for byte in string { others |= (byte &- 0x20 > 0x5E ? 1 : 0) | (byte == 0x5C ? 1 : 0) }
        return others == 0
    }
}
