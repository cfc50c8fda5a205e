internal import ImageRecipes

/// Checks an SVG before it is parsed: the size of its expanded entities, and its own size.
///
/// External references are not followed: librsvg gets the document without a base URL.
enum SVGGuard {
    /// The largest accepted document, in bytes.
    static let mostBytes = 32 << 20

    /// Adds up the expanded sizes of the entities that a document declares, for each use, also within other entities.
    static func check(_ file: SourceBytes, _ limits: RenderLimits) throws(RenderFailure) {
        guard file.count <= mostBytes else {
            throw RenderFailure(
                .unsupported, "The drawing has \(file.count) bytes; drawings of more than \(mostBytes) are not drawn.")
        }
        let document = Array(file.bytes)
        // Entities are searched in ASCII; SVGs in UTF-16 are practically not used.
        guard !document.prefix(1024).contains(0) else {
            throw RenderFailure(.badData, "The drawing is not in UTF-8.")
        }
        guard let start = find("<!ENTITY", in: document, from: 0) else { return }
        var entities: [[UInt8]: Int] = [:]
        var place = start
        var end = start
        while let next = find("<!ENTITY", in: document, from: place) {
            guard let (name, value, after) = declaration(document, next + 8) else {
                throw RenderFailure(.unsupported, "The drawing declares entities in a way that is not followed.")
            }
            // The first declaration of a name applies, and a value may only use entities declared before it.
            if entities[name] == nil { entities[name] = try expansion(value, entities, limits) }
            place = after
            end = after
        }
        _ = try expansion(document[end...], entities, limits)
    }

    /// The size of a text in bytes with its entities expanded.
    private static func expansion(
        _ text: ArraySlice<UInt8>, _ entities: [[UInt8]: Int], _ limits: RenderLimits
    ) throws(RenderFailure) -> Int {
        var added = 0
        var place = text.startIndex
        while place < text.endIndex {
            guard text[place] == UInt8(ascii: "&"),
                let close = text[place...].prefix(200).firstIndex(of: UInt8(ascii: ";"))
            else {
                place += 1
                continue
            }
            added += entities[Array(text[(place + 1)..<close])] ?? 1
            guard added <= limits.maxEntityBytes else {
                throw RenderFailure(
                    .limit("maxEntityBytes"),
                    "The entities of the drawing expand to more than the \(limits.maxEntityBytes) bytes that maxEntityBytes allows."
                )
            }
            place = close + 1
        }
        return text.count + added
    }

    /// The name, the value and the offset after a declaration in quotes; nil for anything else.
    private static func declaration(_ text: [UInt8], _ start: Int) -> ([UInt8], ArraySlice<UInt8>, Int)? {
        var place = start
        func skipBlanks() { while place < text.count, text[place] <= 32 { place += 1 } }
        skipBlanks()
        let nameStart = place
        while place < text.count, text[place] > 32 { place += 1 }
        let name = Array(text[nameStart..<place])
        skipBlanks()
        guard !name.isEmpty, name != [UInt8(ascii: "%")], place < text.count,
            text[place] == UInt8(ascii: "\"") || text[place] == UInt8(ascii: "'"),
            let close = text[(place + 1)...].firstIndex(of: text[place])
        else { return nil }
        return (name, text[(place + 1)..<close], close + 1)
    }

    private static func find(_ needle: StaticString, in text: [UInt8], from start: Int) -> Int? {
        let count = needle.utf8CodeUnitCount
        guard text.count >= count + start else { return nil }
        return (start...(text.count - count)).first { place in
            (0..<count).allSatisfy { text[place + $0] == needle.utf8Start[$0] }
        }
    }
}
