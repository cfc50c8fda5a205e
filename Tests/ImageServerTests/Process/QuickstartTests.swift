import Foundation
import TestSupport
import Testing

/// The first thing anybody tries.
@Suite(.onThreads)
struct QuickstartTests {
    @Test func exampleConversationIsAnsweredLineByLine() throws {
        let cache = try TemporaryFolder()
        let path = Fixtures.repository + "/protocol/examples/quickstart.ndjson"
        let requests = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        let run = try Command.shell(
            "\"$HALCYON\" < protocol/examples/quickstart.ndjson", directory: Fixtures.repository,
            environment: ["HALCYON_CACHE_DIR": cache.path])
        #expect(run.status == 0)
        #expect(run.errors.isEmpty)
        let replies = Dictionary(
            try run.lines.map { ($0["id"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        let asked = try requests.split(separator: UInt8(ascii: "\n")).map { try JSON(Array($0))["id"]?.string }
        #expect(try run.lines.count == asked.count)
        #expect(Set(replies.keys) == Set(asked.map { $0 ?? "" }))

        func result(_ id: String) -> JSON? { replies[id]?["result"] }
        #expect(result("photo: first look")?["format"]?.string == "jpeg")
        #expect(result("photo: first look")?["cacheType"]?.string == "none")
        #expect(result("photo: cached?")?["cached"]?.boolean == true)
        #expect(result("photo: second look")?["cacheType"]?.string == "memory")
        #expect(result("animation")?["format"]?.string == "gif")
        #expect((result("animation")?["frameCount"]?.integer ?? 0) > 1)
        #expect(result("webp")?["mimeType"]?.string == "image/webp")
        #expect(result("red dot: keep")?["width"]?.integer == 1)
        #expect(result("red dot: where?")?["exists"]?.boolean == true)
        #expect(result("red dot: where?")?["path"] == result("red dot: keep")?["path"])
        #expect(replies["not a picture"]?["error"]?["code"]?.integer == 10000)
        #expect(result("how much?")?["disk"]?["count"]?.integer == 1)
        #expect(result("photo: forget")?["removed"]?.boolean == true)
        #expect(result("photo: still cached?")?["cached"]?.boolean == false)
    }
}
