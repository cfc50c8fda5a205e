internal import ArgumentParser
internal import Glibc
internal import JSONRPC
internal import Terminal

/// Loads images and prints the paths of their files.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Load images, from the cache or the network, and print the paths of their files.",
        discussion: """
            One path a line, in the order of the URLs. A file in the cache is never changed in place and may go one day: \
            use --output for a copy of your own. Every flag of halcyon serve may be given too.
            """)

    @Argument(help: "URLs (http, https, file, data) or paths of files; - reads them from standard input, one a line.")
    var urls: [String]

    @Option(name: [.short, .long], help: "Copy the image there: a file, a folder, or - for standard output.")
    var output: String?

    @Option(help: "The largest box it may take, as WIDTHxHEIGHT in pixels; its proportions are kept.")
    var resize: PixelBox?

    @Option(help: "The format to turn it into: png, jpeg, webp, …")
    var format: String?

    @Option(help: "The key to cache it under, for a single URL. Default: the URL.")
    var key: String?

    @Flag(name: [.short, .long], help: "No progress bars.")
    var quiet = false

    @OptionGroup var image: ImageArguments
    @OptionGroup var session: SessionOptions

    func validate() throws {
        if key != nil, urls.count != 1 || urls == ["-"] { throw ValidationError("--key is for a single URL.") }
        if output == "-", urls.count != 1 || urls == ["-"] {
            throw ValidationError("Only a single image can be written to standard output.")
        }
        if output == "-", session.json { throw ValidationError("--output - leaves no room for --json.") }
    }

    func run() throws {
        let urls = try LineList.expanded(self.urls)
        let place = try output.map { try OutputPlace($0, count: urls.count) }
        let session = try session.session()
        var report = GetReport(urls: urls, place: place, json: self.session.json)
        var painter = quiet ? nil : Painter(on: 2)
        let requests = urls.map(request)
        let isWhole = RequestBatch(session.dialogue, requests).run(
            patience: { painter?.delay ?? nil }, pause: { report.draw(&painter) },
            progress: { number, progress in report.note(number, progress, &painter) },
            done: { number, reply in report.take(number, reply, &painter) })
        painter = nil
        session.end()
        if !isWhole || report.hasFailed { throw Ending.failed }
    }

    private func request(_ url: String) -> Dialogue.Request {
        Dialogue.Request("retrieve", wantsProgress: true) { params in
            params.field("url", FilePath.url(url))
            if let key { params.field("key", key) }
            if let cache = session.cache { params.field("cache", cache) }
            if resize != nil || format != nil {
                params.key("processors")
                params.array { processors in
                    if let resize { resize.write(to: &processors) }
                    if let format { Self.write(format: format, to: &processors) }
                }
            }
            image.write(to: &params)
        }
    }

    private static func write(format: String, to processors: inout JSONWriter) {
        processors.object { processor in
            processor.key("format")
            processor.object { $0.field("to", format) }
        }
    }
}

/// A width and a height in pixels, written `320x240`.
struct PixelBox: ExpressibleByArgument {
    let width: Int
    let height: Int

    init?(argument: String) {
        let parts = argument.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], width > 0, height > 0 else { return nil }
        (self.width, self.height) = (width, height)
    }

    /// Writes the processor that makes an image fit into the box and never enlarges it.
    func write(to processors: inout JSONWriter) {
        processors.object { processor in
            processor.key("downsample")
            processor.object { size in
                size.field("width", width)
                size.field("height", height)
            }
        }
    }
}
