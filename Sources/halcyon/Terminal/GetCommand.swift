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

    @Option(
        help: """
            What is done to it, as in crop:200x200,smart/sharpen:2 (a processor's name, then its values): after --resize, \
            before --format. halcyon discover lists all, with examples.
            """)
    var processors: String?

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
            arrived: { number, reply in report.arrived(number, reply, &painter) },
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
            if let steps { params.field("processors", steps) }
            image.write(to: &params)
        }
    }

    /// The processors in their compact text; `nil` for none.
    private var steps: String? {
        let format = format.map { "format:to=" + Self.escaped($0) }
        let steps = [resize.map { "downsample:\($0.width)x\($0.height)" }, processors, format].compactMap { $0 }
        return steps.isEmpty ? nil : steps.joined(separator: "/")
    }

    /// A value with the bytes that have a meaning in the compact text as `%` and two digits.
    private static func escaped(_ value: String) -> String {
        value.utf8.reduce(into: "") { text, byte in
            let isPlain = UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            text += isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
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
}
