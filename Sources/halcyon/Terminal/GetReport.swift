internal import Glibc
internal import Terminal

/// The output of `halcyon get`: the path of each image on stdout, errors on stderr, and progress bars meanwhile.
struct GetReport {
    private let urls: [String]
    private var place: OutputPlace?
    private let json: Bool
    private var screen: ProgressScreen
    private(set) var hasFailed = false

    init(urls: [String], place: OutputPlace?, json: Bool) {
        self.urls = urls
        self.place = place
        self.json = json
        screen = ProgressScreen(count: urls.count)
    }

    mutating func note(_ number: Int, _ progress: Dialogue.Progress, _ painter: inout Painter?) {
        screen.note(number, name: FilePath.lastName(of: urls[number]), progress)
        draw(&painter)
    }

    func draw(_ painter: inout Painter?) {
        painter?.draw { screen.lines(width: $0) }
    }

    mutating func take(_ number: Int, _ reply: Dialogue.Reply, _ painter: inout Painter?) {
        screen.finish(number)
        painter?.erase()
        if json { printToStdout(reply.text + [UInt8(ascii: "\n")]) }
        guard !reply.isError, let path = reply.path else { return fail(urls[number], reply) }
        do throws(StartFailure) {
            let shown = try place?.take(path, from: urls[number]) ?? path
            if !json, shown != OutputPlace.stream { printToStdout(Array((shown + "\n").utf8)) }
            if place == nil, let reason = reply.notStored {
                let sentence = "its file will go soon, for the cache does not keep it (\(reason)); --output copies it"
                printToStderr("halcyon: \(urls[number].forTerminal): \(sentence)")
            }
        } catch {
            hasFailed = true
            printToStderr("halcyon: \(error.description)")
        }
    }

    private mutating func fail(_ url: String, _ reply: Dialogue.Reply) {
        hasFailed = true
        printToStderr("halcyon: \(reply.complaint(about: url))")
    }
}

extension Dialogue.Reply {
    /// The error message, with its hint when there is one.
    func complaint(about thing: String) -> String {
        guard let message else { return "\(thing.forTerminal): there is no file of it." }
        return (message + (hint.map { " " + $0 } ?? "")).forTerminal
    }
}
