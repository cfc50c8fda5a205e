internal import ArgumentParser
internal import Glibc
internal import Terminal

/// Prints the completion script for a shell.
struct CompletionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completions", abstract: "Print the completions for a shell: bash, zsh or fish.",
        discussion: """
            For bash: halcyon completions bash > ~/.local/share/bash-completion/completions/halcyon. For zsh: into a file \
            _halcyon of a folder in $fpath. For fish: into ~/.config/fish/completions/halcyon.fish.
            """)

    @Argument(help: "The shell. Default: the one that $SHELL names.")
    var shell: String?

    func run() throws {
        let name = shell ?? getenv("SHELL").map { String(cString: $0) }?.split(separator: "/").last.map(String.init)
        guard let name, let known = CompletionShell(rawValue: name) else {
            let names = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("There are completions for \(names)\(name.map { ", not for \($0)" } ?? "").")
        }
        let generated = HalcyonCommand.completionScript(for: known)
        let script = known == .bash ? BashCompletions.script(of: generated) : generated
        try printToStdout(Array((script + "\n").utf8))
    }
}

/// Prints the manual page.
struct ManualCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manual", abstract: "Print the manual page: halcyon manual | man -l -",
        discussion: "Made from the same definitions as the help. To install: > ~/.local/share/man/man1/halcyon.1.")

    func run() throws {
        guard let page = ManualPage(dump: Array(HalcyonCommand._dumpHelp().utf8)) else {
            throw StartFailure(description: "The definitions of the commands cannot be read.")
        }
        try printToStdout(Array(page.text.utf8))
    }
}
