import Foundation
import TestSupport
import Testing

/// Bodies that broke off, through the real binary.
@Suite(.onThreads)
struct ResumeProcessTests {
    private let cache = try? TemporaryFolder()

    /// The sizes of the bodies that are kept.
    private var sizes: [Int] {
        (cache?.files ?? []).filter { $0.contains("/resume/") && !$0.hasSuffix(".note") }.map { name in
            let path = (cache?.path ?? "") + "/" + name
            return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }
    }

    @Test func bodiesThatBrokeOffStayWithinTheirShareOfTheLimit() throws {
        let half = [UInt8](repeating: 7, count: 300_000)
        let long = [UInt8](repeating: 7, count: 1_100_000)
        let web = try LocalServer { request in
            let part = request.path == "/long" ? long : half
            return Script.head(200, ["ETag": "\"1\"", "Accept-Ranges": "bytes"], length: 2 * part.count).raw(part)
                .closing()
        }
        defer { web.stop() }
        let server = try ServerProcess(cache: cache?.path ?? "", ["--disk-limit", "4000000"])
        var id = 0
        func breakOff(_ path: String) throws {
            id += 1
            let reply = try server.call(id, "retrieve", #"{"url":"\#(web.url(path))"}"#)
            #expect(reply["error"]?["data"]?["name"]?.string == "connectionFailed", "\(reply.text)")
        }
        for number in 1...8 {
            try breakOff("/\(number)")
            #expect(sizes == Array(repeating: 300_000, count: min(number, 3)))
        }
        try breakOff("/long")
        #expect(sizes.count == 3, "one that is too large for itself takes no room")
        try breakOff("/8")
        #expect(web.requests.last?.headers["range"] == "bytes=300000-")
        #expect(server.finish() == 0)
    }
}
