internal import ArgumentParser
internal import ImageServer

/// Prints the settings in force, and where each came from.
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print every setting with its value and where that came from: flag, environment, file or default.")

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup var options: ServeOptions

    func run() throws {
        let settings = try options.settings()
        let listing = SettingListing(
            file: settings.file, server: settings.listed, sources: settings.sources, cacheRoot: settings.cacheRoot)
        printToStdout(json ? listing.json : listing.text)
    }
}
