import Foundation
import TestSupport
import Testing

/// Options that a server, its client or a configuration file names once count for every request that leaves them out.
@Suite(.onThreads) struct DefaultOptionTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    /// An error number, or the answer's leased state and file extension: what options of the tests change.
    private func outcome(_ server: ServerProcess, _ key: String, _ options: String? = nil) throws -> String {
        let data = Data(try Fixtures.bytes("png-rgb.png")).base64EncodedString()
        let given = options.map { ",\"options\":\($0)" } ?? ""
        let reply = try server.call(1, "store", #"{"key":"\#(key)","data":"\#(data)"\#(given)}"#)
        if let code = reply["error"]?["code"]?.integer { return "\(code)" }
        let path = try #require(reply["result"]?["path"]?.string)
        return "\(reply["result"]?["leased"]?.boolean ?? true) \(URL(fileURLWithPath: path).pathExtension)"
    }

    @Test func configuredOptionsCountUntilARequestOrALaterChangeNamesThem() throws {
        let server = try ServerProcess(cache: folder)
        #expect(try outcome(server, "a") == "true png")
        let first = try server.call(2, "configure", #"{"options":{"forcedCacheFileExtension":"one","lease":0}}"#)
        #expect(first["result"]?["options"] == (try JSON(#"{"forcedCacheFileExtension":"one","lease":0}"#)))
        #expect(try outcome(server, "b") == "true one")
        #expect(try outcome(server, "c", "null") == "true one")
        #expect(try outcome(server, "d", "{}") == "true one")
        #expect(try outcome(server, "e", #"{"forcedCacheFileExtension":"two"}"#) == "true two")
        let second = try server.call(3, "configure", #"{"options":{"forcedCacheFileExtension":null}}"#)
        #expect(second["result"]?["options"] == (try JSON(#"{"lease":0}"#)))
        #expect(try outcome(server, "f") == "true png")
        #expect(server.finish() == 0)
    }

    @Test func aChangeCountsFromTheNextRequestOnThoughNobodyWaitsForItsAnswer() throws {
        let server = try ServerProcess(cache: folder)
        _ = try outcome(server, "a")
        for (number, word) in ["one", "two", "three"].enumerated() {
            try server.request(10 + number, "configure", #"{"options":{"onlyFromCache":\#(word == "two")}}"#)
            try server.request(20 + number, "retrieve", #"{"url":"data:,\#(word)"}"#)
        }
        var codes: [Int: Int] = [:]
        for _ in 0..<6 {
            let reply = try #require(try server.next())
            codes[reply["id"]?.integer ?? 0] = reply["error"]?["code"]?.integer ?? 0
        }
        #expect(codes[21] == 10003, "not cached")
        #expect(codes[20] == codes[22] && codes[20] != 10003)
        #expect(server.finish() == 0)
    }

    @Test func theClientsOptionsReplaceThoseOfTheFileOneByOne() throws {
        let file = folder + "/config.json"
        try #"{"options":{"forcedCacheFileExtension":"file","lease":0,"deadline":9}}"#
            .write(toFile: file, atomically: true, encoding: .utf8)
        let server = try ServerProcess(cache: folder, ["--config", file])
        #expect(try outcome(server, "a") == "true file")
        let options = #"{"initializationOptions":{"options":{"forcedCacheFileExtension":"client","deadline":null}}}"#
        #expect(try server.call(2, "initialize", options)["result"] != nil)
        #expect(try outcome(server, "b") == "true client")
        let found = try server.call(3, "configure")["result"]?["options"]
        #expect(found == (try JSON(#"{"lease":0,"forcedCacheFileExtension":"client"}"#)))
        #expect(server.finish() == 0)
    }

    @Test(arguments: [
        (#"{"headers":{"a":"b"}}"#, "hostRules"), (#"{"authorization":{"bearer":"x"}}"#, "hostRules"),
        (#"{"delegates":[]}"#, "initialize"), (#"{"slot":"a"}"#, "with the request"), (#"{"leese":1}"#, "lease"),
        (#"{"lease":-1}"#, "lease"), (#"{"scope":"a","credentialScope":"shared"}"#, "scope"), ("7", "options"),
    ])
    func whatCannotBeADefaultIsRefusedAndChangesNothing(_ options: String, _ words: String) throws {
        let server = try ServerProcess(cache: folder)
        for method in ["configure", "initialize"] {
            let given = #"{"options":\#(options)}"#
            let params = method == "configure" ? given : #"{"initializationOptions":\#(given)}"#
            let error = try server.call(1, method, params)["error"]
            #expect(error?["code"]?.integer == -32602)
            #expect(error?["message"]?.string?.contains(words) == true, "\(error?["message"]?.string ?? "")")
        }
        #expect(try server.call(2, "configure")["result"]?["options"] == (try JSON("{}")))
        #expect(server.finish() == 0)
    }

    @Test func aRefusedConfigureLeavesTheDefaultsAlone() throws {
        let server = try ServerProcess(cache: folder)
        #expect(try outcome(server, "a") == "true png")
        let params = #"{"disk":{"folder":"\#(folder)/other"},"options":{"forcedCacheFileExtension":"one"}}"#
        #expect(try server.call(2, "configure", params)["error"] != nil)
        #expect(try outcome(server, "b") == "true png")
        #expect(try server.call(3, "configure")["result"]?["options"] == (try JSON("{}")))
        // Another change comes before it is refused.
        try server.request(4, "configure", params)
        try server.request(5, "configure", #"{"options":{"lease":0}}"#)
        for _ in 0..<2 { _ = try server.next() }
        #expect(try server.call(6, "configure")["result"]?["options"] == (try JSON(#"{"lease":0}"#)))
        #expect(server.finish() == 0)
    }

    @Test func whatARequestNamesReplacesADefaultThatMeansTheContrary() throws {
        let server = try ServerProcess(cache: folder)
        let animation = #""url":"file://\#(Fixtures.folder)/gif-animated.gif""#
        func frames(_ options: String) throws -> Int? {
            let reply = try server.call(1, "retrieve", "{\(animation),\"options\":\(options)}")["result"]
            return reply?["frameCount"]?.integer
        }
        let all = try #require(try frames("{}"))
        #expect(all > 1)
        for (defaults, options, count) in [
            (#""onlyLoadFirstFrame":true"#, "{}", 1),
            (#""onlyLoadFirstFrame":true"#, #"{"onlyLoadFirstFrame":false}"#, all),
            (#""frame":1"#, "{}", 1), (#""frame":1"#, #"{"onlyLoadFirstFrame":false}"#, all),
            (#""scope":"ann""#, #"{"credentialScope":"shared"}"#, all),
            (#""credentialScope":"shared""#, #"{"scope":"ann"}"#, all),
        ] {
            let clean = #"{"options":{"onlyLoadFirstFrame":null,"scope":null,"credentialScope":null,"frame":null}}"#
            #expect(try server.call(2, "configure", clean)["result"] != nil)
            #expect(try server.call(3, "configure", "{\"options\":{\(defaults)}}")["result"] != nil)
            #expect(try frames(options) == count, "\(defaults) \(options)")
        }
        #expect(server.finish() == 0)
    }
}
