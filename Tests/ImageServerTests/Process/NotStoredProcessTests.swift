import Foundation
import TestSupport
import Testing

/// Images that no tier keeps, and the word about it: in the result, in `stats` and in the log.
@Suite(.onThreads)
struct NotStoredProcessTests {
    private let cache = try? TemporaryFolder()
    private let picture = Result { try Fixtures.bytes("png-rgb.png") }

    private func server(_ arguments: [String] = []) throws -> ServerProcess {
        try ServerProcess(cache: cache?.path ?? "", arguments)
    }

    private func web(_ control: String = "max-age=1000") throws -> LocalServer {
        let picture = try picture.get()
        return try LocalServer { _ in .reply(200, ["Cache-Control": control], picture) }
    }

    /// Puts something that is no folder where the folder of the cache would be.
    private func blockFolder() throws {
        try Data().write(to: URL(fileURLWithPath: (cache?.path ?? "") + "/default"))
    }

    /// Leaves no disk that is empty enough.
    private func fillDisk(_ server: ServerProcess) throws {
        _ = try server.call(100, "configure", #"{"disk":{"freeSpaceFloor":1000000000000000}}"#)
    }

    private func params(
        _ web: LocalServer, _ path: String = "/a.png", as form: String = "data", options: String = ""
    ) -> String {
        #"{"url":\#(quoted(web.url(path))),"as":"\#(form)","options":{\#(options)}}"#
    }

    private func counts(_ server: ServerProcess) throws -> [String: Int] {
        let counts = try server.call(101, "stats")["result"]?["notStored"]?.members ?? [:]
        return counts.compactMapValues(\.integer)
    }

    private func isPicture(_ result: JSON?) throws -> Bool {
        result?["data"]?.string == Data(try picture.get()).base64EncodedString()
    }

    /// A file is written for who asks for one.
    @Test func whatIsKeptInMemoryOnlyStaysOffTheDiskUntilItsPathIsAskedFor() throws {
        let data = Data(try picture.get()).base64EncodedString()
        let server = try server()
        let store = #"{"key":"k","data":"\#(data)","options":{"cacheMemoryOnly":true}}"#
        #expect(try server.call(1, "store", store)["result"] != nil)
        for (id, form) in ["data", "none", "dataUrl"].enumerated() {
            let result = try server.call(10 + id, "retrieve", #"{"key":"k","as":"\#(form)"}"#)["result"]
            #expect(result?["cacheType"]?.string == "memory" && result?["path"] == .null, "\(form)")
        }
        let made = #"{"key":"k","as":"data","processors":[{"resize":{"width":3}}],"options":{"cacheMemoryOnly":true}}"#
        #expect(try server.call(20, "retrieve", made)["result"]?["width"]?.integer == 3)
        #expect(try server.call(21, "list")["result"]?["entries"]?.elements?.isEmpty == true)
        let kept = #"{"key":"k","as":"data","processors":[{"resize":{"width":4}}]}"#
        #expect(try server.call(24, "retrieve", kept)["result"]?["width"]?.integer == 4)
        let entries = try server.call(25, "list")["result"]?["entries"]?.elements ?? []
        #expect(entries.map { $0["processorIdentifier"]?.string?.isEmpty } == [false], "not its original")
        _ = try server.call(26, "remove", #"{"key":"k","processors":[{"resize":{"width":4}}]}"#)
        let result = try server.call(22, "retrieve", #"{"key":"k"}"#)["result"]
        #expect(result?["cacheType"]?.string == "memory" && result?["path"]?.string != nil)
        #expect(try server.call(23, "list")["result"]?["entries"]?.elements?.count == 1)
        #expect(server.finish() == 0)
    }

    @Test func whatTheServerForbidsToStoreIsNamedWithTheReason() throws {
        let web = try web("no-store")
        defer { web.stop() }
        let server = try server()
        for id in 1...2 {
            let result = try server.call(id, "retrieve", params(web, options: #""revalidate":"http""#))["result"]
            #expect(try result?["stored"]?.string == "noStore" && isPicture(result))
        }
        let unawaited = #""revalidate":"http","waitForCache":false"#
        let told = try server.call(3, "retrieve", params(web, options: unawaited))["result"]
        #expect(told?["stored"]?.string == "noStore", "it is known before the answer")
        #expect(try counts(server) == ["noStore": 3])
        let kept = try server.call(4, "retrieve", params(web))["result"]
        #expect(kept?["cacheType"]?.string == "none" && kept?["stored"] == nil, "nobody goes by HTTP")
        let hit = try server.call(5, "retrieve", params(web))["result"]
        #expect(hit?["cacheType"]?.string == "memory" && hit?["stored"] == nil)
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty, "who is told needs no log")
    }

    @Test func anImageLargerThanTheDiskTierIsNamedAndTheOlderOneOfItsKeyGoes() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--disk-limit", "600"])
        for (id, form) in zip(1..., ["data", "both", "path", "none"]) {
            let result = try server.call(id, "retrieve", params(web, as: form))["result"]
            #expect(result?["stored"]?.string == "tooLarge", "\(form)")
            #expect((result?["path"]?.string != nil) == (form == "path" || form == "both"), "\(form)")
        }
        #expect(try counts(server) == ["tooLarge": 4])
        let small = quoted(Data(try Fixtures.bytes("png-1x1.png")).base64EncodedString())
        let stored = try server.call(5, "store", #"{"key":\#(quoted(web.url("/a.png"))),"data":\#(small)}"#)
        #expect(stored["result"]?["stored"]?["reason"] == nil && stored["error"] == nil)
        _ = try server.call(6, "retrieve", params(web, options: #""forceRefresh":true"#))
        let key = #"{"key":\#(quoted(web.url("/a.png")))}"#
        #expect(try server.call(7, "isCached", key)["result"]?["cached"] == .boolean(false))
        #expect(server.finish() == 0)
    }

    @Test func aDiskThatIsFullIsNamed() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server()
        try fillDisk(server)
        let result = try server.call(1, "retrieve", params(web))["result"]
        #expect(try result?["stored"]?.string == "noRoom" && result?["path"] == .null && isPicture(result))
        let error = try server.call(2, "retrieve", params(web, as: "path"))["error"]
        #expect(error?["data"]?["name"]?.string == "storageFailed" && error?["data"]?["stored"]?.string == "noRoom")
        #expect(try counts(server) == ["noRoom": 2])
        #expect(server.finish() == 0)
    }

    @Test func anErrorForWantOfAPlaceHasTheReason() throws {
        let (web, forbidden) = (try web(), try self.web("no-store"))
        defer {
            web.stop()
            forbidden.stop()
        }
        let server = try server(["--disk-limit", "600"])
        func data(_ id: Int, _ method: String, _ params: String) throws -> [String?] {
            let error = try server.call(id, method, params)["error"]?["data"]
            return [error?["name"]?.string, error?["stored"]?.string]
        }
        let http = #""revalidate":"http""#
        #expect(try data(1, "retrieve", params(forbidden, as: "path", options: http)) == ["storageFailed", "noStore"])
        let memory = #""cacheMemoryOnly":true,"memory":false"#
        #expect(try data(2, "retrieve", params(web, as: "path", options: memory)) == ["limitExceeded", "notAsked"])
        let picture = quoted(Data(try picture.get()).base64EncodedString())
        #expect(try data(3, "store", #"{"key":"a","data":\#(picture)}"#) == ["limitExceeded", "tooLarge"])
        let missing = params(web, as: "path", options: #""onlyFromCache":true"#)
        #expect(try data(4, "retrieve", missing) == ["notCached", nil])
        #expect(server.finish() == 0)
    }

    @Test func aFolderThatCannotBeWrittenIsNamed() throws {
        let web = try web()
        defer { web.stop() }
        try blockFolder()
        let server = try server()
        for (id, form) in zip(1..., ["data", "both", "dataUrl"]) {
            let alone = params(web, as: form, options: #""memory":false"#)
            let result = try server.call(id, "retrieve", alone)["result"]
            #expect(result?["stored"]?.string == "diskFailed" && result?["path"] == .null, "\(form)")
        }
        let kept = try server.call(4, "retrieve", params(web, options: #""cacheMemoryOnly":true"#))["result"]
        #expect(kept?["stored"] == nil, "memory keeps it")
        let hit = try server.call(5, "retrieve", params(web))["result"]
        #expect(try hit?["stored"] == nil && hit?["cacheType"]?.string == "memory" && isPicture(hit))
        #expect(try counts(server) == ["diskFailed": 3])
        let both = try server.call(6, "retrieve", params(web, as: "both"))["result"]
        #expect(both?["stored"]?.string == "diskFailed" && both?["path"] == .null, "a file was asked for")
        #expect(server.finish() == 0)
    }

    @Test func optionsThatNameNoTierAreNamedAndThoseThatNameOneAreNot() throws {
        let web = try web()
        defer { web.stop() }
        let server = try server(["--memory-limit", "1000"])
        let options: [(String, String?)] = [
            ("", nil), (#""memory":false"#, nil), (#""cacheMemoryOnly":true,"memory":false"#, "notAsked"),
            (#""cacheMemoryOnly":true"#, "tooLarge"), (#""cacheMemoryOnly":true,"waitForCache":false"#, "tooLarge"),
            (#""diskCacheExpiration":"expired""#, nil),
        ]
        for (number, (options, reason)) in options.enumerated() {
            let result = try server.call(number, "retrieve", params(web, "/\(number).png", options: options))["result"]
            #expect(try result?["stored"]?.string == reason && isPicture(result), "\(options)")
        }
        let told = try counts(server)
        #expect(told == ["tooLarge": 2], "what nobody asked for is not counted")
        _ = try server.call(20, "configure", #"{"memory":{"totalBytesLimit":0}}"#)
        let alone = #""cacheMemoryOnly":true"#
        let off = try server.call(21, "retrieve", params(web, "/off.png", options: alone))["result"]
        #expect(off?["stored"]?.string == "memoryOff" && off?["memoryCached"] == .boolean(false))
        _ = try server.call(22, "configure", #"{"memory":{"totalBytesLimit":100000000}}"#)
        let gone = #""cacheMemoryOnly":true,"memoryCacheExpiration":"expired""#
        let expired = try server.call(23, "retrieve", params(web, "/gone.png", options: gone))["result"]
        #expect(expired?["stored"]?.string == "expired")
        #expect(server.finish() == 0)
    }

    @Test func aStoreThatReplacesNothingIsNamed() throws {
        let server = try server()
        let data = quoted(Data(try picture.get()).base64EncodedString())
        let params = #"{"key":"a","data":\#(data),"overwrite":false}"#
        #expect(try server.call(1, "store", params)["result"]?["stored"]?["reason"] == nil)
        let second = try server.call(2, "store", params)["result"]
        #expect(second?["stored"]?["reason"]?.string == "occupied" && second?["reason"]?.string != nil)
        #expect(second?["stored"]?["memory"] == .boolean(true), "memory holds the bytes of the one that stays")
        #expect(try counts(server).isEmpty, "it is the caller's own")
        #expect(server.finish() == 0)
    }

    // MARK: Stores that nobody waits for

    @Test func aStoreBehindTheAnswerThatFailsIsCountedAndLogged() throws {
        let web = try web()
        defer { web.stop() }
        try blockFolder()
        let server = try server()
        let answered = try server.call(1, "retrieve", params(web, options: #""waitForCache":false"#))["result"]
        #expect(try answered?["stored"] == nil && isPicture(answered))
        try server.stats("the store has failed") { $0["notStored"]?["diskFailed"]?.integer == 1 }
        #expect(server.finish() == 0)
        let log = server.complaints()
        #expect(log.contains("warning") && log.contains("reason=diskFailed") && log.contains("image="), "\(log)")
        #expect(!log.contains("127.0.0.1"), "URLs are private: \(log)")
    }

    @Test func aRefreshBehindTheAnswerThatIsNotStoredIsCountedAndLogged() throws {
        let web = try web("max-age=0, stale-while-revalidate=1000")
        defer { web.stop() }
        let server = try server()
        _ = try server.call(1, "retrieve", params(web, options: #""revalidate":"http""#))
        try fillDisk(server)
        let stale = try server.call(2, "retrieve", params(web, options: #""revalidate":"http""#))["result"]
        #expect(stale?["stale"] == .boolean(true) && stale?["stored"] == nil)
        try server.stats("the refresh has failed") { $0["notStored"]?["noRoom"]?.integer == 1 }
        #expect(server.finish() == 0)
        #expect(server.complaints().contains("reason=noRoom"))
    }

    @Test func aPrefetchNamesWhatItHasLoadedInVain() throws {
        let web = try web("no-store")
        defer { web.stop() }
        let server = try server()
        func prefetch(_ id: Int, _ options: String) throws -> JSON? {
            let urls = "[\(quoted(web.url("/\(id).png")))]"
            return try server.call(id, "prefetch", #"{"urls":\#(urls),"options":{\#(options)}}"#)["result"]
        }
        #expect(try prefetch(1, "")?["notStored"] == nil)
        let result = try prefetch(2, #""cacheMemoryOnly":true,"revalidate":"http""#)
        #expect(result?["completed"]?.elements?.count == 1)
        let dropped = result?["notStored"]?.elements ?? []
        #expect(dropped.map { $0["url"]?.string } == [web.url("/2.png")])
        #expect(dropped.map { $0["stored"]?.string } == ["noStore"])
        for (id, options, reason) in [
            (10, #""revalidate":"http""#, "noStore"),
            (11, #""cacheMemoryOnly":true,"memoryCacheExpiration":"expired""#, "expired"),
            (12, #""cacheMemoryOnly":true,"memory":false"#, "notAsked"),
        ] {
            let result = try prefetch(id, options)
            #expect(result?["notStored"]?[0]?["stored"]?.string == reason && result?["notStored"]?.elements?.count == 1)
            #expect(result?["completed"]?.elements?.count == 1 && result?["failed"] == .array([]), "\(reason)")
        }
        let again =
            #"{"urls":[\#(quoted(web.url("/3.png")))],"options":{"cacheMemoryOnly":true,"revalidate":"http"},"workDoneToken":3}"#
        try server.request(3, "prefetch", again)
        var counts: [Int?] = []
        while let message = try server.next(), message["id"] == nil {
            counts.append(message["params"]?["value"]?["notStored"]?.integer)
        }
        #expect(counts.first == 0 && counts.last == 1, "its progress counts them: \(counts)")
        _ = try server.call(20, "configure", #"{"disk":{"bytesLimit":600}}"#)
        #expect(try prefetch(21, "")?["notStored"]?[0]?["stored"]?.string == "tooLarge")
        _ = try server.call(22, "configure", #"{"disk":{"bytesLimit":0}}"#)
        try fillDisk(server)
        #expect(try prefetch(23, "")?["notStored"]?[0]?["stored"]?.string == "noRoom")
        #expect(server.finish() == 0)
    }
}
