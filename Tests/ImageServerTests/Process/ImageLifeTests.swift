import Foundation
import TestSupport
import Testing

/// Every picture of the corpus over HTTP, through the process and its restart.
@Suite(.onThreads)
struct ImageLifeTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    @Test(arguments: [false, true])
    func everyPictureGoesThroughItsLifeBitForBit(isFramed: Bool) throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let pictures = Fixtures.valid
        #expect(pictures.count >= 30)
        func url(_ index: Int) -> String { web.url("/" + pictures[index].file) }
        let retrieve = pictures.indices.map {
            (id: $0, method: "retrieve", params: #"{"url":\#(quoted(url($0))),"as":"data"}"#)
        }
        func about(_ method: String) -> [(id: Int, method: String, params: String)] {
            pictures.indices.map { ($0, method, #"{"key":\#(quoted(url($0)))}"#) }
        }
        func check(_ replies: Replies, cacheType: String) throws {
            for (index, picture) in pictures.enumerated() {
                let reply = try #require(replies.byID[index])
                let result = try #require(reply["result"], "\(picture): \(reply.text)")
                #expect(result["cacheType"]?.string == cacheType, "\(picture)")
                #expect(result["key"]?.string == url(index))
                #expect(result["format"]?.string == picture.format, "\(picture)")
                #expect(result["mimeType"]?.string == picture.mimeType, "\(picture)")
                #expect(result["width"]?.integer == picture.width, "\(picture)")
                #expect(result["height"]?.integer == picture.height, "\(picture)")
                // Only who decodes an animated JPEG XL knows how many pictures it has.
                let frames = picture.format == "jxl" ? 1 : picture.frameCount
                #expect(result["frameCount"]?.integer == frames, "\(picture)")
                #expect(result["byteCount"]?.integer == picture.byteCount, "\(picture)")
                let bytes = try picture.bytes
                #expect(result["data"]?.string == Data(bytes).base64EncodedString(), "\(picture)")
            }
            #expect(replies.unexpected.isEmpty)
        }

        var server = try ServerProcess(cache: folder, isFramed: isFramed)
        try server.requestAll(retrieve)
        try check(server.replies(pictures.count), cacheType: "none")
        try server.requestAll(about("isCached"))
        #expect(
            try server.replies(pictures.count).byID.values.allSatisfy { $0["result"]?["cacheType"]?.string == "memory" }
        )
        try server.requestAll(about("cachePath"))
        let paths = try server.replies(pictures.count)
        for (index, picture) in pictures.enumerated() {
            #expect(paths.result(index)?["exists"]?.boolean == true)
            let path = try #require(paths.result(index)?["path"]?.string)
            #expect(path.hasPrefix(folder + "/"))
            #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == picture.bytes, "\(picture)")
        }
        try server.requestAll(retrieve)
        try check(server.replies(pictures.count), cacheType: "memory")
        #expect(server.finish() == 0)

        server = try ServerProcess(cache: folder, isFramed: isFramed)
        try server.requestAll(about("isCached"))
        #expect(
            try server.replies(pictures.count).byID.values.allSatisfy { $0["result"]?["cacheType"]?.string == "disk" })
        try server.requestAll(retrieve)
        try check(server.replies(pictures.count), cacheType: "disk")
        #expect(web.requests.count == pictures.count)

        try server.requestAll(about("remove"))
        #expect(try server.replies(pictures.count).byID.values.allSatisfy { $0["result"]?["disk"]?.boolean == true })
        try server.requestAll(about("isCached"))
        #expect(try server.replies(pictures.count).byID.values.allSatisfy { $0["result"]?["cached"]?.boolean == false })
        let size = try server.call(-1, "calculateSize")["result"]
        for tier in ["disk", "memory"] {
            #expect(size?[tier]?["count"]?.integer == 0)
            #expect(size?[tier]?["byteCount"]?.integer == 0)
        }
        #expect(server.finish() == 0)
        #expect(server.complaints().isEmpty)
        for index in pictures.indices {
            let path = try #require(paths.result(index)?["path"]?.string)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func whatIsNoWholePictureIsBadDataAndIsNotCached() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        for (index, picture) in Fixtures.broken.enumerated() {
            let url = web.url("/" + picture.file)
            let error = try server.call(index, "retrieve", #"{"url":\#(quoted(url))}"#)["error"]
            #expect(error?["code"]?.integer == 10000, "\(picture)")
            #expect(error?["data"]?["name"]?.string == "badData")
            #expect(error?["data"]?["url"]?.string == url)
            #expect(
                try server.call(100, "isCached", #"{"key":\#(quoted(url))}"#)["result"]?["cached"]?.boolean == false)
            let path = quoted(Fixtures.folder + "/" + picture.file)
            #expect(try server.call(101, "store", #"{"key":"k","path":\#(path)}"#)["error"]?["code"]?.integer == 10000)
        }
        let cutOff = quoted(Fixtures.folder + "/png-rgb.png").dropLast() + #"\u0000.jpg""#
        let refused = try server.call(103, "store", #"{"key":"k","path":\#(cutOff)}"#)["error"]
        #expect(refused?["code"]?.integer == -32602 && refused?["data"]?["param"]?.string == "path")
        let size = try server.call(102, "calculateSize")["result"]
        #expect(size?["disk"]?["count"]?.integer == 0)
        #expect(size?["memory"]?["count"]?.integer == 0)
        #expect(server.finish() == 0)
        #expect(cache?.files.filter { $0.contains("/blobs/") || $0.contains("/partial/") } == [])
    }

    @Test func filesArePrivateAndTheirNamesTellNothing() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let server = try ServerProcess(cache: folder + "/root")
        try server.requestAll(
            (0..<20).map { ($0, "retrieve", #"{"url":\#(quoted(web.url("/secret-\($0).png?token=secret-word")))}"#) })
        #expect(try server.replies(20).byID.values.allSatisfy { $0["result"] != nil })
        var names = 0
        for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init() {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/" + name)
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(mode == (isFolder ? 0o700 : 0o600), "\(name)")
            #expect(!name.contains("secret") && !name.contains("127.0.0.1") && !name.contains("http"), "\(name)")
            names += 1
        }
        #expect(names > 20)
        #expect(server.finish() == 0)
    }

    @Test(arguments: ["path", "relative path", "data"])
    func pictureThatIsStoredComesBack(from source: String) throws {
        let bytes = try Fixtures.bytes("webp-lossy.webp")
        let parameter =
            switch source {
            case "path": #""path":\#(quoted(Fixtures.folder + "/webp-lossy.webp"))"#
            case "relative path": #""path":"Fixtures/webp-lossy.webp""#
            default: #""data":"\#(Data(bytes).base64EncodedString())""#
            }
        let server = try ServerProcess(cache: folder, directory: Fixtures.repository + "/Tests")
        let stored = try server.call(1, "store", #"{"key":"mine",\#(parameter)}"#)["result"]
        #expect(stored?["format"]?.string == "webp")
        #expect(stored?["byteCount"]?.integer == bytes.count)
        let path = try #require(stored?["path"]?.string)
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
        let again = try server.call(2, "retrieve", #"{"url":"http://127.0.0.1:1/","key":"mine","as":"data"}"#)["result"]
        #expect(again?["data"]?.string == Data(bytes).base64EncodedString())
        #expect(server.finish() == 0)
    }

    @Test func twoServersOnOneFolderSeeEachOthersPictures() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let servers = [try ServerProcess(cache: folder), try ServerProcess(cache: folder)]
        let pictures = Fixtures.valid.prefix(20)
        for (index, picture) in pictures.enumerated() {
            let (one, other) = (servers[index % 2], servers[1 - index % 2])
            let url = quoted(web.url("/" + picture.file))
            #expect(try other.call(1, "isCached", #"{"key":\#(url)}"#)["result"]?["cached"]?.boolean == false)
            let first = try one.call(2, "retrieve", #"{"url":\#(url)}"#)["result"]
            #expect(first?["cacheType"]?.string == "none")
            let second = try other.call(3, "retrieve", #"{"url":\#(url),"as":"both"}"#)["result"]
            #expect(second?["cacheType"]?.string == "disk", "\(picture)")
            #expect(second?["path"] == first?["path"])
            #expect(second?["data"]?.string == Data(try picture.bytes).base64EncodedString())
            #expect(try other.call(4, "remove", #"{"key":\#(url)}"#)["result"]?["disk"]?.boolean == true)
            #expect(
                try one.call(5, "isCached", #"{"key":\#(url)}"#)["result"]?["cached"]?.boolean == false, "\(picture)")
        }
        #expect(servers.map { $0.finish() } == [0, 0])
    }

    @Test func theAnswerToARemovalNamesTheFileThatStaysInAReadOnlyFolder() throws {
        let other = try TemporaryFolder()
        let filler = try ServerProcess(cache: other.path)
        let stored = try filler.call(
            1, "store", #"{"key":"k","path":\#(quoted(Fixtures.folder + "/png-rgb.png"))}"#)["result"]
        let path = try #require(stored?["path"]?.string)
        #expect(filler.finish() == 0)
        let disk = #"{"disk":{"readOnlyPaths":["\#(other.path)/default"]}}"#
        let server = try ServerProcess(cache: folder)
        _ = try server.call(1, "configure", disk)
        #expect(try server.call(2, "retrieve", #"{"key":"k"}"#)["result"]?["path"]?.string == path)
        // From memory first.
        for isKnown in [true, false] {
            let reply = try server.call(3, "remove", #"{"key":"k"}"#)["result"]
            #expect(reply?["removed"]?.boolean == isKnown && reply?["memory"]?.boolean == isKnown)
            #expect(reply?["disk"]?.boolean == false && reply?["readOnlyPath"]?.string == path)
        }
        #expect(try server.call(4, "isCached", #"{"key":"k"}"#)["result"]?["cached"]?.boolean == true)
        let missing = try #require(try server.call(5, "remove", #"{"key":"x"}"#)["result"])
        #expect(missing["readOnlyPath"] == nil && missing["removed"]?.boolean == false)
        #expect(server.finish() == 0)
        overwrite(other.path + "/config.json", Array(#"{"caches":{"default":\#(disk)}}"#.utf8))
        let removed = try Command.shell(
            "$HALCYON rm --config \(other.path)/config.json k x", environment: ["HALCYON_CACHE_DIR": folder])
        #expect(removed.status == 1)
        #expect(
            removed.errors
                == "halcyon: k is in a read-only folder, where nothing is removed: \(path)\nhalcyon: x is not in the cache.\n"
        )
    }

    @Test func errorSaysWhatIsMissingWhereAndOfWhom() throws {
        let server = try ServerProcess(cache: folder)
        func data(_ method: String, _ params: String) throws -> (data: JSON?, message: String) {
            let error = try server.call(1, method, params)["error"]
            return (error?["data"], error?["message"]?.string ?? "")
        }
        let url = "https://example.com/a.png"
        for options in [#"{"onlyFromCache":true}"#, #"{"offline":true}"#] {
            for method in ["retrieve", "probe"] {
                let (missing, message) = try data(
                    method, #"{"url":"\#(url)","key":"k","options":\#(options)}"#)
                #expect(missing?["name"]?.string == "notCached" && missing?["key"]?.string == "k", "\(method)")
                #expect(
                    missing?["url"]?.string == url && message.contains("k is not in the cache, or must not answer "),
                    "\(message)")
            }
        }
        _ = try server.call(2, "store", #"{"key":"k","path":\#(quoted(Fixtures.folder + "/png-rgb.png"))}"#)
        let forced = try data(
            "retrieve", #"{"url":"\#(url)","key":"k","options":{"onlyFromCache":true,"forceRefresh":true}}"#)
        #expect(
            forced.message == "k is not in the cache, or must not answer this request, which allows only the cache.")
        _ = try server.call(3, "clear", "{}")
        let unknown = try data("inspect", #"{"key":"k"}"#)
        #expect(unknown.data?["name"]?.string == "notCached" && unknown.data?["key"]?.string == "k")
        #expect(unknown.message == "k is not in the cache.")
        let file = folder + "/no image.png"
        for (method, params) in [
            ("retrieve", #"{"url":"file://\#(folder)/no%20image.png"}"#), ("store", #"{"key":"k","path":"\#(file)"}"#),
        ] {
            let (missing, message) = try data(method, params)
            #expect(missing?["name"]?.string == "unreadableFile", "\(message)")
            #expect(missing?["url"]?.string == "file://\(folder)/no%20image.png")
            #expect(message.contains("No such file or directory"))
            #expect(missing?["key"]?.string == (method == "store" ? "k" : nil))
        }
        try Data("no picture".utf8).write(to: URL(fileURLWithPath: file))
        let stored = [
            #""data":"bm8gcGljdHVyZQ==""#, #""data":"bm8gcGljdHVyZQ==","processors":[{"blur":{"radius":3}}]"#,
            #""data":"bm8gcGljdHVyZQ==","options":{"maxBytes":5}"#,
        ]
        for given in stored {
            let (bad, message) = try data("store", #"{"key":"\#(url)",\#(given)}"#)
            #expect(bad?["key"]?.string == url && bad?["url"] == nil, "\(bad?.text ?? "") \(message)")
        }
        let bad = try data("store", #"{"key":"k","path":"\#(file)"}"#)
        #expect(bad.data?["name"]?.string == "badData" && bad.data?["url"]?.string == "file://\(folder)/no%20image.png")
        #expect(server.finish() == 0)
    }

    /// What is wrong is shown, and not that text is no text.
    @Test func errorsOfParametersSayWhatIsWrong() throws {
        let server = try ServerProcess(cache: folder)
        func message(_ method: String, _ params: String) throws -> String {
            try server.call(1, method, params)["error"]?["message"]?.string ?? ""
        }
        #expect(try message("stats", #"{"verbose":true}"#) == #""verbose" is not a known parameter; there are none."#)
        #expect(try message("caches", #"{"a":1}"#) == #""a" is not a known parameter; there are none."#)
        let values: [(String, String)] = [
            ("as", #""sideways""#), ("options", #"{"memoryCacheExpiration":"sideways"}"#),
            ("options", #"{"diskCacheAccessExtendingExpiration":"sideways"}"#),
            ("options", #"{"cacheSerializer":{"format":"sideways"}}"#), ("options", #"{"redirect":"sideways"}"#),
            ("options", #"{"onLastCancel":"sideways"}"#), ("options", #"{"downloadPriority":"sideways"}"#),
            ("options", #"{"retry":{"maxRetries":1,"interval":"sideways"}}"#), ("options", #"{"timeout":"sideways"}"#),
            ("options", #"{"forceRefresh":"sideways"}"#), ("options", #"{"delegates":["sideways"]}"#),
            ("processors", #"[{"resize":{"width":5,"mode":"sideways"}}]"#),
            ("processors", #"[{"roundCorner":{"radius":5,"corners":["sideways"]}}]"#),
            ("processors", #"[{"border":{"width":5,"color":"sideways"}}]"#),
            ("processors", #"[{"format":{"to":"sideways"}}]"#),
            ("processors", #""sideways""#), ("options", #""sideways""#),
        ]
        for (name, value) in values {
            let text = try message("retrieve", #"{"url":"data:,","\#(name)":\#(value)}"#)
            #expect(text.contains("\"sideways\"") && !text.contains("not a string"), "\(text)")
        }
        let secret = try message("retrieve", #"{"url":"data:,","options":{"headers":"Cookie: secret"}}"#)
        #expect(!secret.isEmpty && !secret.contains("secret"))
        #expect(server.finish() == 0)
    }

    /// By the name that it has in another method, or elsewhere in the same.
    @Test func nameInTheWrongPlaceIsRefusedWithTheRightOne() throws {
        let server = try ServerProcess(cache: folder)
        let cases: [(method: String, params: String, param: String, suggestion: String)] =
            ["isCached", "remove", "cachePath", "inspect", "store"].map {
                ($0, #"{"url":"https://example.com/a"}"#, "url", "key")
            } + [
                ("inspect", #"{"ulr":"https://example.com/a"}"#, "ulr", "key"),
                ("retrieve", #"{"url":"data:,","forceRefresh":true}"#, "forceRefresh", "options.forceRefresh"),
                ("retrieve", #"{"url":"data:,","forcerefresh":true}"#, "forcerefresh", "options.forceRefresh"),
                ("download", #"{"url":"data:,","timeout":5}"#, "timeout", "options.timeout"),
                ("configure", #"{"bytesLimit":1000}"#, "bytesLimit", "disk.bytesLimit"),
                ("configure", #"{"totalBytesLimit":1000}"#, "totalBytesLimit", "memory.totalBytesLimit"),
                ("configure", #"{"timeout":5}"#, "timeout", "downloader.timeout"),
                ("retrieve", #"{"url":"data:,","options":{"as":"data"}}"#, "options.as", "as"),
                ("retrieve", #"{"url":"data:,","options":{"key":"a","timeout":1}}"#, "options.key", "key"),
                ("store", #"{"key":"a","options":{"overwrite":true}}"#, "options.overwrite", "overwrite"),
            ]
        for (number, one) in cases.enumerated() {
            let error = try server.call(number, one.method, one.params)["error"]
            #expect(error?["code"]?.integer == -32602 && error?["data"]?["param"]?.string == one.param)
            #expect(error?["data"]?["suggestion"]?.string == one.suggestion, "\(one) \(error?.text ?? "")")
            #expect(error?["message"]?.string?.contains("\"\(one.suggestion)\"") == true)
        }
        #expect(server.finish() == 0)
    }

    @Test func optionThatIsMisspeltIsRefusedWithTheNearestName() throws {
        let server = try ServerProcess(cache: folder)
        let error = try server.call(1, "retrieve", #"{"url":"http://127.0.0.1:1/","options":{"forceRefesh":true}}"#)[
            "error"]
        #expect(error?["code"]?.integer == -32602)
        #expect(error?["data"]?["suggestion"]?.string == "forceRefresh")
        #expect(error?["message"]?.string?.contains("forceRefresh") == true)
        #expect(server.finish() == 0)
    }
}
