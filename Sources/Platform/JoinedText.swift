extension String {
    /// The parts one after the other, in one piece of memory: paths and names are made of some for every image.
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
