/// The display of running tasks on a terminal: a bar for each of the first few, and one line for all.
///
/// A plain value; ``Painter`` draws it.
public struct ProgressScreen: Sendable {
    private struct Row: Sendable {
        let number: Int
        let name: String
        let unit: Unit
        var progress: Dialogue.Progress
    }

    /// The unit of a count.
    public enum Unit: Sendable {
        case bytes, things

        fileprivate func text(_ number: Int) -> String {
            switch self {
            case .bytes: ByteText.text(number)
            case .things: ByteText.grouped(number)
            }
        }
    }

    /// The largest number of bars shown at a time.
    public static let limit = 8

    private var rows: [Row] = []
    private let count: Int
    private var finished = 0

    /// A screen for `count` tasks in total.
    public init(count: Int) { self.count = count }

    /// Updates the progress of a task; a task that is not shown yet gets a bar.
    public mutating func note(_ number: Int, name: String, _ progress: Dialogue.Progress, unit: Unit = .bytes) {
        if let index = rows.firstIndex(where: { $0.number == number }) {
            rows[index].progress = progress
        } else {
            rows.append(Row(number: number, name: name, unit: unit, progress: progress))
        }
    }

    /// Removes the bar of a finished task.
    public mutating func finish(_ number: Int) {
        finished += 1
        rows.removeAll { $0.number == number }
    }

    /// The lines for a terminal of `width` columns, none longer than that.
    public func lines(width: Int) -> [String] {
        let width = max(width, 20)
        var lines = rows.prefix(Self.limit).map { Self.line($0, width: width) }
        if count > 1 { lines.append(Self.cut("\(finished) of \(count) done", to: width)) }
        return lines
    }

    private static func line(_ row: Row, width: Int) -> String {
        let amount =
            if let total = row.progress.total {
                "\(percentage(row.progress))% of \(row.unit.text(total))"
            } else {
                row.unit.text(row.progress.done)
            }
        // A name, a bar that grows with the width of the terminal, and the amount: `cat.jpg [==>  ]  40% of 2 MB`.
        let amountWidth = 17
        let nameWidth = min(max(row.name.count, 8), max((width - amountWidth) / 2, 8), 40)
        let barWidth = width - nameWidth - amountWidth - 4
        let name = cut(row.name, to: nameWidth)
        let padded = name + String(repeating: " ", count: nameWidth - name.count)
        let right = String(repeating: " ", count: max(amountWidth - amount.count, 0)) + amount
        guard barWidth >= 5 else { return cut("\(padded) \(right)", to: width) }
        return cut("\(padded) [\(bar(row.progress, barWidth))] \(right)", to: width)
    }

    private static func percentage(_ progress: Dialogue.Progress) -> Int {
        guard let total = progress.total, total > 0 else { return 0 }
        return min(Int(Double(progress.done) * 100 / Double(total)), 100)
    }

    private static func bar(_ progress: Dialogue.Progress, _ width: Int) -> String {
        guard progress.total != nil else { return String(repeating: "-", count: width) }
        let filled = width * percentage(progress) / 100
        let done = String(repeating: "=", count: filled)
        return filled == width ? done : done + ">" + String(repeating: " ", count: width - filled - 1)
    }

    /// The text with every control character replaced by `?`, and no longer than `width` characters.
    static func cut(_ text: String, to width: Int) -> String {
        let plain = String(text.map { $0.isTerminalControl ? "?" : $0 })
        return plain.count <= width ? plain : plain.prefix(max(width - 1, 0)) + "…"
    }
}

extension Character {
    /// `true` for control characters. Names from servers and files are untrusted and could contain escape sequences.
    fileprivate var isTerminalControl: Bool {
        unicodeScalars.contains {
            $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
        }
    }
}

extension String {
    /// The text in a form that is safe on a terminal: every control character is replaced by a question mark.
    public var forTerminal: String { ProgressScreen.cut(self, to: .max) }
}
