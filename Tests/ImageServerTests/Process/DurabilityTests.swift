import Foundation
import TestSupport
import Testing

/// What was acknowledged as stored is there after any end of the process.
@Suite(.onThreads)
struct DurabilityTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    /// A picture of its own for each number: the number is in the bytes, behind the picture's end.
    private static func picture(_ number: Int, base: [UInt8]) -> [UInt8] { base + Array("picture \(number)".utf8) }

    private static func store(_ number: Int, base: [UInt8]) -> String {
        let data = Data(picture(number, base: base)).base64EncodedString()
        return #"{"key":"key \#(number)","data":"\#(data)"}"#
    }

    /// What a fresh server says of keys: the bytes it has, nil where it has nothing.
    private func stored(_ numbers: Range<Int>) throws -> [Int: [UInt8]] {
        let server = try ServerProcess(cache: folder)
        try server.requestAll(
            numbers.map {
                (
                    $0, "retrieve",
                    #"{"url":"http://127.0.0.1:1/","key":"key \#($0)","options":{"onlyFromCache":true},"as":"both"}"#
                )
            })
        let replies = try server.replies(numbers.count)
        var found: [Int: [UInt8]] = [:]
        for (number, reply) in replies.byID {
            guard let result = reply["result"] else {
                #expect(reply["error"]?["code"]?.integer == 10003, "\(reply.text)")
                continue
            }
            let text = try #require(result["data"]?.string)
            found[number] = [UInt8](try #require(Data(base64Encoded: text)))
            let path = try #require(result["path"]?.string)
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == found[number])
        }
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
        return found
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func signalAfterAcknowledgedStoresLosesNone(signal: Int32) throws {
        let base = try Fixtures.bytes("png-rgb.png")
        let server = try ServerProcess(cache: folder)
        try server.requestAll((0..<200).map { ($0, "store", Self.store($0, base: base)) })
        let replies = try server.replies(200)
        #expect(replies.byID.values.allSatisfy { $0["result"]?["cacheType"]?.string == "disk" })
        server.signal(signal)
        #expect(server.exitCode() == 128 + signal)
        let found = try stored(0..<200)
        #expect(found.count == 200)
        for number in 0..<200 { #expect(found[number] == Self.picture(number, base: base)) }
    }

    @Test func downloadOfAKilledServerIsGoneOnWith() throws {
        let body = try Fixtures.bytes("png-rgb.png") + [UInt8](repeating: 7, count: 1 << 20)
        let gate = Gate()
        defer { gate.open() }
        let headers = ["ETag": "\"1\"", "Accept-Ranges": "bytes"]
        let web = try LocalServer { request in
            guard let range = request.headers["range"], let first = Int(range.dropFirst(6).dropLast()) else {
                return Script.head(200, headers, length: body.count).raw(Array(body[..<600_000])).waiting(for: gate)
            }
            let field = ["Content-Range": "bytes \(first)-\(body.count - 1)/\(body.count)"]
            return .reply(206, headers.merging(field) { $1 }, Array(body[first...]))
        }
        defer { web.stop() }
        let params = #"{"url":"\#(web.url("/a.png"))","as":"both"}"#
        let killed = try ServerProcess(cache: folder)
        try killed.request(1, "retrieve", params)
        try waitUntil("half of it is on the disk") {
            (try? FileManager.default.subpathsOfDirectory(atPath: folder))?.contains { path in
                let size = try? FileManager.default.attributesOfItem(atPath: folder + "/" + path)[.size] as? Int
                return path.contains("/resume/") && size == 600_000
            } == true
        }
        killed.signal(SIGKILL)
        #expect(killed.exitCode() == -SIGKILL)
        let server = try ServerProcess(cache: folder)
        let reply = try server.call(2, "retrieve", params)
        #expect(reply["result"]?["data"]?.string.flatMap { Data(base64Encoded: $0) } == Data(body))
        #expect(web.requests.map { $0.headers["range"] } == [nil, "bytes=600000-"])
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains("/resume/") }
        #expect(left.isEmpty)
    }

    @Test func killAtAnyMomentLosesNoAcknowledgedStoreAndServesNothingWrong() throws {
        let base = try Fixtures.bytes("png-rgb.png")
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        var next = 0
        var acknowledged = Set<Int>()
        for round in 0..<30 {
            let server = try ServerProcess(cache: folder)
            let numbers = next..<(next + 60)
            next = numbers.upperBound
            try server.requestAll(numbers.map { ($0, "store", Self.store($0, base: base)) })
            // Killed when so many answers have come, and a random piece of work after that.
            for _ in 0..<Int.random(in: 0...50, using: &random) {
                guard let id = try server.next()?["id"]?.integer else { break }
                acknowledged.insert(id)
            }
            for _ in 0..<Int.random(in: 0...2000, using: &random) { sched_yield() }
            server.signal(SIGKILL)
            #expect(server.exitCode() == -SIGKILL, "seed \(seed), round \(round)")
            for message in try server.rest() { if let id = message["id"]?.integer { acknowledged.insert(id) } }
        }
        let found = try stored(0..<next)
        #expect(acknowledged.subtracting(found.keys).isEmpty, "seed \(seed)")
        for (number, bytes) in found { #expect(bytes == Self.picture(number, base: base), "seed \(seed)") }

        // What the killed writers left lies there for a while, in case they live; then the next writer takes it away.
        let leftovers = (cache?.files ?? []).filter { $0.contains("/partial/") }
        for name in leftovers {
            let attributes: [FileAttributeKey: Any] = [.modificationDate: Date(timeIntervalSinceNow: -172_800)]
            try FileManager.default.setAttributes(attributes, ofItemAtPath: folder + "/" + name)
        }
        let server = try ServerProcess(cache: folder)
        #expect(try server.call(next, "store", Self.store(next, base: base))["result"] != nil)
        try waitUntil("they are gone") { cache?.files.contains { leftovers.contains($0) } == false }
        #expect(server.finish() == 0)
    }

    /// Overwriting one key again and again: after a kill it holds one of the versions, whole.
    @Test func killWhileOverwritingLeavesOneWholeVersion() throws {
        let base = try Fixtures.bytes("png-rgb.png")
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for round in 0..<8 {
            let server = try ServerProcess(cache: folder)
            let versions = (round * 100)..<(round * 100 + 100)
            try server.requestAll(
                versions.map { version in
                    let data = Data(Self.picture(version, base: base)).base64EncodedString()
                    return (version, "store", #"{"key":"key 0","data":"\#(data)"}"#)
                })
            var last = -1
            for _ in 0..<Int.random(in: 1...90, using: &random) {
                last = max(last, try server.next()?["id"]?.integer ?? -1)
            }
            server.signal(SIGKILL)
            #expect(server.exitCode() == -SIGKILL)
            for message in try server.rest() { last = max(last, message["id"]?.integer ?? -1) }
            let found = try #require(try stored(0..<1)[0], "seed \(seed), round \(round)")
            let text = String(decoding: found.dropFirst(base.count), as: UTF8.self)
            let version = try #require(Int(text.dropFirst("picture ".count)), "seed \(seed), round \(round)")
            #expect(found == Self.picture(version, base: base))
            #expect(
                (last..<versions.upperBound).contains(version), "seed \(seed), round \(round): \(version) after \(last)"
            )
        }
    }
}
