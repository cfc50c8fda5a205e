import Foundation
import Glibc
import TestSupport
import Testing

/// Many large images for a client that does not read.
@Suite(.onThreads)
struct InlineMemoryTests {
    private let cache = try? TemporaryFolder()
    private static let mebibyte = 1 << 20

    /// A PNG of 8 MiB: a small one with text behind its header.
    private static let large = Result {
        var picture = try Fixtures.bytes("png-rgb.png")
        let filling = [UInt8](repeating: UInt8(ascii: "x"), count: 8 * mebibyte)
        var length = UInt32(filling.count).bigEndian
        let chunk = withUnsafeBytes(of: &length, Array.init) + Array("tEXt".utf8) + filling + [0, 0, 0, 0]
        picture.insert(contentsOf: chunk, at: 33)
        return picture
    }

    @Test(
        arguments: [
            ("download", #""as":"data""#, true), ("download", #""as":"none""#, false),
            ("retrieve", #""as":"data","options":{"waitForCache":false,"memory":false}"#, true),
            ("retrieve", #""as":"none","options":{"waitForCache":false}"#, false),
            ("retrieve", #""as":"data","options":{"cacheMemoryOnly":true,"memory":false}"#, true),
        ])
    func clientThatDoesNotReadCostsNoMemory(_ method: String, _ form: String, _ hasData: Bool) throws {
        let count = 24
        let picture = try Self.large.get()
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let server = try ServerProcess(cache: cache?.path ?? "")
        let before = try #require(server.memory("VmHWM"))
        try server.requestAll((0..<count).map { ($0, method, #"{"url":\#(quoted(web.url("/\($0)"))),\#(form)}"#) })
        try waitUntil("the downloads") { web.requests.count == count }
        try server.waitUntilStalled(orDone: { false })
        // All of them are 192 MiB, and a third more as text; the memory tier may hold none of them.
        let grown = try #require(server.memory("VmHWM")) - before
        #expect(grown < (hasData ? 128 : 48) * 1024, "the peak grew by \(grown) KB")
        if !hasData {
            for _ in 0..<count { #expect(try server.next()?["result"]?["byteCount"]?.integer == picture.count) }
        }
        server.signal(SIGKILL)
        #expect(server.exitCode() == -SIGKILL)
    }
}
