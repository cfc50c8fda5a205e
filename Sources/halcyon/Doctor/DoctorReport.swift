internal import JSONRPC
internal import Terminal

/// What `halcyon doctor` has found, in groups.
struct DoctorReport {
    /// Whether what was looked for is there.
    enum State: String {
        case ok
        /// Nothing is missing, but it is worth knowing.
        case note
        case missing
    }

    /// One thing that was looked for.
    struct Finding {
        let group: String
        let name: String
        let state: State
        /// What was found, or what is wrong.
        let text: String
        /// What to do about it, as a sentence.
        let advice: String?
    }

    private(set) var findings: [Finding] = []

    /// `true` when nothing is missing.
    var isWell: Bool { findings.allSatisfy { $0.state != .missing } }

    /// Adds a finding at the end; those of a group are added together.
    mutating func add(_ group: String, _ name: String, _ state: State, _ text: String, advice: String? = nil) {
        findings.append(Finding(group: group, name: name, state: state, text: text, advice: advice))
    }

    /// Has a check add its findings. What it throws is the finding `name` of the group: that is missing.
    mutating func check(_ group: String, _ name: String, _ check: (inout DoctorReport) throws -> Void) {
        do {
            try check(&self)
        } catch {
            add(group, name, .missing, "\(error)")
        }
    }

    /// One line for each finding below the name of its group, and below the line what to do.
    var text: [UInt8] {
        let columns: [TextTable.Alignment] = [.left, .left, .left, .left]
        var rows: [[String]] = []
        var group = ""
        for finding in findings {
            rows.append([
                finding.group == group ? "" : finding.group, finding.state.rawValue, finding.name.forTerminal,
                finding.text.forTerminal,
            ])
            if let advice = finding.advice { rows.append(["", "", "", advice.forTerminal]) }
            group = finding.group
        }
        let missing = findings.filter { $0.state == .missing }.map(\.name)
        let end = missing.isEmpty ? "All is well." : "Missing: \(missing.joined(separator: ", ")).".forTerminal
        return Array((TextTable.columns(rows, columns) + "\n" + end + "\n").utf8)
    }

    /// One JSON object.
    var json: [UInt8] {
        var writer = JSONWriter(indented: true)
        writer.object { writer in
            writer.field("ok", isWell)
            writer.key("findings")
            writer.array { writer in
                for finding in findings {
                    writer.object { writer in
                        writer.field("group", finding.group)
                        writer.field("name", finding.name)
                        writer.field("state", finding.state.rawValue)
                        writer.field("text", finding.text)
                        writer.field("advice", finding.advice)
                    }
                }
            }
        }
        return writer.bytes + Array("\n".utf8)
    }
}
