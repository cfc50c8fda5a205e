/// SVG: `width` and `height` of the root element, else the size of its `viewBox`, else the CSS default of
/// 300 × 150 (SVG 2, section 8.2; CSS 2.2, section 10.3.2). Entities are never expanded.
struct SVGInspector<Bytes: ByteSource>: ContainerInspector {
    var bytes: Bytes
    var found: ImageProbe

    mutating func inspect() throws(ImageHeader.Failure) {
        guard let start = bytes.svgRoot() else { throw .malformed(.svg) }
        guard let end = bytes.endOfTag(from: start) else { throw .cutOff(.svg) }
        let isEmpty = bytes.byte(at: end - 1) == UInt8(ascii: "/")
        guard isEmpty || hasEndTag(after: end) else { throw .cutOff(.svg) }
        let attributes = attributes(from: start, to: end)
        let box = attributes["viewBox"].map { value in
            value.split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }.compactMap { Double($0) }
        }
        var size = box.flatMap { $0.count == 4 ? (width: $0[2], height: $0[3]) : nil }
        switch (attributes["width"].flatMap(pixels), attributes["height"].flatMap(pixels)) {
        case (let width?, let height?): size = (width, height)
        case (let width?, nil): size = (width, size.map { width * $0.height / $0.width } ?? 150)
        case (nil, let height?): size = (size.map { height * $0.width / $0.height } ?? 300, height)
        case (nil, nil): break
        }
        let (wide, high) = size ?? (300, 150)
        guard wide > 0, high > 0, wide < 1e9, high < 1e9 else { throw .malformed(.svg) }
        (found.width, found.height) = (max(Int(wide.rounded()), 1), max(Int(high.rounded()), 1))
        // Nothing is drawn where nothing is said.
        (found.frameCount, found.orientation, found.hasAlpha) = (1, 1, true)
    }

    /// `true` when an end tag of the root stands in the last 4 KiB; comments may follow it.
    private mutating func hasEndTag(after start: Int) -> Bool {
        var place = max(start, bytes.count - 4096)
        while let found = bytes.firstPlace(of: UInt8(ascii: "<"), from: place) {
            if bytes.matches("</svg", at: found) { return true }
            place = found + 1
        }
        return false
    }

    private mutating func attributes(from start: Int, to end: Int) -> [String: String] {
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

    /// A CSS length in pixels at 96 an inch; nil for percentages and other text (CSS Values 3, section 5.2).
    private func pixels(_ length: String) -> Double? {
        let text = length.drop { $0.isWhitespace }
        let number = text.prefix { $0.isNumber || "+-.".contains($0) }
        guard let value = Double(number), value > 0 else { return nil }
        return switch text.dropFirst(number.count).filter({ !$0.isWhitespace }).lowercased() {
        case "", "px": value
        case "pt": value * 96 / 72
        case "pc", "em", "rem": value * 16
        case "in": value * 96
        case "cm": value * 96 / 2.54
        case "mm": value * 96 / 25.4
        default: nil
        }
    }
}

/// The most bytes that may stand before the root element, and the longest tag of it.
private let prologueLimit = 1 << 16

extension ByteSource {
    /// The place after the name of the root element if that is `svg`, with whatever may stand before it: a byte order
    /// mark, an XML declaration, comments, a document type.
    mutating func svgRoot() -> Int? {
        var place = big16(at: 0) == 0xEFBB && byte(at: 2) == 0xBF ? 3 : 0
        while place < min(count, prologueLimit) {
            let next: Int?
            if isBlank(at: place) {
                next = place + 1
            } else if matches("<!--", at: place) {
                next = end(of: "-->", from: place + 4)
            } else if matches("<?", at: place) {
                next = end(of: "?>", from: place)
            } else if matches("<!DOCTYPE", at: place) || matches("<!doctype", at: place) {
                next = endOfDoctype(from: place)
            } else {
                let name = place + (matches("<svg:", at: place) ? 5 : 1)
                guard byte(at: place) == UInt8(ascii: "<"), matches("svg", at: name) else { return nil }
                return isBlank(at: name + 3) || [0x3E, 0x2F].contains(byte(at: name + 3)) ? name + 3 : nil
            }
            guard let next else { return nil }
            place = next
        }
        return nil
    }

    private mutating func isBlank(at place: Int) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte(at: place)) }

    private mutating func end(of text: StaticString, from start: Int) -> Int? {
        var place = start
        while let found = firstPlace(of: text.utf8Start[0], from: place), found < prologueLimit {
            if matches(text, at: found) { return found + text.utf8CodeUnitCount }
            place = found + 1
        }
        return nil
    }

    private mutating func endOfDoctype(from start: Int) -> Int? {
        var depth = 0
        for place in start..<min(count, prologueLimit) {
            switch byte(at: place) {
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth == 0: return place + 1
            default: break
            }
        }
        return nil
    }

    /// The place of the `>` that ends the tag, stepping over quoted values.
    fileprivate mutating func endOfTag(from start: Int) -> Int? {
        var quote: UInt8 = 0
        for place in start..<min(count, start + prologueLimit) {
            let byte = byte(at: place)
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
}
