extension String {
    /// The text, shortened so that it can stand in a sentence; data URLs and keys may be megabytes long.
    package var excerpt: String {
        utf8.count <= 200 ? self : String(decoding: utf8.prefix(160), as: UTF8.self) + "…"
    }
}

extension Double {
    /// The number without a fraction when it has none.
    package var shortest: String { self == rounded() && abs(self) < 1e15 ? String(Int(self)) : description }
}
