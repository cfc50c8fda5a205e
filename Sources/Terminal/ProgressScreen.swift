/// The display of running tasks on a terminal: a bar for each of the first few, and one line for all.
///
/// A plain value; ``Painter`` draws it.
public struct ProgressScreen: Sendable {
    private struct Row: Sendable {
        let number: Int
        let name: String
        let unit: Unit
        var progress: Dialogue.Progress
        var hasFailed = false
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

        fileprivate func speed(_ number: Double) -> String {
            switch self {
            case .bytes: "\(ByteText.text(Int(min(number, 1e18))))/s"
            case .things: "\(Int(min(number.rounded(), 1e18)))/s"
            }
        }
    }

    /// The largest number of bars shown at a time.
    public static let limit = 8

    private var rows: [Row] = []
    private let count: Int
    private let colours: Colours
    private var (done, failed) = (0, 0)
    /// What finished tasks have counted.
    private var counted = 0
    private var pace = Pace()
    private var (begin, now): (Int?, Int) = (nil, 0)

    /// A screen for `count` tasks in total.
    public init(count: Int, colours: Colours = .none) { (self.count, self.colours) = (count, colours) }

    /// Updates the progress of a task; a task that is not shown yet gets a bar.
    ///
    /// - Parameter time: The time in nanoseconds, of a clock that never goes back.
    public mutating func note(
        _ number: Int, name: String, _ progress: Dialogue.Progress, unit: Unit = .bytes, at time: Int = 0
    ) {
        if let index = rows.firstIndex(where: { $0.number == number }) {
            rows[index].progress = progress
        } else {
            rows.append(Row(number: number, name: name, unit: unit, progress: progress))
        }
        tick(time)
    }

    /// Counts a finished task. That of one that has failed stays to be seen until ``dismiss(_:)``.
    public mutating func finish(_ number: Int, name: String, hasFailed: Bool = false, at time: Int = 0) {
        if hasFailed { failed += 1 } else { done += 1 }
        let index = rows.firstIndex { $0.number == number }
        if let index { counted = Self.sum(counted, rows[index].progress.done) }
        if !hasFailed {
            if let index { rows.remove(at: index) }
        } else if let index {
            rows[index].hasFailed = true
            rows[index].progress.done = 0
        } else {
            let nothing = Dialogue.Progress(done: 0, total: nil)
            rows.append(Row(number: number, name: name, unit: .bytes, progress: nothing, hasFailed: true))
        }
        tick(time)
    }

    /// Counts a finished task as failed after all: what was to be done with its result cannot be done.
    public mutating func revoke() { (done, failed) = (done - 1, failed + 1) }

    /// Removes a task that has failed, for its error has been shown.
    public mutating func dismiss(_ number: Int) { rows.removeAll { $0.number == number } }

    private mutating func tick(_ time: Int) {
        if begin == nil { begin = time }
        now = max(now, time)
        pace.note(rows.reduce(counted) { Self.sum($0, $1.progress.done) }, at: now)
    }

    private static func sum(_ one: Int, _ other: Int) -> Int {
        let (sum, isTooLarge) = one.addingReportingOverflow(max(other, 0))
        return isTooLarge ? .max : sum
    }

    /// The lines for a terminal of `width` columns, none longer than that.
    public func lines(width: Int) -> [String] {
        let width = max(width, 20)
        let shown = rows.prefix(Self.limit)
        var lines = shown.map { row in
            if row.hasFailed { return colours.red(Self.failure(row, width: width)) }
            let (line, failures) = (line(row, width: width), Self.failures(row.progress.failed))
            return failures.isEmpty ? line : line.replacing(failures, with: colours.red(failures), maxReplacements: 1)
        }
        if count > 1 { lines.append(summary(width: width)) }
        return lines
    }

    /// One line for all: `3 of 20 done, 1 failed, 1.20 MB/s, 12 s left`.
    private func summary(width: Int) -> String {
        let begins = "\(done) of \(count) done", failures = Self.failures(failed)
        var rest: [String] = []
        if let speed = pace.perSecond { rest.append(ProgressScreen.Unit.bytes.speed(speed)) }
        let finished = done + failed
        if let begin, finished > 0, finished < count, now - begin >= 1_000_000_000 {
            let seconds = Double(now - begin) / 1e9 / Double(finished) * Double(count - finished)
            rest.append("\(Pace.text(seconds: seconds)) left")
        }
        func text(_ failures: String) -> String {
            ([begins] + (failures.isEmpty ? [] : [failures]) + rest).joined(separator: ", ")
        }
        let plain = text(failures)
        return plain.count <= width && failed > 0 ? text(colours.red(failures)) : Self.cut(plain, to: width)
    }

    /// The speed and the time left, where there is a single task; as wide whatever they are.
    private func outlook(_ row: Row) -> String {
        guard count == 1, let speed = pace.perSecond else { return "" }
        let left = row.progress.total.map { Double(max($0 - row.progress.done, 0)) }
        let time = left.flatMap { speed > 0 ? "\(Pace.text(seconds: $0 / speed)) left" : nil } ?? ""
        return Self.right(row.unit.speed(speed), 11) + Self.right(time, 15)
    }

    private static func failures(_ count: Int) -> String { count > 0 ? "\(count) failed" : "" }

    private static func failure(_ row: Row, width: Int) -> String { cut("\(row.name.forTerminal) failed", to: width) }

    private func line(_ row: Row, width: Int) -> String {
        let amount =
            if let total = row.progress.total {
                "\(Self.percentage(row.progress))% of \(row.unit.text(total))"
            } else {
                row.unit.text(row.progress.done)
            }
        // A name, a bar that grows with the width of the terminal, the amount, and with room the speed and the time left:
        // `cat.jpg [==>  ]  40% of 2 MB`.
        let outlook = width >= 70 ? outlook(row) : ""
        let amountWidth = 17 + outlook.count
        let name = row.progress.failed > 0 ? "\(row.name), \(Self.failures(row.progress.failed))" : row.name
        let nameWidth = min(max(name.count, 8), max((width - amountWidth) / 2, 8), 40)
        let barWidth = width - nameWidth - amountWidth - 4
        let shown = Self.cut(name, to: nameWidth)
        let padded = shown + String(repeating: " ", count: nameWidth - shown.count)
        let right = Self.right(amount, 17) + outlook
        guard barWidth >= 5 else { return Self.cut("\(padded) \(right)", to: width) }
        return Self.cut("\(padded) [\(Self.bar(row.progress, barWidth))] \(right)", to: width)
    }

    /// The text at the right of a column.
    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.count, 0)) + text
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
