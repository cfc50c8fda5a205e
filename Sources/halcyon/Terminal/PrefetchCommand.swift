internal import ArgumentParser
internal import JSONRPC
internal import Platform
internal import Terminal

/// Loads images into the cache before they are needed.
struct PrefetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prefetch", abstract: "Load the images of a list into the cache.",
        discussion: "Images that are already cached are skipped; failures are reported, and the others continue.")

    @Argument(help: "A file with one URL a line; - for standard input. Lines that begin with # are left out.")
    var file: String

    @Option(
        parsing: .unconditional,
        help: "The largest number of downloads at the same time. Default: as many as the downloader allows.")
    var maxConcurrent: Int?

    @Flag(name: [.short, .long], help: "No progress bar.")
    var quiet = false

    @OptionGroup var image: ImageArguments
    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws {
        let urls = try LineList(linesOf: file).items
        let session = try session.session(server)
        let request = Dialogue.Request("prefetch", wantsProgress: true) { params in
            params.key("urls")
            params.array { list in
                for url in urls { list.write(FilePath.url(url)) }
            }
            if let cache = self.session.cache { params.field("cache", cache) }
            if let maxConcurrent { params.field("maxConcurrent", maxConcurrent) }
            image.write(to: &params)
        }
        // Lines of the log would fall among the bars.
        var painter = quiet || self.session.verbose ? nil : Painter(on: 2)
        var screen = ProgressScreen(count: 1, colours: .on(2))
        var reply: Dialogue.Reply?
        let isWhole = RequestBatch(session.dialogue, [request]).run(
            patience: { painter?.delay ?? nil }, pause: { painter?.draw { screen.lines(width: $0) } },
            progress: { _, progress in
                screen.note(0, name: "\(urls.count) images", progress, unit: .things, at: monotonicNanoseconds())
                painter?.draw { screen.lines(width: $0) }
            }, done: { reply = $1 })
        painter = nil
        session.end()
        guard isWhole, let reply else { throw Ending.failed }
        try report(reply)
    }

    private func report(_ reply: Dialogue.Reply) throws {
        if session.json { try printToStdout(reply.text + [UInt8(ascii: "\n")]) }
        guard !reply.isError, let document = try? JSONDocument(parsing: reply.text) else {
            complain(reply.complaint(about: file))
            throw Ending.after(reply)
        }
        let result = document.root
        func count(_ list: StaticString) -> Int { result.member(list)?.count ?? 0 }
        if !session.json {
            let text = "\(count("completed")) loaded, \(count("skipped")) cached already, \(count("failed")) failed\n"
            try printToStdout(Array(text.utf8))
        }
        for index in 0..<count("failed") {
            let message = result.member("failed")?.element(index)?.member("error")?.member("message")?.string
            if let message { complain(message.forTerminal) }
        }
        var hasFailed = count("failed") > 0
        for index in 0..<count("notStored") {
            guard let image = result.member("notStored")?.element(index), let url = image.member("url")?.string,
                let reason = image.member("stored")?.string
            else { continue }
            complain("\(url.forTerminal): loaded, but the cache does not keep it (\(reason))")
            // The folder failed, not what was asked of it.
            if ["noRoom", "diskFailed", "busy"].contains(reason) { hasFailed = true }
        }
        if hasFailed { throw Ending.failed }
    }
}
