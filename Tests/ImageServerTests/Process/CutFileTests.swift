import Foundation
import TestSupport
import Testing

/// No file of the cache folder, whatever another process does to it, ends the server: those that it shares with other
/// processes by way of memory least of all.
@Suite(.onThreads) struct CutFileTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    private static let files = [
        "leases/table", "index.sqlite-shm", "index.sqlite-wal", "index.sqlite", "index.sqlite.lock",
    ]

    /// Cuts a file that is longer. The log of changes may be gone for a moment: a server that notices a cut begins it anew.
    private func cut(_ name: String, to length: Int) throws {
        let path = folder + "/default/" + name
        let size = (try? FileManager.default.attributesOfItem(atPath: path)[.size]) as? Int
        if size ?? 0 > length { #expect(truncate(path, length) == 0 || errno == ENOENT) }
    }

    private func works(_ server: ServerProcess, _ key: String) throws {
        let picture = try Fixtures.bytes("png-rgb.png") + Array(key.utf8)
        let data = Data(picture).base64EncodedString()
        let stored = try server.call(1, "store", #"{"key":"\#(key)","data":"\#(data)"}"#)
        #expect(stored["result"]?["cacheType"]?.string == "disk", "\(stored.text)")
        try expectFound(key, by: server, data)
    }

    private func expectFound(_ key: String, by server: ServerProcess, _ data: String) throws {
        _ = try server.call(2, "clearMemory")
        let params = #"{"url":"http://127.0.0.1:1/","key":"\#(key)","options":{"onlyFromCache":true},"as":"data"}"#
        #expect(try server.call(3, "retrieve", params)["result"]?["data"]?.string == data)
        #expect(try server.call(4, "cachePath", #"{"key":"\#(key)"}"#)["result"]?["exists"]?.boolean == true)
    }

    @Test(arguments: files, [0, 1, 1000, 4096, 100_000])
    func fileThatIsCutShortEndsNoServer(_ name: String, _ length: Int) throws {
        let servers = [try ServerProcess(cache: folder), try ServerProcess(cache: folder)]
        for (number, server) in servers.enumerated() {
            try works(server, "before \(number)")
            #expect(try server.call(8, "list")["result"]?["entries"]?.elements?.count == number + 1)
        }
        for (number, server) in servers.enumerated() {
            try cut(name, to: length)
            // Read by a connection that is open already.
            let listed = try server.call(8, "list")
            #expect(listed["result"] != nil, "\(listed.text)")
            // A hit reads and writes in the table of leases, and reads the index.
            #expect(try server.call(5, "cachePath", #"{"key":"before 0"}"#)["result"] != nil)
            try works(server, "after \(number)")
            try cut(name, to: length)
            #expect(try server.call(6, "calculateSize")["result"]?["disk"] != nil)
            try works(server, "again \(number)")
        }
        for server in servers { #expect(server.finish() == 0) }
    }

    /// What the log loses is found by the files of the images from the moment that a process notices the loss, before a check of
    /// the folder could be made.
    @Test(arguments: [0, 4096, 50_000])
    func imageIsFoundWhenItsChangeIsCutOffTheLog(_ length: Int) throws {
        let server = try ServerProcess(cache: folder)
        let keys = (0..<12).map { "key \($0)" }
        let pictures = try keys.map { Data(try Fixtures.bytes("png-rgb.png") + Array($0.utf8)).base64EncodedString() }
        for (key, data) in zip(keys, pictures) {
            let stored = try server.call(1, "store", #"{"key":"\#(key)","data":"\#(data)"}"#)
            #expect(stored["result"]?["cacheType"]?.string == "disk", "\(stored.text)")
        }
        // Whoever holds it checks the folder.
        let check = open(folder + "/default/index.sqlite.check", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(check) }
        #expect(flock(check, LOCK_EX) == 0)
        try cut("index.sqlite-wal", to: length)
        try cut("index.sqlite-shm", to: 0)
        for (key, data) in zip(keys, pictures) { try expectFound(key, by: server, data) }
        let removed = try server.call(5, "remove", #"{"key":"key 3"}"#)
        #expect(removed["result"]?["removed"]?.boolean == true)
        #expect(try server.call(6, "cachePath", #"{"key":"key 3"}"#)["result"]?["exists"]?.boolean == false)
        #expect(server.finish() == 0)
    }

    /// What is in the log alone is found: the index of the log is made again, and nothing is written by what is left of it.
    @Test(arguments: [0, 1000, 4096])
    func cutIndexOfTheLogHidesNothing(_ length: Int) throws {
        let servers = [try ServerProcess(cache: folder), try ServerProcess(cache: folder)]
        for number in 0..<30 { try works(servers[number % 2], "key \(number)") }
        for server in servers {
            try cut("index.sqlite-shm", to: length)
            for number in 0..<30 {
                let key = "key \(number)"
                let data = Data(try Fixtures.bytes("png-rgb.png") + Array(key.utf8)).base64EncodedString()
                try expectFound(key, by: server, data)
            }
            try cut("index.sqlite-shm", to: length)
            try works(server, "new")
        }
        for server in servers {
            let size = try server.call(7, "calculateSize")["result"]?["disk"]
            #expect(size?["count"]?.integer == 31)
            #expect(server.finish() == 0)
        }
        #expect(!FileManager.default.fileExists(atPath: folder + "/default/index.sqlite.damaged"))
    }
}
