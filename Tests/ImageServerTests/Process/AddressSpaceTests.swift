import Foundation
import TestSupport
import Testing

/// The program under a limit of its address space (`ulimit -v`).
@Suite(.onThreads)
struct AddressSpaceTests {
    private let scratch = try? TemporaryFolder()

    private func run(_ kibibytes: Int, _ arguments: String, input: String = "", web: String = "") throws -> Command {
        try Command.shell(
            "ulimit -v \(kibibytes); $HALCYON \(arguments)", input: Array(input.utf8), directory: scratch?.path ?? "",
            environment: ["HALCYON_CACHE_DIR": (scratch?.path ?? "") + "/cache", "WEB": web])
    }

    /// The KiB that are needed at least, by the error.
    private func needed() throws -> Int {
        let words = try run(150_000, "").errors.split(separator: " ")
        let place = try #require(words.firstIndex(of: "and"), "\(words)")
        return try #require(Int(words[place + 1])) << 10
    }

    @Test(arguments: ["", "get $WEB/a.png", "ls"]) func nothingIsBegunInTooSmallAnAddressSpace(_ arguments: String)
        throws
    {
        let web = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 3)) }
        defer { web.stop() }
        let refused = try run(
            150_000, arguments, input: #"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n", web: web.url(""))
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.errors.hasPrefix("halcyon: The address space is limited to 146 MiB, and "))
        #expect(web.requests.isEmpty)
        #expect(try run(150_000, "--version").status == 0)
    }

    /// Each thread would reserve as much for a heap of its own as there is for all.
    @Test func whatIsTakenIsEnoughForManyThreads() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let stored = Data(picture).base64EncodedString()
        var input = ""
        for number in 0..<40 {
            let url = quoted(web.url("/\(number).png"))
            let size = 4 + number
            let requests = [
                ("store", #"{"key":"\#(number)","data":"\#(stored)"}"#), ("retrieve", #"{"url":\#(url),"as":"data"}"#),
                ("retrieve", #"{"url":\#(url),"processors":[{"resize":{"width":\#(size),"height":\#(size)}}]}"#),
            ]
            for (id, (method, params)) in zip((3 * number)..., requests) {
                input += #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"# + "\n"
            }
        }
        let answered = try run(needed(), "", input: input)
        #expect(answered.status == 0 && answered.errors.isEmpty, "\(answered.errors)")
        let answers = try answered.output.split(separator: UInt8(ascii: "\n")).map { try JSON(Array($0)) }
        #expect(answers.count == 120 && answers.allSatisfy { $0["result"] != nil })
    }
}
