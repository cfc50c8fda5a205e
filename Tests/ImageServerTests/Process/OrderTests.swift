import Foundation
import TestSupport
import Testing

/// Requests written without waiting take effect in their order, key by key.
@Suite(.onThreads)
struct OrderTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    /// Random pipelined work on a few keys, against what a plain dictionary would say.
    @Test(arguments: [UInt64](0..<6))
    func pipelinedRequestsSeeWhatCameBeforeThem(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let pictures = try ["png-rgb.png", "gif-static.gif", "webp-lossy.webp"].map { name in
            (
                bytes: try Fixtures.bytes(name), path: quoted(Fixtures.folder + "/" + name),
                format: name.prefix { $0 != "-" }
            )
        }
        var model: [String: Int] = [:]
        var requests: [(id: Int, method: String, params: String)] = []
        var expected: [@Sendable (JSON) -> Bool] = []
        for id in 0..<600 {
            let key = "key \(Int.random(in: 0..<4, using: &random))"
            let now = model[key]
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let choice = Int.random(in: 0..<pictures.count, using: &random)
                requests.append((id, "store", #"{"key":"\#(key)","path":\#(pictures[choice].path)}"#))
                let count = pictures[choice].bytes.count
                expected.append { $0["result"]?["byteCount"]?.integer == count }
                model[key] = choice
            case 1:
                requests.append((id, "remove", #"{"key":"\#(key)"}"#))
                expected.append { $0["result"]?["removed"]?.boolean == (now != nil) }
                model[key] = nil
            case 2:
                requests.append((id, "isCached", #"{"key":"\#(key)"}"#))
                expected.append { $0["result"]?["cached"]?.boolean == (now != nil) }
            case 3:
                requests.append((id, "cachePath", #"{"key":"\#(key)"}"#))
                expected.append { $0["result"]?["exists"]?.boolean == (now != nil) }
            case 4:
                requests.append((id, "probe", #"{"key":"\#(key)"}"#))
                let format = now.map { String(pictures[$0].format) }
                expected.append {
                    format == nil ? $0["error"]?["code"]?.integer == 10003 : $0["result"]?["format"]?.string == format
                }
            default:
                let form = Bool.random(using: &random) ? "data" : "path"
                requests.append(
                    (
                        id, "retrieve",
                        #"{"url":"http://127.0.0.1:1/","key":"\#(key)","as":"\#(form)","options":{"onlyFromCache":true}}"#
                    ))
                if let now {
                    let (bytes, isData) = (pictures[now].bytes, form == "data")
                    let base64 = Data(bytes).base64EncodedString()
                    expected.append {
                        $0["result"]?["byteCount"]?.integer == bytes.count
                            && (!isData || $0["result"]?["data"]?.string == base64)
                    }
                } else {
                    expected.append { $0["error"]?["code"]?.integer == 10003 }
                }
            }
        }
        let server = try ServerProcess(cache: folder, isFramed: seed % 2 == 0)
        try server.requestAll(requests)
        let replies = try server.replies(requests.count)
        for (request, isRight) in zip(requests, expected) {
            let reply = try #require(replies.byID[request.id])
            #expect(isRight(reply), "seed \(seed): \(request) got \(reply.text.prefix(300))")
        }
        #expect(server.finish() == 0)
    }

    private static let forms = ["", #""as":"data""#, #""as":"pixels""#, #""processors":[{"blur":{"radius":1}}]"#]

    /// A request that could load the image does not, and so it comes before the end of the cache: in each form, whether it had to
    /// wait for the image or not.
    @Test(arguments: ["clear", "remove"], forms)
    func whatWasJustStoredIsAnsweredBeforeItIsRemovedWithTheRest(_ method: String, _ form: String) throws {
        let server = try ServerProcess(cache: folder)
        let path = quoted(Fixtures.folder + "/png-rgb.png")
        for round in 0..<12 {
            let url = "\"http://127.0.0.1:1/\(round)\""
            let store = (4 * round, "store", #"{"key":\#(url),"path":\#(path)}"#)
            let others = [
                (4 * round + 1, "retrieve", #"{"url":\#(url)\#(form.isEmpty ? "" : "," + form)}"#),
                (4 * round + 2, method, method == "clear" ? "{}" : #"{"key":\#(url),"allVariants":true}"#),
                (4 * round + 3, "isCached", #"{"key":\#(url)}"#),
            ]
            if round % 2 == 0 {
                try server.requestAll([store] + others)
            } else {
                _ = try server.call(store.0, store.1, store.2)
                try server.requestAll(others)
            }
            let replies = try server.replies(round % 2 == 0 ? 4 : 3).byID
            let found = replies[4 * round + 1]
            #expect(found?["result"]?["width"]?.integer == 61, "\(found?.text ?? "")")
            #expect(replies[4 * round + 3]?["result"]?["cached"]?.boolean == false)
        }
        #expect(server.finish() == 0)
    }

    /// Its answer does not wait for the cache, and what is asked next does.
    @Test func imageThatIsAnsweredFirstIsStoredBeforeTheNextRequestForItsKey() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        for round in 0..<20 {
            let url = quoted(web.url("/\(round)"))
            try server.requestAll([
                (3 * round, "retrieve", #"{"url":\#(url),"as":"none","options":{"waitForCache":false}}"#),
                (3 * round + 1, "remove", #"{"key":\#(url)}"#), (3 * round + 2, "isCached", #"{"key":\#(url)}"#),
            ])
            let replies = try server.replies(3).byID
            #expect(replies[3 * round + 1]?["result"]?["removed"]?.boolean == true)
            #expect(replies[3 * round + 2]?["result"]?["cached"]?.boolean == false)
        }
        #expect(server.finish() == 0)
    }

    /// A download that is to be finished after its request was cancelled comes before what is asked after that.
    @Test func downloadThatGoesOnWithoutItsRequestKeepsItsPlace() throws {
        let gate = Gate()
        let script = Script.empty.waiting(for: gate).followed(by: .reply(200, [:], try Fixtures.bytes("png-rgb.png")))
        let web = try LocalServer(routes: ["/cat.png": script])
        defer { web.stop() }
        let url = quoted(web.url("/cat.png"))
        let server = try ServerProcess(cache: folder)
        try server.requestAll([(0, "retrieve", #"{"url":\#(url),"options":{"onLastCancel":"finish","timeout":600}}"#)])
        try waitUntil("the download") { web.requests.count == 1 }
        try server.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":0}}"#)
        let cancelled = try server.replies(1).byID[0]
        #expect(cancelled?["error"]?["code"]?.integer == -32800, "\(cancelled?.text ?? "")")
        try server.requestAll([(1, "remove", #"{"key":\#(url)}"#), (2, "isCached", #"{"key":\#(url)}"#)])
        gate.open()
        let replies = try server.replies(2)
        #expect(replies.result(1)?["removed"]?.boolean == true)
        #expect(replies.result(2)?["cached"]?.boolean == false)
        #expect(server.finish() == 0)
    }

    /// What must wait for the network holds up its own key and no other.
    @Test func downloadHoldsUpItsOwnKeyAndNoOther() throws {
        let gate = Gate()
        let script = Script.empty.waiting(for: gate).followed(by: .reply(200, [:], try Fixtures.bytes("png-rgb.png")))
        let web = try LocalServer(routes: ["/cat.png": script])
        defer { web.stop() }
        let url = quoted(web.url("/cat.png"))
        let server = try ServerProcess(cache: folder)
        try server.requestAll([
            (0, "retrieve", #"{"url":\#(url)}"#), (1, "isCached", #"{"key":\#(url)}"#),
            (2, "remove", #"{"key":\#(url)}"#),
            (3, "isCached", #"{"key":\#(url)}"#), (4, "isCached", #"{"key":"other"}"#), (5, "ping", "{}"),
        ])
        #expect(try Set(server.replies(2).order) == [4, 5])
        gate.open()
        let replies = try server.replies(4)
        #expect(replies.result(1)?["cached"]?.boolean == true)
        #expect(replies.result(2)?["removed"]?.boolean == true)
        #expect(replies.result(3)?["cached"]?.boolean == false)
        #expect(server.finish() == 0)
    }
}
