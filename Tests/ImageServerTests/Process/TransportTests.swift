import Foundation
import Glibc
import TestSupport
import Testing

/// What standard input, output and error may be.
@Suite(.onThreads)
struct TransportTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
    private static let pong = #"{"jsonrpc":"2.0","id":1,"result":null}"#

    @Test func printedRequestWithoutALineEndIsAnswered() throws {
        let run = try Command.shell("printf '%s' '\(Self.ping)' | \"$HALCYON\" --cache-dir \(folder)")
        #expect(String(decoding: run.output, as: UTF8.self) == Self.pong + "\n")
        #expect(run.status == 0)
    }

    @Test func programWorksInTheMiddleOfAPipeline() throws {
        let run = try Command.shell(
            "printf '%s\\n' '\(Self.ping)' '\(Self.ping)' | \"$HALCYON\" --cache-dir \(folder) | cat")
        #expect(String(decoding: run.output, as: UTF8.self) == "\(Self.pong)\n\(Self.pong)\n")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    @Test func endOfALaterProgramEndsTheServer() throws {
        let asking = #"while printf '%s\n' '\#(Self.ping)'; do :; done"#
        let run = try Command.shell("(\(asking)) 2>/dev/null | \"$HALCYON\" --cache-dir \(folder) | head -n 1")
        #expect(String(decoding: run.output, as: UTF8.self) == Self.pong + "\n")
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
    }

    @Test(arguments: [false, true])
    func inputMayBeAFile(isFramed: Bool) throws {
        let path = folder + "/requests"
        var requests: [UInt8] = []
        for id in 0..<1000 {
            let message = #"{"jsonrpc":"2.0","id":\#(id),"method":"isCached","params":{"key":"\#(id)"}}"#
            requests += Array(
                (isFramed ? "Content-Length: \(message.utf8.count)\r\n\r\n\(message)" : message + "\n").utf8)
        }
        try Data(requests).write(to: URL(fileURLWithPath: path))
        let server = try ServerProcess(cache: folder + "/cache", isFramed: isFramed, channel: .file(path))
        let replies = try server.lastReplies()
        #expect(replies.byID.count == 1000)
        #expect(replies.unexpected.isEmpty)
        #expect(server.exitCode() == 0)
        #expect(server.complaints().isEmpty)
    }

    @Test(arguments: [false, true])
    func inputAndOutputMayBeASocket(isFramed: Bool) throws {
        let server = try ServerProcess(cache: folder, isFramed: isFramed, channel: .socket)
        try server.requestAll((0..<5000).map { ($0, "isCached", #"{"key":"k"}"#) })
        let replies = try server.replies(5000)
        #expect(replies.byID.count == 5000)
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
    }

    /// Both ends of a terminal that does not repeat what is written to it.
    private func terminal() throws -> (near: Int32, far: Int32) {
        var (near, far): (Int32, Int32) = (-1, -1)
        try #require(openpty(&near, &far, nil, nil, nil) == 0)
        var settings = termios()
        tcgetattr(far, &settings)
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(far, TCSANOW, &settings)
        for end in [near, far] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (near, far)
    }

    @Test func terminalGetsAHintOnStderrAndAnswers() throws {
        let (near, far) = try terminal()
        let server = try ServerProcess(cache: folder, channel: .terminal(near: near, far: far))
        close(far)
        try server.send(Self.ping)
        #expect(try server.next() == JSON(Self.pong))
        #expect(server.complaints().contains("one request a line"))
        try server.sendRaw([4])  // ^D, the end of a terminal's input
        #expect(try server.next() == nil)
        #expect(server.exitCode() == 0)
        #expect(server.complaints().isEmpty)
        close(near)
    }

    /// Whoever shares the terminal may have said that it does not block.
    @Test func inputThatDoesNotBlockIsServed() throws {
        let (near, far) = try terminal()
        _ = fcntl(far, F_SETFL, O_RDWR | O_NONBLOCK)
        let server = try ServerProcess(cache: folder, channel: .terminal(near: near, far: far))
        for _ in 0..<5 {
            try server.send(Self.ping)
            #expect(try server.next() == JSON(Self.pong))
        }
        try server.sendRaw([4])  // ^D, the end of a terminal's input
        #expect(server.exitCode() == 0)
        close(far)
        close(near)
    }

    @Test(arguments: ["serve", "mcp"])
    func inputThatCannotBeReadIsNoEndOfInput(command: String) throws {
        let run = try Command.shell("\"$HALCYON\" \(command) --cache-dir \(folder) < /")
        #expect(run.status == 1)
        #expect(run.output.isEmpty)
        #expect(run.errors.contains("Standard input cannot be read: Is a directory"))
    }

    @Test func outputThatCannotBeWrittenIsSaid() throws {
        let run = try Command.shell("echo '\(Self.ping)' | \"$HALCYON\" serve --cache-dir \(folder) > /dev/full")
        #expect(run.status == 1)
        #expect(run.errors.contains("Standard output cannot be written: No space left on device"))
    }

    /// Such a pipe cannot be opened again, and what is shared with its other users must stay as they set it. The client reads
    /// none of the answers.
    @Test(.enabled(if: getuid() == 0, "only root starts a process of another user"))
    func unreadPipeOfAnotherUserDoesNotHoldUpReading() throws {
        let script = """
            import os, subprocess
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", os.environ["HALCYON"], "serve",
                     "--cache-dir", "/nowhere/cache"]
            server = subprocess.Popen(words, stdin=-1, stdout=-1)
            for _ in range(20): server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}\\n')
            server.stdin.write(b'{"jsonrpc":"2.0","method":"exit"}\\n')
            server.stdin.flush()
            try: print(server.wait(20))
            finally: server.kill()
            """
        let run = try Command.shell("python3 -c '\(script.replacing("'", with: "'\\''"))'")
        #expect(run.text == "1", "\(run.errors)")
    }

    @Test func serverWorksWithoutStderr() throws {
        let server = try ServerProcess(cache: folder, ["--log-level", "trace"], errors: .closed)
        #expect(try server.call(1, "ping") == JSON(Self.pong))
        let stored = try server.call(2, "store", #"{"key":"k","path":\#(quoted(Fixtures.folder + "/png-rgb.png"))}"#)
        let path = try #require(stored["result"]?["path"]?.string)
        // Descriptor 2 is not given to a file of the cache, or messages for people would end up in an image.
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(Fixtures.bytes("png-rgb.png")))
        #expect(server.finish() == 0)
    }

    /// Nobody reads stderr and its pipe is full: what there is to log is dropped, and nothing waits.
    @Test func fullStderrHoldsUpNothing() throws {
        let server = try ServerProcess(
            cache: folder, ["--log-level", "trace", "--log-file", "/nowhere/log"], errors: .fullPipe)
        #expect(try server.call(1, "ping") == JSON(Self.pong))
        server.signal(SIGTERM)
        #expect(server.exitCode() == 128 + SIGTERM)
    }

    @Test func logGoesToStderrOrAFileAndNeverToStdout() throws {
        for hasFile in [false, true] {
            let log = folder + "/log"
            let server = try ServerProcess(
                cache: folder, ["--log-level", "trace"] + (hasFile ? ["--log-file", log] : []))
            #expect(try server.call(1, "ping") == JSON(Self.pong))
            server.signal(SIGTERM)
            #expect(server.exitCode() == 128 + SIGTERM)
            #expect(try server.rest().isEmpty)
            #expect(server.unparsedCount == 0)
            #expect(server.complaints().contains("stopped by signal") != hasFile)
            let text = try? String(contentsOfFile: log, encoding: .utf8)
            #expect((text?.contains("stopped by signal") == true) == hasFile)
        }
    }

    /// Whatever prints to descriptor 1, a library or a runtime in trouble, prints to stderr.
    @Test func descriptorsOfTheProtocolAreOutOfReach() throws {
        let server = try ServerProcess(cache: folder)
        #expect(try server.call(1, "ping") == JSON(Self.pong))
        func target(_ descriptor: Int) throws -> String {
            try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(server.process)/fd/\(descriptor)")
        }
        #expect(try target(0) == "/dev/null")
        #expect(try target(1) == target(2))
        #expect(server.finish() == 0)
    }

    @Test func closedInputOrOutputIsRefusedInASentence() throws {
        for redirection in ["<&-", ">&-"] {
            let run = try Command.shell("\"$HALCYON\" serve --cache-dir \(folder) \(redirection)")
            #expect(run.status == 1)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("must be open"))
        }
    }

    /// Every kind of request, good and bad: stdout has nothing but frames, and stderr nothing at all.
    @Test(arguments: [false, true])
    func outputCarriesOnlyFramesAndAHealthyRunIsSilent(isFramed: Bool) throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder, isFramed: isFramed)
        var requests = Fixtures.all.enumerated().map { index, picture in
            (id: index, method: "retrieve", params: #"{"url":\#(quoted(web.url("/" + picture.file))),"as":"both"}"#)
        }
        for (method, params) in [
            ("retrieve", #"{"url":"http://127.0.0.1:1/"}"#), ("retrieve", #"{"url":"nonsense"}"#), ("nothing", "{}"),
            ("store", #"{"key":"k","path":"/nowhere"}"#), ("store", #"{"key":"k","data":"%"}"#), ("clear", "{}"),
            ("rpc.discover", "{}"), ("stats", "{}"), ("isCached", "[1]"), ("initialize", #"{"processId":null}"#),
        ] {
            requests.append((requests.count, method, params))
        }
        try server.requestAll(requests)
        try server.sendRaw(server.frame("{not json"))
        server.closeInput()
        let replies = try server.lastReplies()
        #expect(replies.byID.count == requests.count)
        #expect(replies.unexpected.map { $0["error"]?["code"]?.integer } == [-32700])
        #expect(replies.notifications.isEmpty)
        #expect(server.unparsedCount == 0)
        #expect(server.complaints().isEmpty)
        #expect(server.exitCode() == 0)
    }
}
