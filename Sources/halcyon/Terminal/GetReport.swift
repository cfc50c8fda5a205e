internal import ArgumentParser
internal import ImageServer
internal import JSONRPC
internal import Platform
internal import Terminal

/// The output of `halcyon get`: the path of each image on stdout, errors on stderr, and progress bars meanwhile.
struct GetReport {
    private let list: LineList
    private var place: OutputPlace?
    private let json: Bool
    private var screen: ProgressScreen
    /// The exit code when something has failed.
    private(set) var failure: ExitCode?
    /// The first error of standard output.
    private(set) var outputFailure: (any Error)?

    init(_ list: LineList, place: OutputPlace?, json: Bool) {
        self.list = list
        self.place = place
        self.json = json
        screen = ProgressScreen(count: list.items.count, colours: .on(2))
    }

    mutating func note(_ number: Int, _ progress: Dialogue.Progress, _ painter: inout Painter?) {
        screen.note(number, name: name(number), progress, at: monotonicNanoseconds())
        draw(&painter)
    }

    func draw(_ painter: inout Painter?) {
        painter?.draw { screen.lines(width: $0) }
    }

    /// Counts an answer, as soon as it is there.
    mutating func arrived(_ number: Int, _ reply: Dialogue.Reply, _ painter: inout Painter?) {
        screen.finish(number, name: name(number), hasFailed: reply.isError, at: monotonicNanoseconds())
        draw(&painter)
    }

    /// Prints an answer, when all before it are printed. Each has one line, so that lines of output match those of input.
    mutating func take(_ number: Int, _ reply: Dialogue.Reply, _ painter: inout Painter?) {
        screen.dismiss(number)
        painter?.erase()
        defer { draw(&painter) }
        skip(list.gaps[number])
        guard !reply.isError, let path = reply.path else {
            if json { printLine(reply.text) }
            return fail(reply.complaint(about: list.items[number]), Ending.after(reply))
        }
        do {
            let shown = try place?.take(path, from: list.items[number]) ?? path
            if json { printLine(reply.text) } else if shown != OutputPlace.stream { printLine(Array(shown.utf8)) }
            if reply.framesDropped > 0 {
                complain(
                    "\(list.items[number].forTerminal): the format has one frame; \(reply.framesDropped) more are left out"
                )
            }
            if place == nil, let reason = reply.notStored {
                let sentence =
                    "its file will be removed soon, because the cache does not keep it (\(reason)); --output copies it"
                complain("\(list.items[number].forTerminal): \(sentence)")
            }
        } catch let error as StartFailure {
            screen.revoke()
            if json { printLine(error.object(about: list.items[number])) }
            fail(error.description, Ending.failed)
        } catch {
            outputFailure = outputFailure ?? error
        }
    }

    /// Prints what follows the last answer.
    mutating func finish() { skip(list.gaps[list.items.count]) }

    /// Prints an empty line for each line without an item. JSON names the URL itself.
    private mutating func skip(_ count: Int) {
        if !json, place?.isStream != true { print([UInt8](repeating: UInt8(ascii: "\n"), count: count)) }
    }

    private mutating func printLine(_ text: [UInt8]) { print(text + [UInt8(ascii: "\n")]) }

    private mutating func print(_ bytes: [UInt8]) {
        do { try printToStdout(bytes) } catch { outputFailure = outputFailure ?? error }
    }

    private func name(_ number: Int) -> String { FilePath.lastName(of: list.items[number]) }

    private mutating func fail(_ complaint: String, _ code: ExitCode) {
        failure = failure ?? code
        if !json, place?.isStream != true { print([UInt8(ascii: "\n")]) }
        complain(complaint)
    }
}

extension StartFailure {
    /// The failure to copy an image, as a server tells errors.
    fileprivate func object(about url: String) -> [UInt8] {
        var writer = JSONWriter()
        let code = ErrorCode.storageFailed
        RPCError(
            code: code.rawValue, name: "\(code)", message: description, details: [("url", .string(FilePath.url(url)))]
        ).write(to: &writer)
        return writer.bytes
    }
}

extension Dialogue.Reply {
    /// The error message, with its hint when there is one.
    func complaint(about thing: String) -> String {
        guard let message else { return "\(thing.forTerminal): it has no file." }
        guard let hint, !message.hasSuffix(hint) else { return message.forTerminal }
        return (message + " " + hint).forTerminal
    }
}
