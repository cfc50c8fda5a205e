internal import ArgumentParser
internal import ImageServer

/// Prints one page of what halcyon has found on this machine, and what it lacks.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check this machine: what halcyon finds, what is missing, and what to install.",
        discussion: """
            Decodes and encodes a small picture of every format with the codec worker, and stores one in each cache that \
            the settings name. Ends with 1 when something is missing.
            """)

    @Flag(help: "Print one JSON object.")
    var json = false

    @OptionGroup(visibility: .hidden) var options: ServeOptions

    func run() throws {
        let settings = try options.settings(overriding: ["cleanInterval": "0", "logLevel": "critical"])
        var report = DoctorReport()
        report.add("program", "version", .ok, ImageServer.version)
        report.add("program", "settings", .ok, settings.file ?? "no configuration file")
        LibraryCheck().run(&report)
        report.check("codec", "worker") { try CodecCheck(settings.configuration.engine.codec).run(&$0) }
        report.check("cache", "default") { try FolderCheck(settings).run(&$0) }
        NetworkCheck(settings.configuration.engine).run(&report)
        LimitCheck(settings.configuration.engine).run(&report)
        try printToStdout(json ? report.json : report.text)
        if !report.isWell { throw Ending.failed }
    }
}
