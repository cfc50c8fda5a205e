internal import ArgumentParser
internal import JSONRPC
internal import Terminal

/// Commands on the remote tier.
struct RemoteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remote", abstract: "Look at the tier that several machines share (--remote).",
        subcommands: [RemoteCheckCommand.self])
}

/// Tries the remote tier.
struct RemoteCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Try whether the remote tier can be read and written, and how far its clock is off.",
        discussion: "Writes, reads and removes one small object. Ends with 1 when something is wrong.")

    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws {
        var isWell = false
        try SingleRequest(session, server).run(
            "checkRemote", about: "remote check",
            show: { result in
                isWell = result.member("ok")?.boolean == true
                return Self.words(result)
            })
        if !isWell { throw Ending.failed }
    }

    /// One line for each step, and one that says what that means.
    private static func words(_ result: borrowing JSONView) -> String {
        guard let url = result.member("url")?.string else {
            return "There is no remote tier: name one with --remote, as in --remote redis://cache.example:6379.\n"
        }
        var rows = [["address", url.forTerminal], ["mode", result.member("mode")?.string ?? ""]]
        var isWell = true
        if let steps = result.member("steps") {
            for index in 0..<steps.count {
                guard let step = steps.element(index), let name = step.member("name")?.string else { continue }
                let problem = step.member("problem")?.string
                if problem != nil { isWell = false }
                let milliseconds = ((step.member("seconds")?.number ?? 0) * 1000).rounded()
                rows.append([name, problem?.forTerminal ?? "works, \(Int(milliseconds)) ms"])
            }
        }
        if let ahead = result.member("clockAhead")?.number {
            rows.append(["clock is", ahead < 0 ? "\(-ahead) s behind" : "\(abs(ahead)) s ahead"])
        }
        return TextTable.columns(rows, [.left, .left]) + "\n" + (isWell ? "All is well." : "Something is wrong.") + "\n"
    }
}
