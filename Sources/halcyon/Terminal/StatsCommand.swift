internal import ArgumentParser
internal import Glibc
internal import ImageServer
internal import JSONRPC
internal import Platform
internal import Terminal

/// Tells what the servers on a cache folder have done.
struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Show what the running servers of a cache folder have done since they started.",
        discussion: """
            Each server on its own, as the method stats tells it; with --all, the sums of all. Counts are up to some seconds \
            old, and a server that has just started is not among them.
            """)

    @Flag(help: "Add up the counts of all servers.")
    var all = false

    @Flag(help: "Print JSON: an object for each server, one a line; with --all, a single one.")
    var json = false

    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws {
        let root = try server.commandSettings().configuration.cacheDir ?? ""
        var sums = CounterSums()
        var isFirst = true
        for (process, content) in try Self.living(in: root) {
            guard let document = try? JSONDocument(parsing: content) else { continue }
            sums.add(document.root)
            if all { continue }
            if !json, !isFirst { try printToStdout([UInt8(ascii: "\n")]) }
            isFirst = false
            try show { writer in
                // For people a name, without commas between its digits.
                if json { writer.field("process", process) } else { writer.field("process", "\(process)") }
                document.root.forEachMember { name, value in
                    writer.key(String(decoding: name, as: UTF8.self))
                    writer.write(value)
                }
            }
        }
        if all { try show { sums.write(to: &$0) } }
        if sums.count == 0 { complain("No running server uses \(root.forTerminal).") }
    }

    private static func living(in root: String) throws -> [(process: Int, content: [UInt8])] {
        do { return try CountersFile.living(in: root) } catch let error as SystemError {
            let reason = String(cString: strerror(error.code))
            throw StartFailure(description: "The servers of \(root.forTerminal) cannot be listed: \(reason).")
        }
    }

    /// Prints an object with these members.
    private func show(_ members: (inout JSONWriter) -> Void) throws {
        var writer = JSONWriter()
        writer.object { members(&$0) }
        if json { return try printToStdout(writer.bytes + [UInt8(ascii: "\n")]) }
        let document = try JSONDocument(parsing: writer.bytes)
        try printToStdout(Array(SingleRequest.fields(of: document.root).utf8))
    }
}

/// The sums of the counters of several servers. What cannot be added is left out: latencies, and the limit of the output.
private struct CounterSums {
    private(set) var count = 0
    /// In the order in which they came first.
    private var names: [String] = []
    private var sums: [String: Int] = [:]
    private var notStored: [String: Int] = [:]

    mutating func add(_ counters: borrowing JSONView) {
        count += 1
        counters.forEachMember { name, value in
            guard let number = value.integer else { return }
            let name = String(decoding: name, as: UTF8.self)
            if sums[name] == nil { names.append(name) }
            sums[name, default: 0] &+= number
        }
        counters.member("notStored")?.forEachMember { reason, value in
            notStored[String(decoding: reason, as: UTF8.self), default: 0] &+= value.integer ?? 0
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.field("processes", count)
        for name in names {
            writer.key(name)
            writer.write(sums[name] ?? 0)
        }
        writer.key("notStored")
        writer.object { writer in
            for (reason, count) in notStored.sorted(by: { $0.key < $1.key }) {
                writer.key(reason)
                writer.write(count)
            }
        }
    }
}
