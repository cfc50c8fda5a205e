internal import Platform

extension ImageHeader {
    private static let prologueLimit = 1 << 16

    /// SVG: `width` and `height` of the root element, else the size of its `viewBox`, else the CSS default of
    /// 300 × 150 (SVG 2, section 8.2; CSS 2.2, section 10.3.2). Entities are never expanded.
    static func svg(_ bytes: inout some ByteSource) throws(Failure) -> ImageHeader {
        guard let start = svgRoot(&bytes) else { throw .malformed(.svg) }
        guard let end = endOfTag(&bytes, from: start) else { throw .cutOff(.svg) }
        let isEmpty = bytes.byte(at: end - 1) == UInt8(ascii: "/")
        guard isEmpty || hasEndTag(&bytes, after: end) else { throw .cutOff(.svg) }
        let attributes = attributes(&bytes, from: start, to: end)
        let box = attributes["viewBox"].map { value in
            value.split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.compactMap { Double($0) }
        }
        var size = box.flatMap { $0.count == 4 ? (width: $0[2], height: $0[3]) : nil }
        let width = attributes["width"].flatMap(pixels)
        let height = attributes["height"].flatMap(pixels)
        switch (width, height) {
        case (let width?, let height?): size = (width, height)
        case (let width?, nil): size = (width, size.map { width * $0.height / $0.width } ?? 150)
        case (nil, let height?): size = (size.map { height * $0.width / $0.height } ?? 300, height)
        case (nil, nil): break
        }
        let (wide, high) = size ?? (300, 150)
        guard wide > 0, high > 0, wide < 1e9, high < 1e9 else { throw .malformed(.svg) }
        return try ImageHeader(.svg, max(Int(wide.rounded()), 1), max(Int(high.rounded()), 1))
    }

    /// The place after the name of the root element if that is `svg`, with whatever may stand before it: a byte order
    /// mark, an XML declaration, comments, a document type.
    static func svgRoot(_ bytes: inout some ByteSource) -> Int? {
        var place = bytes.matches([0xEF, 0xBB, 0xBF], at: 0) ? 3 : 0
        while place < min(bytes.count, prologueLimit) {
            while place < min(bytes.count, prologueLimit), isBlank(bytes.byte(at: place)) { place += 1 }
            guard bytes.byte(at: place) == UInt8(ascii: "<") else { return nil }
            if bytes.matches("<!--", at: place) {
                guard let end = find(&bytes, "-->", from: place + 4) else { return nil }
                place = end
            } else if bytes.matches("<?", at: place) {
                guard let end = find(&bytes, "?>", from: place) else { return nil }
                place = end
            } else if bytes.matches("<!DOCTYPE", at: place) || bytes.matches("<!doctype", at: place) {
                guard let end = endOfDoctype(&bytes, from: place) else { return nil }
                place = end
            } else {
                let name = place + (bytes.matches("<svg:", at: place) ? 5 : 1)
                guard bytes.matches("svg", at: name) else { return nil }
                let next = bytes.byte(at: name + 3)
                return isBlank(next) || next == UInt8(ascii: ">") || next == UInt8(ascii: "/") ? name + 3 : nil
            }
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    private static func find(_ bytes: inout some ByteSource, _ text: StaticString, from start: Int) -> Int? {
        var place = start
        while let found = bytes.firstPlace(of: text.utf8Start[0], from: place), found < prologueLimit {
            if bytes.matches(text, at: found) { return found + text.utf8CodeUnitCount }
            place = found + 1
        }
        return nil
    }

    private static func endOfDoctype(_ bytes: inout some ByteSource, from start: Int) -> Int? {
        var depth = 0
        for place in start..<min(bytes.count, prologueLimit) {
            switch bytes.byte(at: place) {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth == 0: return place + 1
            default: break
            }
        }
        return nil
    }

    /// The place of the `>` that ends the tag, stepping over quoted values.
    private static func endOfTag(_ bytes: inout some ByteSource, from start: Int) -> Int? {
        var quote: UInt8 = 0
        for place in start..<min(bytes.count, start + prologueLimit) {
            let byte = bytes.byte(at: place)
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return place
            }
        }
        return nil
    }

    /// Whether an end tag of the root stands in the last 4 KiB; comments may follow it.
    private static func hasEndTag(_ bytes: inout some ByteSource, after start: Int) -> Bool {
        var place = max(start, bytes.count - 4096)
        while let found = bytes.firstPlace(of: UInt8(ascii: "<"), from: place) {
            if bytes.matches("</svg", at: found) || bytes.matches("</svg:svg", at: found) { return true }
            place = found + 1
        }
        return false
    }

    private static func attributes(_ bytes: inout some ByteSource, from start: Int, to end: Int) -> [String: String] {
        let text = String(decoding: (start..<end).map { bytes.byte(at: $0) }, as: UTF8.self)
        var found: [String: String] = [:]
        var rest = text[...]
        while let equals = rest.firstIndex(of: "=") {
            let name = rest[..<equals].split { $0.isWhitespace || $0.isNewline }.last.map(String.init) ?? ""
            rest = rest[rest.index(after: equals)...].drop { $0.isWhitespace || $0.isNewline }
            guard let quote = rest.first, quote == "\"" || quote == "'" else { break }
            rest = rest.dropFirst()
            guard let close = rest.firstIndex(of: quote) else { break }
            if found[name] == nil { found[name] = String(rest[..<close]) }
            rest = rest[rest.index(after: close)...]
        }
        return found
    }

    /// A CSS length in pixels at 96 a inch; nil for percentages and what is no length (CSS Values 3, section 5.2).
    private static func pixels(_ length: String) -> Double? {
        let text = length.drop { $0.isWhitespace }
        let number = text.prefix { $0.isNumber || "+-.".contains($0) }
        guard let value = Double(number), value > 0 else { return nil }
        switch text.dropFirst(number.count).filter({ !$0.isWhitespace }).lowercased() {
        case "", "px": return value
        case "pt": return value * 96 / 72
        case "pc": return value * 16
        case "in": return value * 96
        case "cm": return value * 96 / 2.54
        case "mm": return value * 96 / 25.4
        case "em", "rem": return value * 16
        default: return nil
        }
    }
}
