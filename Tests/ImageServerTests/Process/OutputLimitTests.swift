import Foundation
import Glibc
import TestSupport
import Testing

/// What the server makes for a client that does not read is bounded by `outputLimit`, whatever the method.
@Suite(.onThreads)
struct OutputLimitTests {
    private let cache = try? TemporaryFolder()
    private static let mebibyte = 1 << 20

    private func server(isFramed: Bool = false) throws -> ServerProcess {
        try ServerProcess(
            cache: cache?.path ?? "", ["--output-limit", "\(4 * Self.mebibyte)", "--memory-limit", "0"],
            isFramed: isFramed)
    }

    private func request(_ id: Int, _ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
    }

    private func output(_ server: ServerProcess, _ id: Int) throws -> JSON? {
        try server.call(id, "stats")["result"]?["output"]
    }

    /// 24 MiB of images, a third more as text, for one batch of 4 KB.
    @Test(arguments: [false, true]) func aBatchOfManyLargeAnswersIsStreamed(isFramed: Bool) throws {
        let folder = try TemporaryFolder()
        var picture = try Fixtures.bytes("png-rgb.png")
        let filling = [UInt8](repeating: UInt8(ascii: "x"), count: Self.mebibyte)
        var length = UInt32(filling.count).bigEndian
        picture.insert(
            contentsOf: withUnsafeBytes(of: &length, Array.init) + Array("tEXt".utf8) + filling + [0, 0, 0, 0], at: 33)
        try Data(picture).write(to: URL(fileURLWithPath: folder.path + "/large.png"))
        let server = try server(isFramed: isFramed)
        #expect(
            try server.call(-1, "store", #"{"key":"k","path":\#(quoted(folder.path + "/large.png"))}"#)["result"] != nil
        )
        let before = try #require(server.memory("VmHWM"))
        let params = #"{"url":"data:,","key":"k","as":"data","options":{"onlyFromCache":true}}"#
        let members = (0..<24).map { request($0, "retrieve", params) }
        try server.send("[\(members.joined(separator: ","))]")
        try server.request(99, "ping")
        try server.waitUntilStalled(orDone: { false })
        let grown = try #require(server.memory("VmHWM")) - before
        #expect(grown < 20 * 1024, "the peak grew by \(grown) KB")
        try server.request(98, "ping")
        try server.waitUntilStalled(orDone: { false })
        var answers: [JSON] = []
        while answers.count < 3, let answer = try server.next() { answers.append(answer) }
        #expect(Set(answers.compactMap { $0["id"]?.integer }) == [98, 99])
        let batch = try #require(answers.compactMap(\.elements).first)
        #expect(batch.map { $0["id"]?.integer } == Array(0..<24))
        let text = Data(picture).base64EncodedString()
        #expect(batch.allSatisfy { $0["result"]?["data"]?.string == text })
        let output = try output(server, 100)
        #expect(output?["bytesLimit"]?.integer == 4 * Self.mebibyte)
        #expect((output?["waits"]?.integer ?? 0) > 0)
        #expect((output?["heldBytes"]?.integer ?? .max) < Self.mebibyte)
        #expect(server.finish() == 0)
    }

    @Test(arguments: [false, true]) func longAnswersOfAnyMethodAreMadeOnlyAsTheyAreRead(isInBatches: Bool) throws {
        let server = try server()
        let path = quoted(Fixtures.folder + "/png-rgb.png")
        for id in 0..<200 { try server.request(id, "store", #"{"key":"key \#(id)","path":\#(path)}"#) }
        for _ in 0..<200 { #expect(try server.next()?["result"] != nil) }
        let before = try #require(server.memory("VmHWM"))
        let lists = (0..<500).map { request($0, "list", #"{"limit":200}"#) }
        if isInBatches {
            for start in stride(from: 0, to: 500, by: 125) {
                try server.send("[\(lists[start..<(start + 125)].joined(separator: ","))]")
            }
        } else {
            for list in lists { try server.send(list) }
        }
        try server.request(500, "ping")
        try server.waitUntilStalled(orDone: { false })
        let grown = try #require(server.memory("VmHWM")) - before
        #expect(grown < 20 * 1024, "the peak grew by \(grown) KB")
        var ids: Set<Int> = []
        while ids.count < 501, let bytes = try server.nextBytes() {
            // Looked at as text: parsing so much takes longer than making it.
            let text = String(decoding: bytes, as: UTF8.self)
            for part in text.components(separatedBy: #"{"jsonrpc":"2.0","id":"#).dropFirst() {
                ids.insert(Int(part.prefix { $0 != "," }) ?? -1)
            }
        }
        #expect(ids == Set(0...500))
        #expect(server.finish() == 0)
    }

    /// The reader has stopped, and nothing that is sent is read any more.
    @Test func aClientThatGoesWhileNothingIsReadEndsTheServer() throws {
        let server = try server()
        let sender = Sender { [server] in
            while true { try server.requestAll((0..<1000).map { ($0, "rpc.discover", "{}") }) }
        }
        try server.waitUntilStalled(orDone: { sender.isDone })
        server.closeOutput()
        #expect(server.exitCode() == 1)
        #expect(throws: (any Error).self) { try sender.finish() }
    }
}
