public import JSONRPC

/// Formats results of the server for people.
public enum TextTable {
    /// The alignment of a column.
    public enum Alignment: Sendable { case left, right }

    /// Rows in columns as wide as their widest cell, two spaces apart; a left-aligned last column is not padded.
    public static func columns(_ rows: [[String]], _ alignments: [Alignment]) -> String {
        let widths = alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let fill = String(repeating: " ", count: widths[column] - cell.count)
                if column > 0 { line += "  " }
                switch alignments[column] {
                case .right: line += fill + cell
                case .left: line += column == row.count - 1 ? cell : cell + fill
                }
            }
            return line + "\n"
        }.joined()
    }

    /// The members of an object, one per line: name and value. Nested members are named with a dot; byte counts are
    /// also given in larger units.
    ///
    /// - Parameter hidden: The names of members that are left out wherever they are.
    public static func fields(of view: borrowing JSONView, leavingOut hidden: Set<String> = []) -> String {
        var rows: [[String]] = []
        collect(view, "", hidden, &rows)
        return columns(rows, [.left, .left])
    }

    private static func collect(
        _ view: borrowing JSONView, _ prefix: String, _ hidden: Set<String>, _ rows: inout [[String]]
    ) {
        view.forEachMember { name, value in
            let own = String(decoding: name, as: UTF8.self)
            if hidden.contains(own) { return }
            let name = prefix + own
            switch value.kind {
            case .object: collect(value, name + ".", hidden, &rows)
            case .array: rows.append([name.forTerminal, list(value)])
            default: rows.append([name.forTerminal, text(value, named: name)])
            }
        }
    }

    private static func list(_ view: borrowing JSONView) -> String {
        var elements: [String] = []
        for index in 0..<view.count {
            if let element = view.element(index) { elements.append(text(element, named: "")) }
        }
        return elements.isEmpty ? "none" : elements.joined(separator: ", ")
    }

    private static func text(_ view: borrowing JSONView, named name: String) -> String {
        switch view.kind {
        case .string: return (view.string ?? "").forTerminal
        case .boolean: return view.boolean == true ? "yes" : "no"
        case .null: return "-"
        case .integer:
            let number = view.integer ?? 0
            let isSize = ["ytes", "yteCount", "ytesLimit"].contains(where: name.hasSuffix) && number >= 1000
            return ByteText.grouped(number) + (isSize ? " (\(ByteText.text(number)))" : "")
        case .real: return view.number.map { "\($0)" } ?? "-"
        case .array, .object: return "…"
        }
    }
}
