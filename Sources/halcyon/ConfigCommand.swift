internal import ArgumentParser
internal import ImageServer

/// Prints the settings in force with their sources.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print every setting with its value and where that came from: flag, environment, file or default.")

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var options: ServeOptions

    func run() throws {
        let listing = try options.settings().listing
        try printToStdout(json ? listing.json : listing.text)
    }
}
