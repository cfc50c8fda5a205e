extension JSONWriter {
    /// Writes a value that was parsed, with everything in it.
    ///
    /// - Complexity: O(*n*); as deep in calls as the value is nested, which ``JSONDocument/maximumDepth`` bounds.
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
