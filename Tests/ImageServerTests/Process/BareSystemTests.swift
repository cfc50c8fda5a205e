import TestSupport
import Testing

/// The program where the system gives it little: without `/proc`, as in a chroot or a bare container.
@Suite(.onThreads)
struct BareSystemTests {
    @Test(.hidesProc) func flagsCountWithoutProc() throws {
        let version = try Command.shell("$HALCYON --version")
        #expect(try Command.shell(HiddenProc.line("$HALCYON --version")).output == version.output)
        #expect(try Command.shell(HiddenProc.line("$HALCYON --no-such-flag")).status == 2)
    }

    /// Swift's runtime traps there, sooner or later.
    @Test(
        .hidesProc,
        arguments: ["", "--allowed-hosts example.com", "get $WEB/a.png", "get -o a.png $WEB/a.png", "ls"])
    func nothingIsBegunWithoutProc(_ flags: String) throws {
        let scratch = try TemporaryFolder()
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let request = #"{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"url":"\#(web.url("/a.png"))"}}"# + "\n"
        let refused = try Command.shell(
            HiddenProc.line("$HALCYON \(flags)"), input: Array(request.utf8), directory: scratch.path,
            environment: ["HALCYON_CACHE_DIR": scratch.path + "/cache", "WEB": web.url("")])
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.errors == "halcyon: /proc is not mounted: mount it first, as in mount -t proc proc /proc.\n")
        #expect(web.requests.isEmpty)
    }

    @Test(.hidesProc) func theDoctorTellsThatProcIsMissing() throws {
        let told = try Command.shell(HiddenProc.line("$HALCYON doctor"))
        #expect(told.status == 1 && told.errors.isEmpty, "\(told.errors)")
        #expect(String(decoding: told.output, as: UTF8.self).contains("/proc is not mounted: mount it first"))
    }
}

/// A read-only file system, made for the test.
@Suite(.onThreads)
struct ReadOnlySystemTests {
    private static func line(_ line: String) -> String {
        "unshare -m sh -c 'mount -t tmpfs none here && mount -o remount,ro here && { \(line); }'"
    }

    private static let isPossible: Bool = {
        guard let scratch = try? TemporaryFolder() else { return false }
        return (try? Command.shell("mkdir here; " + line("true"), directory: scratch.path))?.status == 0
    }()

    @Test(.enabled(if: isPossible, "nothing can be mounted here: unshare -m is not allowed"))
    func aFolderOnItIsToldWithTheReason() throws {
        let scratch = try TemporaryFolder()
        let told = try Command.shell(
            "mkdir here; " + Self.line("$HALCYON doctor --json --cache-dir here/new/cache"), directory: scratch.path)
        let cache = try JSON(told.output)["findings"]?.elements?.first { $0["group"]?.string == "cache" }
        #expect(told.status == 1 && cache?["state"]?.string == "missing")
        #expect(
            cache?["text"]?.string
                == "The cache cannot be used: cannot make the folder \(scratch.path)/here/new: Read-only file system.")
        #expect(
            cache?["advice"]?.string == "The file system is read-only: choose a writable folder with --cache-dir.")
    }
}

/// A shell that has no `/proc`, nor has what it starts.
private enum HiddenProc {
    static func line(_ line: String) -> String { "unshare -m sh -c 'mount -t tmpfs none /proc && { \(line); }'" }

    static let isPossible = (try? Command.shell(line("! test -e /proc/self")))?.status == 0
}

extension Trait where Self == ConditionTrait {
    /// The test needs the right to mount.
    fileprivate static var hidesProc: Self {
        .enabled(if: HiddenProc.isPossible, "no /proc can be hidden here: unshare -m is not allowed")
    }
}
