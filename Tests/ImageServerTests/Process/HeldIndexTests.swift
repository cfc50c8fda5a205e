import Foundation
import TestSupport
import Testing

/// Requests while another program has the index of the cache locked.
@Suite(.onThreads)
struct HeldIndexTests {
    /// The locks of another program on files: this process is one for the server.
    private final class Locks {
        private var descriptors: [Int32] = []

        /// Takes `count` bytes from `start` on for itself.
        init(_ path: String, from start: Int, count: Int) { take(path, F_WRLCK, start, count) }

        func take(_ path: String, _ type: Int32, _ start: Int, _ count: Int) {
            descriptors.append(open(path, O_RDWR | O_CLOEXEC))
            var lock = flock()
            (lock.l_type, lock.l_start, lock.l_len) = (Int16(type), off_t(start), off_t(count))
            #expect(fcntl(descriptors[descriptors.count - 1], F_SETLKW, &lock) == 0)
        }

        func giveUp() { for descriptor in descriptors { close(descriptor) } }
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

    // MARK: Downloads

    /// The locks of all readers and writers, beside the index that this program has open too.
    private func lockingOutAll() -> Locks {
        let locks = Locks(index + "-shm", from: 120, count: 8)
        locks.take(index, F_RDLCK, 0x4000_0002, 510)
        return locks
    }

    /// A picture with a validator under each path, but for `/slow`, which never ends.
    private func web() throws -> LocalServer {
        try LocalServer { request in
            if request.path == "/slow" { return Script.head(200, length: 1 << 20).dripping(Array("x".utf8)) }
            let tag = ["ETag": "\"1\""]
            return request.headers["if-none-match"] == nil
                ? .reply(200, tag, hollowPNG(width: 9)) : .reply(304, tag, [])
        }
    }

    private func conditions(_ web: LocalServer) -> [String?] {
        web.requests.filter { $0.path == "/a" }.map { $0.headers["if-none-match"] }
    }

    /// A server that has the index open, and whose only slot for downloads is taken by request 2.
    private func withoutFreeSlot(_ web: LocalServer) throws -> ServerProcess {
        let server = try ServerProcess(
            cache: folder?.path ?? "", ["--memory-limit", "0", "--max-concurrent-downloads", "1"])
        _ = try server.call(1, "store", #"{"key":"a","data":\#(picture)}"#)
        let options = #"{"cacheMemoryOnly":true,"minBytesPerSecond":1}"#
        try server.request(2, "retrieve", #"{"url":\#(quoted(web.url("/slow"))),"as":"data","options":\#(options)}"#)
        try awaitWaiting(0, server)
        return server
    }

    /// Waits until one download of a server runs, and so many wait for its slot.
    private func awaitWaiting(_ count: Int, _ server: ServerProcess) throws {
        for _ in 0..<24_000 {
            let stats = try server.call(100, "stats")["result"]
            if stats?["runningDownloads"]?.integer == 1, stats?["waitingDownloads"]?.integer == count { return }
            usleep(5_000)
        }
        throw PatienceExhausted(description: "no \(count) downloads wait")
    }

    @Test func theServerOfAnImageInMemoryIsAskedWhenTheIndexCannotBeRead() throws {
        let web = try web()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder?.path ?? "")
        let url = quoted(web.url("/a"))
        _ = try server.call(1, "retrieve", #"{"url":\#(url),"as":"data"}"#)
        let locks = lockingOutAll()
        defer { locks.giveUp() }
        let options = #"{"revalidate":"always","timeout":1}"#
        let answer = try server.call(2, "retrieve", #"{"url":\#(url),"as":"data","options":\#(options)}"#)
        #expect(answer["result"]?["revalidated"]?.boolean == true, "\(answer)")
        #expect(conditions(web) == [nil, "\"1\""])
        #expect(server.finish() == 0)
    }

    @Test func anImageInMemoryIsAnsweredFromThereAlsoWhenTheIndexHasToBeAskedAndIsHeldForAMoment() throws {
        let web = try web()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder?.path ?? "")
        let url = quoted(web.url("/a"))
        _ = try server.call(1, "retrieve", #"{"url":\#(url)}"#)
        // Another process changes the entry, and leaves the image as it is.
        let other = try ServerProcess(cache: folder?.path ?? "")
        let confirmed = try other.call(1, "retrieve", #"{"url":\#(url),"options":{"revalidate":"always"}}"#)
        #expect(confirmed["result"]?["revalidated"]?.boolean == true, "\(confirmed)")
        #expect(other.finish() == 0)
        let locks = lockingOutAll()
        try server.request(5, "isCached", #"{"key":\#(url)}"#)
        try server.request(6, "retrieve", #"{"url":\#(url)}"#)
        _ = try server.call(7, "ping")
        locks.giveUp()
        for _ in 5...6 {
            let answer = try server.next()
            #expect(answer?["result"]?["cacheType"]?.string == "memory", "\(String(describing: answer))")
        }
        #expect(server.finish() == 0)
    }

    @Test func theServerIsAskedEachTimeAlsoAboutAnImageThatCouldNotBeLookedFor() throws {
        let web = try web()
        defer { web.stop() }
        let other = try server()
        let url = quoted(web.url("/a"))
        _ = try other.call(1, "retrieve", #"{"url":\#(url)}"#)
        #expect(other.finish() == 0)
        let server = try withoutFreeSlot(web)
        let locks = lockingOutAll()
        let options = #"{"revalidate":"always","timeout":1}"#
        try server.request(3, "retrieve", #"{"url":\#(url),"as":"data","options":\#(options)}"#)
        try awaitWaiting(1, server)
        locks.giveUp()
        try server.notify("$/cancelRequest", #"{"id":2}"#)
        #expect(try server.next()?["id"]?.integer == 2)
        let answer = try server.next()
        #expect(answer?["result"]?["cacheType"]?.string == "none", "\(String(describing: answer))")
        #expect(conditions(web) == [nil, nil])
        #expect(server.finish() == 0)
    }

    @Test func whatAnotherProcessHasStoredMeanwhileIsNotDownloadedWhenTheIndexIsHeldForAMoment() throws {
        let web = try web()
        defer { web.stop() }
        let server = try withoutFreeSlot(web)
        let url = quoted(web.url("/a"))
        try server.request(3, "retrieve", #"{"url":\#(url),"as":"data"}"#)
        try awaitWaiting(1, server)
        let other = try self.server()
        _ = try other.call(1, "retrieve", #"{"url":\#(url)}"#)
        #expect(other.finish() == 0)
        let locks = lockingOutAll()
        try server.notify("$/cancelRequest", #"{"id":2}"#)
        #expect(try server.next()?["id"]?.integer == 2)
        try awaitWaiting(0, server)
        // Nothing tells that it has looked: with less time a mistake might not be seen.
        usleep(200_000)
        locks.giveUp()
        #expect(try server.next()?["result"]?["cacheType"]?.string == "disk")
        #expect(conditions(web) == [nil])
        #expect(server.finish() == 0)
    }
}
