import Foundation
import TestSupport
import Testing

/// Requests while another program has the index of the cache locked.
@Suite(.onThreads)
struct HeldIndexTests {
    /// The locks of another program on a file: this process is one for the server.
    private final class Locks {
        private let descriptor: Int32

        /// Takes `count` bytes from `start` on for itself.
        init(_ path: String, from start: Int, count: Int) {
            descriptor = open(path, O_RDWR | O_CLOEXEC)
            var lock = flock()
            (lock.l_type, lock.l_start, lock.l_len) = (Int16(F_WRLCK), off_t(start), off_t(count))
            #expect(fcntl(descriptor, F_SETLK, &lock) == 0)
        }

        func giveUp() { close(descriptor) }
    }

    private let folder = try? TemporaryFolder()
    private var index: String { (folder?.path ?? "") + "/default/index.sqlite" }
    private let picture = quoted(Data(hollowPNG(width: 5)).base64EncodedString())

    private func server() throws -> ServerProcess {
        try ServerProcess(cache: folder?.path ?? "", ["--memory-limit", "0"])
    }

    /// Without the locks of SQLite's that every reader of the file needs.
    private func lockingOutReaders() throws -> Locks {
        let server = try server()
        _ = try server.call(1, "store", #"{"key":"a","data":\#(picture)}"#)
        #expect(server.finish() == 0)
        return Locks(index, from: 0x4000_0000, count: 512)
    }

    @Test(arguments: ["data", "path"]) func aDownloadIsAnsweredWithinItsDeadlineWhenTheIndexCannotBeRead(
        _ form: String
    ) throws {
        let locks = try lockingOutReaders()
        defer { locks.giveUp() }
        let web = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        defer { web.stop() }
        let server = try server()
        for (id, name) in zip(1..., ["first", "second"]) {
            let params = #"{"url":\#(quoted(web.url("/" + name))),"as":"\#(form)","options":{"deadline":2}}"#
            let answer = try server.call(id, "retrieve", params)
            #expect(answer["result"]?["stored"]?.string == "busy", "\(answer)")
            #expect(answer["result"]?[form]?.string != nil)
        }
        #expect(server.finish() == 0)
    }

    @Test func nothingThatNeedsNoIndexWaitsBehindWhatDoes() throws {
        let locks = try lockingOutReaders()
        let server = try server()
        for (id, method) in zip(1..., ["isCached", "cachePath", "inspect"]) {
            try server.request(id, method, #"{"key":"a"}"#)
        }
        try server.request(4, "calculateSize")
        try server.request(5, "ping")
        #expect(try server.next()?["id"]?.integer == 5)
        locks.giveUp()
        for _ in 1...4 { #expect(try server.next()?["result"] != nil) }
        #expect(server.finish() == 0)
    }

    @Test func whoWaitsForLittleIsNotKeptWaitingByWhoWaitsForLong() throws {
        let server = try server()
        _ = try server.call(1, "store", #"{"key":"a","data":\#(picture)}"#)
        // That of writers, beside the index.
        let locks = Locks(index + "-shm", from: 120, count: 1)
        try server.request(2, "remove", #"{"key":"a"}"#)
        try server.request(3, "store", #"{"key":"b","data":\#(picture),"options":{"deadline":0.2}}"#)
        let refused = try server.next()
        #expect(refused?["id"]?.integer == 3 && refused?["error"]?["data"]?["stored"]?.string == "busy")
        locks.giveUp()
        #expect(try server.next()?["result"]?["removed"] != nil)
        #expect(server.finish() == 0)
    }
}
