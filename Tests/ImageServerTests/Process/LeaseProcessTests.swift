import Foundation
import TestSupport
import Testing

/// What is lent is bounded by the limit, for all processes together, and results tell what is not lent.
@Suite(.onThreads) struct LeaseProcessTests: FixtureRetrieving {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    private func store(_ key: String, _ server: ServerProcess, lease: Int? = nil) throws -> JSON {
        let picture = try Fixtures.bytes("png-rgb.png") + [UInt8](repeating: 7, count: 100_000) + Array(key.utf8)
        let options = lease.map { #","options":{"lease":\#($0)}"# } ?? ""
        let params = #"{"key":"\#(key)","data":"\#(Data(picture).base64EncodedString())"\#(options)}"#
        return try #require(try server.call(1, "store", params)["result"])
    }

    private var bytesOnDisk: Int {
        let files =
            (try? FileManager.default.subpathsOfDirectory(atPath: folder))?.filter { $0.contains("/blobs/") } ?? []
        return files.reduce(0) { sum, file in
            let path = folder + "/" + file
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            guard attributes?[.type] as? FileAttributeType == .typeRegular else { return sum }
            return sum + (attributes?[.size] as? Int ?? 0)
        }
    }

    @Test func resultsSayWhenHalfOfTheLimitIsLentAndTheDiskStaysWithinIt() throws {
        let limit = ["--disk-limit", "2000000"]
        let servers = [try ServerProcess(cache: folder, limit), try ServerProcess(cache: folder, limit)]
        var lent: [String] = []
        for number in 0..<60 {
            let result = try store("key \(number)", servers[number % 2])
            if result["leased"] == nil { lent.append(try #require(result["path"]?.string)) }
            // What the other one has evicted may be there for a moment.
            try waitUntil("the disk is within the limit") { bytesOnDisk <= 2_000_000 }
        }
        #expect((8...10).contains(lent.count))
        #expect(lent.allSatisfy { FileManager.default.fileExists(atPath: $0) })
        let params = #"{"url":"http://127.0.0.1:1/","key":"key 59","options":{"onlyFromCache":true}}"#
        for server in servers {
            #expect(try server.call(2, "cachePath", #"{"key":"key 59"}"#)["result"]?["leased"]?.boolean == false)
            #expect(try server.call(3, "cachePath", #"{"key":"key 0"}"#)["result"]?["leased"] == nil)
            #expect(try server.call(4, "retrieve", params)["result"]?["leased"]?.boolean == false)
        }
        for server in servers { #expect(server.finish() == 0) }
    }

    @Test func cachePathLeasesForAsLongAsItsOptionSays() throws {
        let server = try ServerProcess(cache: folder)
        _ = try store("a", server, lease: 0)
        func isLeased(afterLease seconds: Int) throws -> Bool {
            _ = try server.call(1, "cachePath", #"{"key":"a","options":{"lease":\#(seconds)}}"#)
            return try server.call(2, "inspect", #"{"key":"a"}"#)["result"]?["leasedUntil"]?.string != nil
        }
        #expect(try !isLeased(afterLease: 0))
        #expect(try isLeased(afterLease: 100))
        #expect(server.finish() == 0)
    }

    @Test func aLentPathKeepsItsBytesWhenItsImageIsReplaced() throws {
        let pictures = try ["png-rgb.png", "png-rgba.png", "png-gray.png"].map { try Fixtures.bytes($0) }
        let versions = Counter()
        let web = try LocalServer { _ in .reply(200, ["Cache-Control": "max-age=0"], pictures[versions.value % 3]) }
        defer { web.stop() }
        let servers = [try ServerProcess(cache: folder), try ServerProcess(cache: folder)]
        let params = #"{"url":\#(quoted(web.url("/a.png"))),"options":{"revalidate":"http"}}"#
        var paths: [String] = []
        for number in 0..<3 {
            let image = try servers[number % 2].call(1, "retrieve", params)["result"]
            paths.append(try #require(image?["path"]?.string))
            versions.add()
            for (path, picture) in zip(paths, pictures) { #expect(content(path) == picture, "\(number)") }
        }
        #expect(Set(paths).count == 3)
        let path = quoted(Fixtures.folder + "/png-palette.png")
        let stored = #"{"key":\#(quoted(web.url("/a.png"))),"path":\#(path)}"#
        #expect(try servers[0].call(2, "store", stored)["result"] != nil)
        for (path, picture) in zip(paths, pictures) { #expect(content(path) == picture) }
        for server in servers { #expect(server.finish() == 0) }
    }

    @Test func aStoreThatAsksForNoLeaseIsNotToldThatItHasNone() throws {
        let server = try ServerProcess(cache: folder, ["--disk-limit", "2000000"])
        for number in 0..<30 { #expect(try store("key \(number)", server, lease: 0)["leased"] == nil) }
        #expect(server.finish() == 0)
    }

    // MARK: Raw pixels

    /// What `retrieve` answers for the raw pixels of a picture that is turned by so many degrees.
    private func pixels(_ degrees: Int, _ server: ServerProcess, lease: Int = 300) throws -> JSON {
        let steps = #"[{"rotate":{"degrees":\#(degrees)}}]"#
        return try server.call(
            1, "retrieve",
            #"{"url":\#(file("png-rgb.png")),"processors":\#(steps),"as":"pixels","options":{"lease":\#(lease)}}"#)
    }

    private func isThere(_ path: String?) -> Bool { FileManager.default.fileExists(atPath: path ?? "") }

    @Test func rawPixelsStayForTheirLeaseWhateverOtherProcessesDo() throws {
        let first = try ServerProcess(cache: folder)
        let path = try #require(try pixels(90, first)["result"]?["pixels"]?["path"]?.string)
        #expect(first.finish() == 0)
        let other = try ServerProcess(cache: folder)
        #expect(isThere(path))
        _ = try store("a", other)
        for method in ["verify", "cleanExpired"] { #expect(try other.call(2, method, "{}")["result"] != nil) }
        #expect(isThere(path))
        #expect(other.finish() == 0)
    }

    @Test func rawPixelsCountAsLentAndClearRemovesThem() throws {
        let server = try ServerProcess(cache: folder, ["--disk-limit", "2000"])
        let lent = try #require(try pixels(90, server)["result"]?["pixels"])
        let bytes = try #require(lent["byteCount"]?.integer)
        #expect(bytes > 1000)
        let refusal = try pixels(180, server)["error"]
        #expect(refusal?["code"]?.integer == 10005 && refusal?["data"]?["limit"]?.string == "bytesLimit")
        #expect(isThere(lent["path"]?.string))
        let other = try ServerProcess(cache: folder, ["--disk-limit", "2000"])
        #expect(try pixels(180, other)["error"]?["code"]?.integer == 10005)
        #expect(try other.call(2, "calculateSize", "{}")["result"]?["disk"]?["leasedBytes"]?.integer == bytes)
        #expect(try other.call(3, "clear", "{}")["result"]?["leased"]?.integer == 1)
        #expect(!isThere(lent["path"]?.string))
        #expect(try server.call(2, "calculateSize", "{}")["result"]?["disk"]?["leasedBytes"]?.integer == 0)
        #expect(try pixels(180, server)["result"] != nil)
        for server in [server, other] { #expect(server.finish() == 0) }
    }

    @Test func rawPixelsWithoutALeaseTakeNoRoom() throws {
        let server = try ServerProcess(cache: folder, ["--disk-limit", "2000"])
        for turn in 0..<5 { #expect(try pixels(90 * turn, server, lease: 0)["result"]?["pixels"] != nil) }
        #expect(server.finish() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/default/partial") == [])
    }
}
