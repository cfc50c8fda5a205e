/// A number of bytes as people write it: `500000000`, `500MB`, `1.5 GiB`.
package enum ByteSize {
    /// The largest number of bytes that a setting takes: the largest integer that every reader of JSON keeps.
    static let maximum = (1 << 53) - 1

    private static let units = ["", "K", "M", "G", "T", "P"]

    /// The number of bytes that a text says; `nil` if it says none. Of k, M, G, T and P each is a thousand times the one before,
    /// with an i behind it 1,024 times; B may follow, and letters may be large or small.
    package static func bytes(_ text: String) -> Int? {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        var unit = text.dropFirst(number.count).drop { $0 == " " }.uppercased()
        if unit.hasSuffix("B") { unit.removeLast() }
        let isBinary = unit.hasSuffix("I")
        if isBinary { unit.removeLast() }
        guard let power = units.firstIndex(of: unit), power > 0 || !isBinary else { return nil }
        let factor = (0..<power).reduce(1) { factor, _ in factor * (isBinary ? 1024 : 1000) }
        if let whole = Int(number) {
            let (bytes, isTooLarge) = whole.multipliedReportingOverflow(by: factor)
            return isTooLarge ? nil : bytes
        }
        // A part of a byte is none.
        guard power > 0, let part = Double(number), part.isFinite, part * Double(factor) < 1e18 else { return nil }
        return Int((part * Double(factor)).rounded())
    }
}
