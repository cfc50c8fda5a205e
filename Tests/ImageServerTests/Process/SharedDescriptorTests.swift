import TestSupport
import Testing

/// Commands whose standard descriptors are shared with others, who may have set `O_NONBLOCK`, or read slowly.
@Suite(.onThreads)
struct SharedDescriptorTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func run(_ line: String, input: String = "") throws -> Command {
        try Command.shell(
            line, input: Array(input.utf8), directory: scratch.path,
            environment: ["HALCYON_CACHE_DIR": scratch.path + "/cache", "OPEN": "import os; os.set_blocking"])
    }

    private func text(_ command: Command) -> String {
        String(decoding: command.output, as: UTF8.self).filter { !$0.isWhitespace }
    }

    @Test func anImageIsWrittenWholeToAPipeThatDoesNotWait() throws {
        let picture = hollowPNG(width: 9, count: 300_000)
        overwrite(scratch.path + "/big.png", picture)
        let got = try run(#"(python3 -c "$OPEN(1, False)"; $HALCYON get -o - big.png) | (sleep 0.3; wc -c)"#)
        #expect(text(got) == "\(picture.count)", "\(got.errors)")
    }

    @Test func aReaderThatIsGoneIsNoComplaint() throws {
        overwrite(scratch.path + "/big.png", hollowPNG(width: 9, count: 300_000))
        let got = try run("$HALCYON get -o - big.png | head -c 1 >/dev/null")
        #expect(got.errors.isEmpty)
    }

    @Test func noComplaintIsLostInAPipeThatIsReadSlowly() throws {
        let list = (0..<2000).map { "\(scratch.path)/none-\($0).png" }.joined(separator: "\n")
        let got = try run("$HALCYON get - 2>&1 >/dev/null | (sleep 2; wc -l)", input: list)
        #expect(text(got) == "2000")
    }

    @Test func aListIsReadFromAPipeThatDoesNotWait() throws {
        overwrite(scratch.path + "/a.png", hollowPNG(width: 9))
        let line = #"(sleep 1; echo a.png) | (python3 -c "$OPEN(0, False)"; $HALCYON get -)"#
        let got = try run(line)
        #expect(got.status == 0 && got.errors.isEmpty, "\(got.errors)")
    }

    @Test func onlyALineEndEndsAnItemOfAList() throws {
        let odd = "odd\u{2028}name\u{B}.png"
        overwrite(scratch.path + "/" + odd, hollowPNG(width: 9))
        let got = try run("$HALCYON get -", input: odd + "\r\n")
        #expect(got.status == 0, "\(got.errors)")
        #expect(try run("$HALCYON call isCached -", input: "{\"key\":\"a\u{2028}b\"}").status == 0)
    }

    @Test func keysOfAListAreTakenAsTheyStand() throws {
        overwrite(scratch.path + "/a.png", hollowPNG(width: 9))
        for key in ["#k", " k "] {
            let store = #"{"key":"\#(key)","path":"\#(scratch.path)/a.png"}"#
            #expect(try run("$HALCYON call store '\(store)'").status == 0)
            let got = try run("$HALCYON rm -", input: key + "\n")
            #expect(got.status == 0 && got.errors.isEmpty, "\(got.errors)")
            #expect(text(try run("$HALCYON call isCached '{\"key\":\"\(key)\"}'")).contains(#""cached":false"#))
        }
    }
}
