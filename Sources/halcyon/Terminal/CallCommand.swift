internal import ArgumentParser
internal import JSONRPC
internal import Platform
internal import Terminal

/// Sends one request of any method and prints its result.
struct CallCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Send one request of the protocol, and print the result as indented JSON.",
        discussion: """
            An error goes to standard error, as JSON too, and ends the program with 1. Notifications that come meanwhile \
            go there as well.
            """)

    @Argument(help: "The method: retrieve, stats, rpc.discover, …")
    var method: String

    @Argument(help: "The parameters as JSON, an object or a list; - reads them from standard input.")
    var params: String = "{}"

    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws {
        let text = params == "-" ? try LineList.content(of: params) : params
        let bytes = Array(text.utf8)
        do {
            let document = try JSONDocument(parsing: bytes)
            guard document.root.kind == .object || document.root.kind == .array else {
                throw ValidationError("The parameters must be a JSON object or list, not \(text.excerpt).")
            }
        } catch let error as JSONSyntaxError {
            throw ValidationError("The parameters are not JSON: \(error.reason) (at byte \(error.offset)).")
        }
        let session = try Session(server.commandSettings(), loads: true)
        let number = session.dialogue.send(Dialogue.Request(method, params: bytes))
        var reply: Dialogue.Reply?
        while reply == nil, let message = session.dialogue.next() {
            switch message {
            case .reply(let id, let answer): if id == number { reply = answer }
            case .other(let text): tell(String(decoding: text, as: UTF8.self))
            case .progress, .silence: continue
            }
        }
        session.end()
        guard let reply, let document = try? JSONDocument(parsing: reply.text) else { throw Ending.failed }
        var writer = JSONWriter(indented: true)
        writer.write(document.root)
        if reply.isError {
            tell(String(decoding: writer.bytes, as: UTF8.self))
            throw Ending.failed
        }
        try printToStdout(writer.bytes + [UInt8(ascii: "\n")])
    }
}
