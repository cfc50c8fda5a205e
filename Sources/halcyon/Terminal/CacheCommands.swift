internal import ArgumentParser
internal import ImageServer
internal import JSONRPC
internal import Terminal

/// Prints the number and size of the images in a cache.
struct SizeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "size", abstract: "Show how many images a cache holds, and how much room they take.")

    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws { try SingleRequest(session, server).run("calculateSize", about: "size") }
}

/// Removes expired images, those that match, or all.
struct CleanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean", abstract: "Remove the expired images; with --all, all images.",
        discussion: "With an option that chooses images, those are removed, expired or not.")

    @Flag(help: "Remove every image.")
    var all = false

    @OptionGroup var filter: EntryFilter

    @Flag(help: "Remove them from the remote tier too, for all machines. With --all or a choice of images.")
    var everywhere = false

    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func validate() throws {
        if all, !filter.isEmpty { throw ValidationError("--all means every image: leave out what chooses some.") }
        if everywhere, !all, filter.isEmpty {
            throw ValidationError(
                "--everywhere needs --all or a choice of images: expired ones are no other machine's.")
        }
    }

    func run() throws {
        if all || !filter.isEmpty { return try clear() }
        try SingleRequest(session, server).run("cleanExpired", about: "clean", show: Self.words)
    }

    private func clear() throws {
        var problem: String?
        try SingleRequest(session, server).run("clear", about: "clean") { params in
            filter.write(to: &params)
            if everywhere { params.field("remote", true) }
        } show: { result in
            problem = result.remoteProblem
            return SingleRequest.fields(of: result)
        }
        if let problem {
            complain("clean: the remote tier still has some: \(problem)")
            throw Ending.failed
        }
    }

    private static func words(_ result: borrowing JSONView) -> String {
        let (count, bytes) = (result.member("count")?.integer ?? 0, result.member("byteCount")?.integer ?? 0)
        return "\(count) \(count == 1 ? "image" : "images") removed, \(ByteText.text(bytes))\n"
    }
}

/// Checks every file of a cache.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read every file of a cache, and repair what does not match the index.",
        discussion: "Ends with 1 when anything was wrong, repaired or not.")

    @Flag(help: "Change nothing, only report.")
    var dryRun = false

    @OptionGroup var session: SessionOptions
    @OptionGroup(visibility: .hidden) var server: ServeOptions

    func run() throws {
        var isClean = false
        try SingleRequest(session, server).run("verify", about: "verify") { params in
            if dryRun { params.field("repair", false) }
        } show: { result in
            isClean = result.member("clean")?.boolean == true
            return SingleRequest.fields(of: result)
        }
        if !isClean { throw Ending.failed }
    }
}

extension JSONView {
    /// The reason why the remote tier still has what a removal was to remove.
    var remoteProblem: String? { member("remote")?.member("problem")?.string?.forTerminal }
}

/// A request whose result is printed.
struct SingleRequest {
    private let options: SessionOptions
    private let server: ServeOptions

    init(_ options: SessionOptions, _ server: ServeOptions) { (self.options, self.server) = (options, server) }

    /// The members of a result, one per line, each under its name alone.
    static func fields(of result: borrowing JSONView) -> String {
        TextTable.fields(of: result, leavingOut: RenamedMember.formerNames)
    }

    /// Sends the request and prints the result: as JSON with `--json`, otherwise as the text that `show` makes.
    ///
    /// - Parameter thing: The subject of an error message that names none.
    func run(
        _ method: String, about thing: String, _ write: (inout JSONWriter) -> Void = { _ in },
        show: (borrowing JSONView) -> String = Self.fields
    ) throws {
        let session = try options.session(server)
        let reply = session.dialogue.ask(
            Dialogue.Request(method) { params in
                if let cache = options.cache { params.field("cache", cache) }
                write(&params)
            })
        session.end()
        guard let reply, !reply.isError, let document = try? JSONDocument(parsing: reply.text) else {
            if options.json, let reply { try printToStdout(reply.text + [UInt8(ascii: "\n")]) }
            complain("\(reply?.complaint(about: thing) ?? "\(thing): the engine has ended.")")
            throw Ending.after(reply)
        }
        let text = show(document.root)
        try printToStdout(options.json ? reply.text + [UInt8(ascii: "\n")] : Array(text.utf8))
    }
}
