import Foundation
import TestSupport
import Testing

/// An image that was stored is had by its key, as it is and processed.
@Suite(.onThreads)
struct StoredImageTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    private static let steps = #""processors":[{"resize":{"width":10,"height":10,"mode":"none"}}]"#

    private func store(_ server: ServerProcess, _ name: String, _ more: String = "") throws {
        let path = quoted(Fixtures.folder + "/" + name)
        #expect(try server.call(1, "store", #"{"key":"k","path":\#(path)\#(more)}"#)["result"] != nil)
    }

    private func get(_ server: ServerProcess, _ params: String, _ method: String = "retrieve") throws -> JSON {
        let reply = try server.call(2, method, params)
        return try #require(reply["result"], "\(params): \(reply.text)")
    }

    private func error(_ server: ServerProcess, _ params: String, _ method: String = "retrieve") throws -> JSON? {
        try server.call(3, method, params)["error"]
    }

    @Test func isAnsweredByItsKeyAlone() throws {
        let server = try ServerProcess(cache: folder)
        try store(server, "png-rgb.png")
        for params in [#"{"key":"k"}"#, #"{"url":null,"key":"k"}"#, #"[null,"k"]"#, #"{"url":"data:,","key":"k"}"#] {
            #expect(try get(server, params)["cacheType"]?.string == "memory", "\(params)")
            #expect(try get(server, params, "explain")["verdict"]?.string == "answer", "\(params)")
            #expect(try get(server, params, "probe")["cacheType"]?.string == "memory", "\(params)")
        }
        let bytes = try Fixtures.bytes("png-rgb.png")
        #expect(
            try get(server, #"{"key":"k","as":"data"}"#)["data"]?.string == Data(bytes).base64EncodedString())
        for method in ["retrieve", "probe"] {
            #expect(try error(server, #"{"key":"absent"}"#, method)?["data"]?["name"]?.string == "notCached")
            let neither = try error(server, "{}", method)
            #expect(neither?["code"]?.integer == -32602 && neither?["data"]?["param"]?.string == "url")
        }
        let absent = try get(server, #"{"key":"absent"}"#, "explain")
        #expect(absent["verdict"]?.string == "fail" && absent["error"]?["data"]?["name"]?.string == "notCached")
        #expect(try error(server, #"{"url":"","key":"absent"}"#)?["data"]?["name"]?.string == "invalidURL")
        #expect(server.finish() == 0)
    }

    /// There is no URL that messages could name it by.
    @Test(
        arguments: [
            (#"{"key":"absent"}"#, "notCached"),
            (#"{"key":"k","processors":[{"crop":{"x":9999,"y":0,"width":1,"height":1}}]}"#, "processingFailed"),
            (#"{"key":"damaged","options":{"verifyDecode":true}}"#, "notCached"),
            (#"{"key":"damaged","processors":[{"blur":{"radius":1}}]}"#, "badData"),
        ])
    func errorsOfARequestByKeyNameTheKey(_ params: String, _ name: String) throws {
        let server = try ServerProcess(cache: folder)
        try store(server, "png-rgb.png")
        var bytes = try Fixtures.bytes("png-rgb.png")
        for place in bytes.count / 2..<bytes.count - 12 { bytes[place] = 0 }
        let given = Data(bytes).base64EncodedString()
        #expect(try server.call(1, "store", #"{"key":"damaged","data":"\#(given)"}"#)["result"] != nil)
        let error = try #require(try error(server, params))
        let key = try #require(["absent", "damaged", "k"].first { params.contains("\"\($0)\"") })
        #expect(error["data"]?["name"]?.string == name && error["data"]?["key"]?.string == key)
        #expect(error["data"]?["url"] == nil && error["message"]?.string?.contains(key) == true, "\(error.text)")
    }

    @Test(arguments: [#""key":"k""#, #""url":"data:,","key":"k""#], [false, true])
    func isProcessedByItsKey(_ name: String, isOnlyInMemory: Bool) throws {
        var server = try ServerProcess(cache: folder)
        let more = isOnlyInMemory ? #","options":{"cacheMemoryOnly":true}"# : ""
        try store(server, "png-rgb.png", more)
        let params = "{\(name),\(Self.steps)}"
        let told = try get(server, params, "explain")
        #expect(told["verdict"]?.string == "answer" && told["cacheType"]?.string == "none")
        #expect(told["storedAt"] == .null && told["expiresAt"] == .null && told["stale"] == .null)
        let made = try get(server, params)
        #expect(made["width"]?.integer == 10 && made["height"]?.integer == 10 && made["key"]?.string == "k")
        let hash = try #require(told["hash"]?.string)
        #expect(made["cacheType"]?.string == "none" && made["path"]?.string?.contains(hash) == true)
        #expect(made["path"]?.string.map { FileManager.default.fileExists(atPath: $0) } == true)
        #expect(try get(server, params)["cacheType"]?.string == "memory")
        let after = try get(server, params, "explain")
        #expect(
            after["cacheType"]?.string == "memory" && after["storedAt"] != .null && after["stale"]?.boolean == false)
        // What was made of an image that another has replaced is made anew, here and in another process.
        for picture in ["jpeg-photo.jpg", "webp-lossy.webp"] {
            try store(server, picture, more)
            if picture == "webp-lossy.webp", !isOnlyInMemory {
                #expect(server.finish() == 0)
                server = try ServerProcess(cache: folder)
            }
            #expect(try get(server, params, "explain")["stale"]?.boolean == true)
            #expect(try get(server, params)["cacheType"]?.string == "none", "\(picture)")
            #expect(try get(server, params)["cacheType"]?.string == "memory")
        }
        #expect(try get(server, #"{"key":"k"}"#, "remove")[isOnlyInMemory ? "memory" : "disk"]?.boolean == true)
        #expect(
            try get(server, #"{"key":"k",\#(Self.steps)}"#)["width"]?.integer == 10, "what was made of it stays")
        #expect(try get(server, #"{"key":"k","allVariants":true}"#, "remove")["disk"]?.boolean == true)
        #expect(try error(server, "{\(name),\(Self.steps)}")?["data"]?["name"]?.string != nil)
        #expect(server.finish() == 0)
    }

    /// A data URL that is its own key is what it says; one with another key is what is stored there, processed or not.
    @Test func aDataURLCountsWhereNothingIsStored() throws {
        let server = try ServerProcess(cache: folder)
        let bytes = try Data(Fixtures.bytes("png-rgb.png")).base64EncodedString()
        let url = #""url":"data:image/png;base64,\#(bytes)""#
        let params = #"{\#(url),"key":"k",\#(Self.steps)}"#
        #expect(try get(server, params)["cacheType"]?.string == "none")
        #expect(try get(server, params)["cacheType"]?.string == "memory")
        try store(server, "gif-animated.gif")
        #expect(try get(server, #"{\#(url),"key":"k"}"#)["format"]?.string == "gif")
        #expect(try get(server, params)["format"]?.string == "gif")
        #expect(try get(server, "{\(url),\(Self.steps)}")["format"]?.string == "png")
        #expect(server.finish() == 0)
    }
}
