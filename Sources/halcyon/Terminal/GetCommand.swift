internal import ArgumentParser
internal import Glibc
internal import JSONRPC
internal import Terminal

/// Loads images and prints the paths of their files.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Load images, from the cache or the network, and print the paths of their files.",
        discussion: """
            One path a line, in the order of the URLs, and an empty line for each that fails, and for each line of a list that \
            is blank or begins with #. A file in the cache is never changed in place and may go one day: \
            use --output for a copy of your own. Every flag of halcyon serve may be given too.
            """)

    @Argument(help: "URLs (http, https, file, data) or paths of files; - reads them from standard input, one a line.")
    var urls: [String]

    @Option(
        name: [.short, .long],
        help: "Copy the image there: to a file, whose name sets the format, to a folder, or with - to standard output.",
        completion: .file())
    var output: String?

    @Flag(help: "Replace files that exist; write bytes even to a terminal.")
    var force = false

    @Option(help: "The key to cache it under, for a single URL. Default: the URL.")
    var key: String?

    @Flag(name: [.short, .long], help: "No progress bars.")
    var quiet = false

    @OptionGroup var change: ImageChange
    @OptionGroup var image: ImageArguments
    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func validate() throws {
        let isSingle = urls.count == 1 && urls != ["-"]
        if key != nil, !isSingle { throw ValidationError("--key is for a single URL.") }
        if change.quality != nil, change.format == nil, output.flatMap(OutputPlace.format) == nil {
            throw ValidationError("--quality needs a format: give --format, or an --output whose suffix names it.")
        }
        guard output == OutputPlace.stream else { return }
        if !isSingle { throw ValidationError("Only a single image can be written to standard output.") }
        if session.json { throw ValidationError("--output - leaves no room for --json.") }
        if !force, isatty(1) == 1 {
            throw ValidationError(
                "Standard output is a terminal: name a file, or write the bytes there all the same with --force.")
        }
    }

    func run() throws {
        let list = try LineList(expanding: self.urls)
        let urls = list.items
        let place = try output.map { try OutputPlace($0, count: urls.count, replaces: force) }
        let session = try session.session(server, loads: true)
        var report = GetReport(list, place: place, json: self.session.json)
        // Lines of the log would fall among the bars.
        var painter = quiet || self.session.verbose ? nil : Painter(on: 2)
        let steps = change.steps(ending: place?.format)
        let isWhole = RequestBatch(session.dialogue, urls.map { request($0, steps ?? "") }).run(
            patience: { painter?.delay ?? nil }, pause: { report.draw(&painter) },
            progress: { number, progress in report.note(number, progress, &painter) },
            follow: { number, reply in
                guard steps == nil, !reply.isError else { return nil }
                let steps = change.steps(ending: place?.format, for: reply.format, reply.size)
                return steps.isEmpty ? nil : request(urls[number], steps)
            },
            arrived: { number, reply in report.arrived(number, reply, &painter) },
            done: { number, reply in report.take(number, reply, &painter) },
            isOver: { report.outputFailure != nil })
        painter = nil
        if isWhole { report.finish() }
        session.end(cancels: report.outputFailure != nil)
        if let failure = report.outputFailure { throw failure }
        if !isWhole { throw Ending.failed }
        if let failure = report.failure { throw failure }
    }

    /// - Parameter steps: The processors in their compact text; empty for none.
    private func request(_ url: String, _ steps: String) -> Dialogue.Request {
        Dialogue.Request("retrieve", wantsProgress: true) { params in
            params.field("url", FilePath.url(url))
            if let key { params.field("key", key) }
            if let cache = session.cache { params.field("cache", cache) }
            if !steps.isEmpty { params.field("processors", steps) }
            image.write(to: &params)
        }
    }
}
