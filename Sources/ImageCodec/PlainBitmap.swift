internal import ImageRecipes

/// PBM as text, whose bits may stand side by side (netpbm's page pbm). The library takes them for the digits of one number.
enum PlainBitmap {
    /// The same picture as a PBM of bytes.
    ///
    /// - Complexity: O(bytes).
    static func packed(_ file: SourceBytes, _ limits: RenderLimits) throws(RenderFailure) -> SourceBytes {
        var place = 2
        /// The next byte that belongs to no comment.
        func next() -> Int? {
            while file.byte(place) == 0x23 {
                while let byte = file.byte(place), byte != 0x0A { place += 1 }
            }
            defer { place += 1 }
            return file.byte(place)
        }
        func number() -> Int {
            var number: Int?
            while let byte = next() {
                if (0x30...0x39).contains(byte) {
                    number = min((number ?? 0) * 10 + byte - 0x30, 1 << 30)
                } else if let number {
                    return number
                }
            }
            return number ?? 0
        }
        let (width, height) = (number(), number())
        try limits.check(width: width, height: height)
        var bytes = Array("P4\n\(width) \(height)\n".utf8)
        for _ in 0..<height {
            var (column, bits) = (0, 0)
            while column < width {
                guard let byte = next() else { throw BMPDecoder.damaged("its end is missing") }
                if byte == 0x20 || (0x09...0x0D).contains(byte) { continue }
                guard byte == 0x30 || byte == 0x31 else {
                    throw BMPDecoder.damaged("a bit of it is neither 0 nor 1")
                }
                bits = bits << 1 | byte & 1
                column += 1
                if column % 8 == 0 { bytes.append(UInt8(bits & 255)) }
            }
            if width % 8 != 0 { bytes.append(UInt8(bits << (8 - width % 8) & 255)) }
        }
        return SourceBytes(copying: bytes)
    }
}
