internal import ArgumentParser
internal import ImageEngine
internal import JSONRPC
internal import Terminal

/// Lists the images in a cache.
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ls", abstract: "List the images of a cache: size, dimensions, format, last use and key.")

    @OptionGroup var filter: EntryFilter

    @Option(
        help: """
            The order: first the largest (size), the last used (used) or the last stored (stored). Default: none, each page as \
            soon as it is read.
            """)
    var sort: SortOrder?

    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    /// What the entries are sorted by.
    enum SortOrder: String, ExpressibleByArgument, CaseIterable {
        case size, used, stored
    }

    /// An entry as it is printed: one line of JSON, or the cells of a row.
    private struct Line {
        let cells: [String]
        /// Sorts by it: the largest first.
        let rank: Rank

        enum Rank: Comparable { case number(Int), text(String) }
    }

    func run() throws {
        let session = try session.session(server)
        var cursor: String?
        var lines: [Line] = []
        repeat {
            guard let reply = session.dialogue.ask(request(after: cursor)) else { throw Ending.failed }
            guard !reply.isError, let document = try? JSONDocument(parsing: reply.text) else {
                complain(reply.complaint(about: "ls"))
                session.end()
                throw Ending.after(reply)
            }
            lines += self.lines(document.root)
            // Without an order each page is printed as it comes.
            if sort == nil {
                try show(lines)
                lines = []
            }
            cursor = document.root.member("cursor")?.string
        } while cursor != nil
        session.end()
        try show(lines.sorted { $0.rank > $1.rank })
    }

    private func request(after cursor: String?) -> Dialogue.Request {
        Dialogue.Request("list") { params in
            if let cache = session.cache { params.field("cache", cache) }
            filter.write(to: &params)
            if let cursor { params.field("cursor", cursor) }
        }
    }

    private func lines(_ result: borrowing JSONView) -> [Line] {
        guard let entries = result.member("entries") else { return [] }
        var lines: [Line] = []
        for index in 0..<entries.count {
            guard let entry = entries.element(index) else { continue }
            var cells: [String] = []
            if session.json {
                var writer = JSONWriter()
                writer.write(entry)
                cells = [String(decoding: writer.bytes, as: UTF8.self)]
            } else {
                cells = Self.row(entry)
            }
            lines.append(Line(cells: cells, rank: rank(of: entry)))
        }
        return lines
    }

    private func rank(of entry: borrowing JSONView) -> Line.Rank {
        switch sort {
        case nil: .number(0)
        case .size: .number(entry.member("byteCount")?.integer ?? 0)
        case .used: .text(entry.member("usedAt")?.string ?? "")
        case .stored: .text(entry.member("storedAt")?.string ?? "")
        }
    }

    private func show(_ lines: [Line]) throws {
        if lines.isEmpty { return }
        if session.json { return try printToStdout(Array(lines.flatMap { $0.cells[0].utf8 + [UInt8(ascii: "\n")] })) }
        try printToStdout(Array(TextTable.columns(lines.map(\.cells), [.right, .right, .left, .left, .left]).utf8))
    }

    private static func row(_ entry: borrowing JSONView) -> [String] {
        let (width, height) = (entry.member("width")?.integer ?? 0, entry.member("height")?.integer ?? 0)
        let identifier = entry.member("processorIdentifier")?.string ?? ""
        let key = entry.member("key")?.string ?? entry.member("hash")?.string ?? "?"
        return [
            ByteText.text(entry.member("byteCount")?.integer ?? 0), width > 0 ? "\(width)×\(height)" : "-",
            entry.member("format")?.string ?? "-", entry.member("usedAt")?.string ?? "-",
            (identifier.isEmpty ? key : "\(key) [\(identifier)]").forTerminal,
        ]
    }
}

/// Prints everything that is known about an image.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show all that is known about a cached image, without loading it.")

    @Argument(help: "The key: the URL, unless another was given.", completion: .custom(CachedKeys.completions))
    var key: String

    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws {
        try SingleRequest(session, server).run("inspect", about: key) { params in params.field("key", key) }
    }
}

/// Removes images.
struct RemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rm", abstract: "Remove images from the cache.",
        discussion: "An image that is not there, or stays in a read-only folder, is reported, and counts as a failure.")

    @Argument(
        help: "Keys; - reads them from standard input, one a line.", completion: .custom(CachedKeys.completions))
    var keys: [String]

    @Flag(help: "Remove everything made from them by processors too.")
    var allVariants = false

    @Flag(help: "Remove them from the remote tier too, for all machines.")
    var everywhere = false

    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws {
        let keys = try LineList(expanding: self.keys, isExact: true).items
        let session = try session.session(server)
        let requests = keys.map { key in
            Dialogue.Request("remove") { params in
                params.field("key", key)
                if let cache = self.session.cache { params.field("cache", cache) }
                if allVariants { params.field("allVariants", true) }
                if everywhere { params.field("remote", true) }
            }
        }
        var failure: ExitCode?
        var outputFailure: (any Error)?
        let isWhole = RequestBatch(session.dialogue, requests).run { number, reply in
            if self.session.json {
                do { try printToStdout(reply.text + [UInt8(ascii: "\n")]) } catch { outputFailure = error }
            }
            if reply.isError {
                failure = failure ?? Ending.after(reply)
                complain(reply.complaint(about: keys[number]))
            } else if let document = try? JSONDocument(parsing: reply.text) {
                let problem = document.root.remoteProblem
                if let problem {
                    failure = failure ?? Ending.failed
                    complain("\(keys[number].forTerminal): not removed from the remote tier: \(problem)")
                }
                if let path = document.root.member("readOnlyPath")?.string {
                    failure = failure ?? Ending.failed
                    complain(
                        "\(keys[number].forTerminal) is in a read-only folder, where nothing is removed: \(path.forTerminal)"
                    )
                } else if !everywhere || problem != nil, document.root.member("removed")?.boolean != true {
                    failure = failure ?? Ending.failed
                    complain("\(keys[number].forTerminal) is not in the cache.")
                }
            }
        }
        session.end()
        if let outputFailure { throw outputFailure }
        if !isWhole { throw Ending.failed }
        if let failure { throw failure }
    }
}
