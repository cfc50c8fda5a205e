internal import JSONRPC

/// The manual page of a program, generated from the definitions of its commands (`man 7 man`).
public struct ManualPage {
    /// The text of the page, for `man -l` or a folder `man1`.
    public let text: String

    /// A page from the description of a command by swift-argument-parser (`--experimental-dump-help`); `nil` if the bytes
    /// are not such a description.
    public init?(dump: [UInt8]) {
        guard let document = try? JSONDocument(parsing: dump), let command = document.root.member("command") else {
            return nil
        }
        var page = Page()
        page.program(command)
        text = page.text
    }
}

private struct Page {
    private(set) var text = ""

    mutating func program(_ command: borrowing JSONView) {
        let name = command.member("commandName")?.string ?? ""
        line(".TH \(Self.quoted(name.uppercased())) 1 \"\" \(Self.quoted(name)) \"User Commands\"")
        line(".SH NAME")
        line("\(Self.plain(name)) \\- \(Self.plain(Self.sentence(command.member("abstract")?.string)))")
        line(".SH SYNOPSIS")
        line(".B \(Self.plain(name))")
        line("[\\fIcommand\\fR] [\\fIoptions\\fR]")
        line(".SH DESCRIPTION")
        paragraph(command.member("discussion")?.string)
        guard let commands = command.member("subcommands") else { return }
        line(".SH COMMANDS")
        for index in 0..<commands.count {
            if let command = commands.element(index) { section(command, of: name) }
        }
        line(".SH EXIT STATUS")
        line("0 when everything worked, 1 when something failed, 2 when the command line was wrong.")
        line(".SH ENVIRONMENT")
        line("Every flag of \\fB\(Self.plain(name)) serve\\fR may be set as \\fBHALCYON_\\fR and its name in capitals.")
    }

    private mutating func section(_ command: borrowing JSONView, of program: String) {
        let name = command.member("commandName")?.string ?? ""
        if name == "help" || command.member("shouldDisplay")?.boolean == false { return }
        line(".SS \(Self.quoted("\(program) \(name)" + Self.values(command)))")
        paragraph(command.member("abstract")?.string)
        paragraph(command.member("discussion")?.string)
        guard let arguments = command.member("arguments") else { return }
        for index in 0..<arguments.count {
            if let argument = arguments.element(index) { self.argument(argument) }
        }
    }

    private mutating func argument(_ argument: borrowing JSONView) {
        guard argument.member("shouldDisplay")?.boolean != false, let summary = argument.member("abstract")?.string
        else { return }
        let value = argument.member("valueName")?.string ?? ""
        let label: String
        if argument.member("kind")?.string == "positional" {
            label = "\\fI\(Self.plain(value))\\fR"
        } else {
            let isFlag = argument.member("kind")?.string == "flag"
            let names = Self.names(argument).map { "\\fB\(Self.plain($0))\\fR" }.joined(separator: ", ")
            label = names + (isFlag ? "" : " \\fI\(Self.plain(value))\\fR")
        }
        line(".TP")
        line(label)
        line(Self.plain(summary))
    }

    private static func names(_ argument: borrowing JSONView) -> [String] {
        guard let names = argument.member("names") else { return [] }
        return (0..<names.count).compactMap { index in
            guard let name = names.element(index), let text = name.member("name")?.string else { return nil }
            return (name.member("kind")?.string == "short" ? "-" : "--") + text
        }
    }

    /// The arguments without names, for the heading: ` URLS...`.
    private static func values(_ command: borrowing JSONView) -> String {
        guard let arguments = command.member("arguments") else { return "" }
        var text = ""
        for index in 0..<arguments.count {
            guard let argument = arguments.element(index), argument.member("kind")?.string == "positional",
                let name = argument.member("valueName")?.string
            else { continue }
            let many = argument.member("isRepeating")?.boolean == true ? "..." : ""
            text += argument.member("isOptional")?.boolean == true ? " [\(name)\(many)]" : " \(name)\(many)"
        }
        return text
    }

    private mutating func paragraph(_ words: String?) {
        guard let words, !words.isEmpty else { return }
        line(Self.plain(words))
        line(".PP")
    }

    private mutating func line(_ words: String) { text += words + "\n" }

    private static func sentence(_ words: String?) -> String {
        let words = words ?? ""
        return words.hasSuffix(".") ? String(words.dropLast()) : words
    }

    /// Escapes text for roff: backslashes, and dots at the start of a line, are commands there. A bare hyphen may be
    /// printed as another character, which would not work when copied to a shell.
    private static func plain(_ words: String) -> String {
        let escaped = words.map { character in
            switch character {
            case "\\": "\\e"
            case "-": "\\-"
            case "\n": " "
            default: String(character)
            }
        }.joined()
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }

    private static func quoted(_ words: String) -> String { "\"\(plain(words).replacing("\"", with: "\\(dq"))\"" }
}
