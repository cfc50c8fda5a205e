import Foundation
import TestSupport
import Testing

/// Web servers that misbehave in every way, one after another and all at once, beside good ones on the same host.
@Suite(.onThreads)
struct HostileServerTests {
    private let cache = try? TemporaryFolder()
    private let cases = HostileCase.all
    private let pictures = Result { try Fixtures.valid.map { try $0.bytes }.filter { $0.count < 20_000 } }

    /// Serves each case under its number, and pictures under `/good`.
    private func web() throws -> LocalServer {
        let pictures = try pictures.get()
        return try LocalServer { [cases] request in
            let parts = request.path.split(separator: "/")
            guard parts.count >= 2, let number = Int(parts[1]) else { return .reply(404, [:], []) }
            if parts[0] == "good" { return .reply(200, [:], pictures[number % pictures.count]) }
            return cases[number].answer(request)
        }
    }

    private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    @Test(arguments: [1, 64])
    func everyAnswerGetsItsErrorOrItsPictureAndNothingWrongIsKept(width: Int) throws {
        let web = try web()
        defer { web.stop() }
        let pictures = try pictures.get()
        let server = try ServerProcess(cache: cache?.path ?? "", ["--max-downloads-per-host", "64"])
        let before = try #require(server.memory("VmHWM"))
        var requests: [(id: Int, method: String, params: String)] = []
        for (number, one) in cases.enumerated() {
            let hostile = #"{"url":\#(quoted(web.url("/bad/\(number)"))),"as":"data","options":\#(one.options)}"#
            requests.append((2 * number, "retrieve", hostile))
            let good = #"{"url":\#(quoted(web.url("/good/\(number)"))),"as":"data"}"#
            requests.append((2 * number + 1, "retrieve", good))
        }
        var replies: [Int: JSON] = [:]
        for first in stride(from: 0, to: requests.count, by: width) {
            let some = requests[first..<min(first + width, requests.count)]
            try server.requestAll(Array(some))
            replies.merge(try server.replies(some.count).byID) { first, _ in first }
        }
        for (number, one) in cases.enumerated() {
            let reply = try #require(replies[2 * number])
            #expect(reply["error"]?["data"]?["name"]?.string == one.error, "\(one.name): \(reply.text.prefix(400))")
            if one.error == nil {
                #expect(reply["result"]?["data"]?.string == base64(HostileCase.picture), "\(one.name)")
            }
            let good = try #require(replies[2 * number + 1])
            let picture = base64(pictures[number % pictures.count])
            #expect(good["result"]?["data"]?.string == picture, "beside \(one.name): \(good.text.prefix(400))")
        }
        try server.requestAll(
            cases.indices.map { ($0, "isCached", #"{"key":\#(quoted(web.url("/bad/\($0)")))}"#) })
        let kept = try server.replies(cases.count)
        for (number, one) in cases.enumerated() {
            #expect(kept.result(number)?["cached"]?.boolean == (one.error == nil), "\(one.name)")
        }
        #expect(try server.call(1, "verify")["result"]?["clean"]?.boolean == true)
        let count = cases.count { $0.error == nil } + cases.count
        #expect(try server.call(2, "calculateSize")["result"]?["disk"]?["count"]?.integer == count)
        let after = try #require(server.memory("VmHWM"))
        #expect(after - before < 96 << 10, "\(after - before) kB for \(cases.count) answers of at most 1 MB")
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
        #expect(cache?.files.contains { $0.contains("/partial/") && !$0.contains("/resume/") } == false)
    }
}
