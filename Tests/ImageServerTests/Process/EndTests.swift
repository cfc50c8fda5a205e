import Foundation
import Glibc
import TestSupport
import Testing

/// How a server ends while requests are open.
@Suite(.onThreads)
struct EndTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    /// A web server whose pictures under `/held/` come when the gate opens.
    private struct Scene {
        let gate = Gate()
        let web: LocalServer

        init() throws {
            let picture = try Fixtures.bytes("png-rgb.png")
            web = try LocalServer { [gate] request in
                let start = request.path.hasPrefix("/held/") ? Script.empty.waiting(for: gate) : .empty
                return start.followed(by: .reply(200, [:], picture))
            }
        }

        func hold(_ ids: some Sequence<Int>, _ server: ServerProcess) throws {
            var count = 0
            for id in ids {
                try server.request(id, "retrieve", #"{"url":\#(quoted(web.url("/held/\(id)")))}"#)
                count += 1
            }
            try waitUntil("the requests reaching the web server") { web.requests.count >= min(count, 4) }
        }
    }

    @Test(arguments: [false, true])
    func endOfInputAnswersWhatIsInFlightAndExitsWithZero(isFramed: Bool) throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let server = try ServerProcess(cache: folder, isFramed: isFramed)
        try scene.hold(0..<10, server)
        try server.send(#"{"jsonrpc":"2.0","id":10,"method":"ping"}"#)
        server.closeInput()
        #expect(try server.replies(1).order == [10])
        #expect(Spawn.isRunning(server.process))
        scene.gate.open()
        let replies = try server.lastReplies()
        #expect(Set(replies.byID.keys) == Set(0..<10))
        #expect(replies.byID.values.allSatisfy { $0["result"]?["cacheType"]?.string == "none" })
        #expect(replies.unexpected.isEmpty)
        #expect(server.exitCode() == 0)
        #expect(server.complaints().isEmpty)
    }

    /// Nobody is left who could resume it.
    @Test(arguments: [("all", "end"), ("all", "shutdown"), ("prefetch", "end"), ("all", "late")])
    func whatIsPausedGoesOnWhenNobodyCanResumeIt(_ what: String, _ end: String) throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = quoted(scene.web.url("/a"))
        if end != "late" { _ = try server.call(1, "pause", #"{"what":"\(what)"}"#) }
        try server.request(
            2, what == "all" ? "retrieve" : "prefetch", what == "all" ? #"{"url":\#(url)}"# : #"{"urls":[\#(url)]}"#)
        switch end {
        case "end": server.closeInput()
        case "shutdown":
            try server.request(3, "shutdown")
            #expect(try server.replies(2).byID[2]?["result"] != nil)
            try server.notify("exit", "{}")
        default:
            // An unfinished line counts when the input ends: then it is too late to pause.
            try server.sendRaw(Array(#"{"jsonrpc":"2.0","id":1,"method":"pause"}"#.utf8))
            server.closeInput()
        }
        if end != "shutdown" { #expect(try server.lastReplies().byID[2]?["result"] != nil) }
        #expect(server.exitCode() == 0)
    }

    /// As scripts do that ask, read the answer and are gone.
    @Test(arguments: [false, true])
    func whatIsAnsweredBeforeItIsStoredIsStoredBeforeTheEnd(asksToExit: Bool) throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let server = try ServerProcess(cache: folder)
        let ids = 0..<20
        for id in ids {
            try server.request(
                id, "retrieve",
                #"{"url":\#(quoted(scene.web.url("/\(id)"))),"as":"data","options":{"waitForCache":false}}"#)
        }
        if asksToExit {
            #expect(try server.replies(ids.count).byID.count == ids.count)
            _ = try server.call(100, "shutdown")
            try server.notify("exit", "{}")
        } else {
            server.closeInput()
            #expect(try server.lastReplies().byID.count == ids.count)
        }
        #expect(server.exitCode() == 0)
        let next = try ServerProcess(cache: folder)
        for id in ids {
            let found = try next.call(id, "isCached", #"{"key":\#(quoted(scene.web.url("/\(id)")))}"#)["result"]
            #expect(found?["cached"]?.boolean == true)
        }
        #expect(next.finish() == 0)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP], [false, true])
    func signalAnswersWhatIsOpenAndIsSeenInTheExitCode(signal: Int32, afterEndOfInput: Bool) throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let server = try ServerProcess(cache: folder)
        try scene.hold(0..<6, server)
        try server.send(
            #"[{"jsonrpc":"2.0","id":"in a batch","method":"retrieve","params":{"url":\#(quoted(scene.web.url("/held/0")))}}]"#
        )
        #expect(try server.call(100, "ping")["id"]?.integer == 100)
        if afterEndOfInput { server.closeInput() }
        server.signal(signal)
        let replies = try server.lastReplies()
        #expect(Set(replies.byID.keys) == Set(0..<6))
        #expect(replies.byID.values.allSatisfy { $0["error"]?["code"]?.integer == -32802 })
        #expect(replies.unexpected.map { $0[0]?["error"]?["code"]?.integer } == [-32802])
        #expect(server.exitCode() == 128 + signal)
        #expect(server.complaints().isEmpty)
        try waitUntil("the transfers being dropped") { scene.web.droppedCount >= 4 }
    }

    @Test(arguments: [true, false])
    func exitAnswersWhatIsInFlightAndTellsWhetherShutdownCame(hasShutDown: Bool) throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let server = try ServerProcess(cache: folder)
        try scene.hold(0..<6, server)
        if hasShutDown {
            #expect(try server.call(6, "shutdown")["result"] == .null)
            #expect(try server.call(7, "ping")["error"]?["code"]?.integer == -32600)
        }
        try server.send(#"{"jsonrpc":"2.0","method":"exit"}"#)
        let replies = try server.lastReplies()
        #expect(Set(replies.byID.keys) == Set(0..<6))
        #expect(replies.byID.values.allSatisfy { $0["error"]?["code"]?.integer == -32802 })
        #expect(replies.unexpected.isEmpty)
        #expect(server.exitCode() == (hasShutDown ? 0 : 1))
    }

    /// What runs when `shutdown` comes is still answered with its result.
    @Test func shutdownLetsRunningRequestsFinish() throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let server = try ServerProcess(cache: folder)
        try scene.hold(0..<3, server)
        #expect(try server.call(3, "shutdown")["result"] == .null)
        scene.gate.open()
        let replies = try server.replies(3)
        #expect(replies.byID.values.allSatisfy { $0["result"]?["width"]?.integer == 61 })
        #expect(server.finish() == 0)
    }

    @Test(arguments: [ServerProcess.Channel.pipes, .socket])
    func clientThatStopsListeningEndsTheServerAndItsDownloads(channel: ServerProcess.Channel) throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let server = try ServerProcess(cache: folder, channel: channel)
        try scene.hold(0..<4, server)
        server.closeOutput()
        if case .socket = channel { server.closeInput() }
        #expect(server.exitCode() == 1)
        try waitUntil("the transfers being dropped") { scene.web.droppedCount == 4 }
        #expect(server.complaints().isEmpty)
    }

    @Test func processThatTheClientNamedEndsTheServerWithIt() throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let editor = try ServerProcess(cache: folder + "/other")
        let server = try ServerProcess(cache: folder)
        #expect(try server.call(-1, "initialize", #"{"processId":\#(editor.process)}"#)["result"] != nil)
        try scene.hold(0..<4, server)
        editor.signal(SIGKILL)
        #expect(editor.exitCode() == -SIGKILL)
        #expect(server.exitCode() == 1)
        try waitUntil("the transfers being dropped") { scene.web.droppedCount == 4 }
    }

    /// Sets the soft limit of another process.
    private func limitDescriptors(of server: ServerProcess, to count: rlim_t) throws {
        typealias Call = @convention(c) (pid_t, Int32, UnsafePointer<rlimit>?, UnsafeMutablePointer<rlimit>?) -> Int32
        // The module of glibc leaves out what only Linux has.
        let prlimit = unsafeBitCast(try #require(dlsym(nil, "prlimit")), to: Call.self)
        var limit = rlimit()
        #expect(prlimit(server.process, Int32(RLIMIT_NOFILE.rawValue), nil, &limit) == 0)
        limit.rlim_cur = count
        #expect(prlimit(server.process, Int32(RLIMIT_NOFILE.rawValue), &limit, nil) == 0)
    }

    /// As where there are no descriptors left, or in a sandbox without that call.
    @Test func processThatTheClientNamedIsWatchedWithoutADescriptorForIt() throws {
        let editor = try ServerProcess(cache: folder + "/other")
        let server = try ServerProcess(cache: folder)
        let picture = quoted(Fixtures.folder + "/png-rgb.png")
        _ = try server.call(-2, "store", #"{"key":"a","path":\#(picture)}"#)
        // The runtime ends a process that cannot have a descriptor for its first timer by each of its two clocks.
        let descriptors = "/proc/\(server.process)/fd"
        try waitUntil("the timers of the runtime") {
            try FileManager.default.contentsOfDirectory(atPath: descriptors).count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + "/" + $0))?.contains(
                    "timerfd") == true
            } == 2
        }
        try limitDescriptors(of: server, to: 3)
        #expect(try server.call(-1, "initialize", #"{"processId":\#(editor.process)}"#)["result"] != nil)
        #expect(try server.call(0, "ping")["result"] == .null)
        // Not for longer: once a second libdispatch looks at its threads, and ends the process where it cannot.
        try limitDescriptors(of: server, to: 1024)
        editor.signal(SIGKILL)
        #expect(editor.exitCode() == -SIGKILL)
        #expect(server.exitCode() == 1)
    }

    @Test func processThatHasEndedAlreadyEndsTheServer() throws {
        let editor = try ServerProcess(cache: folder + "/other")
        #expect(editor.finish() == 0)
        let server = try ServerProcess(cache: folder)
        try server.request(1, "initialize", #"{"processId":\#(editor.process)}"#)
        #expect(server.exitCode() == 1)
    }

    /// A client is killed that spawned the server, with a download under way: nothing stays behind.
    @Test(arguments: ["sh", "python"])
    func killedClientLeavesNoProcessBehind(client: String) throws {
        let scene = try Scene()
        defer { scene.web.stop() }
        let request =
            #"{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"url":\#(quoted(scene.web.url("/held/1")))}}"#
        let note = folder + "/pid"
        let words: [String]
        if client == "sh" {
            // The shell holds both ends: it writes into one named pipe and reads from another.
            let script = """
                mkfifo "$1/in" "$1/out"; "$2" serve --cache-dir "$1/cache" < "$1/in" > "$1/out" &
                echo $! > "$1/pid.new"; mv "$1/pid.new" "$1/pid"; exec 3> "$1/in" 4< "$1/out"; printf '%s\\n' "$3" >&3; read line <&4
                """
            words = ["sh", "-c", script, "sh", folder, ServerProcess.binary, request]
        } else {
            let script = """
                import os, subprocess, sys
                folder, binary, request = sys.argv[1:]
                server = subprocess.Popen([binary, "serve", "--cache-dir", folder + "/cache"], stdin=-1, stdout=-1)
                open(folder + "/pid.new", "w").write(str(server.pid)); os.rename(folder + "/pid.new", folder + "/pid")
                server.stdin.write(request.encode() + b"\\n"); server.stdin.flush(); server.stdout.readline()
                """
            words = ["python3", "-c", script, folder, ServerProcess.binary, request]
        }
        let parent = try Spawn.background(words)
        try waitUntil("the request reaching the web server") { scene.web.requestCount("/held/1") == 1 }
        let text = try String(contentsOfFile: note, encoding: .utf8)
        let server = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(Spawn.isRunning(server))
        kill(parent, SIGKILL)
        #expect(Spawn.wait(for: parent) == -SIGKILL)
        try waitUntil("the end of the server") { !Spawn.isRunning(server) }
        try waitUntil("the transfer being dropped") { scene.web.droppedCount == 1 }
    }
}
