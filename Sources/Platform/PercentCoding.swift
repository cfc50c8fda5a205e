/// The bytes of `text` with every `%` and two hexadecimal digits replaced by the byte they stand for (RFC 3986, 2.1). A `%`
/// without them stays.
package func percentDecoded(_ text: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), let value = hexValue(rest.prefix(2)) {
            bytes.append(value)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte)
        }
    }
    return bytes
}

private func hexValue(_ digits: Substring.UTF8View.SubSequence) -> UInt8? {
    let text = String(decoding: Array(digits), as: UTF8.self)
    return text.utf8.count == 2 && text.allSatisfy(\.isHexDigit) ? UInt8(text, radix: 16) : nil
}
