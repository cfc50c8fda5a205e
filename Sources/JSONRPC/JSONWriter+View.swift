extension JSONWriter {
    /// Writes a parsed value with everything in it.
    ///
    /// - Complexity: O(*n*); the recursion is as deep as the nesting, which ``JSONDocument/maximumDepth`` bounds.
    public mutating func write(_ view: borrowing JSONView) {
        switch view.kind {
        case .object:
            object { writer in
                view.forEachMember { name, value in
                    writer.key(String(decoding: name, as: UTF8.self))
                    writer.write(value)
                }
            }
        case .array:
            array { writer in
                for index in 0..<view.count {
                    if let element = view.element(index) { writer.write(element) }
                }
            }
        case .string: write(view.string ?? "")
        case .integer: write(view.integer ?? 0)
        case .real: write(view.number ?? 0)
        case .boolean: write(view.boolean ?? false)
        case .null: writeNull()
        }
    }
}
