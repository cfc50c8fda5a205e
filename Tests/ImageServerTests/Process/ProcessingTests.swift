import Foundation
import Glibc
import TestSupport
import Testing

/// Processing through the real binary and the real worker.
@Suite(.onThreads)
struct ProcessingTests: FixtureRetrieving {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    @Test func theFormatOfAResultIsChosenByTheResult() throws {
        let server = try ServerProcess(cache: folder)
        let cases: [(name: String, steps: String, format: String)] = [
            ("jpeg-photo.jpg", #"{"resize":{"width":40}}"#, "jpeg"),
            ("jpeg-photo.jpg", #"{"roundCorner":{"radius":10}}"#, "png"),
            ("jpeg-photo.jpg", ##"{"roundCorner":{"radius":10,"backgroundColor":"#ff0000"}}"##, "jpeg"),
            ("png-rgb.png", #"{"resize":{"width":40}}"#, "png"),
            ("png-rgba.png", #"{"resize":{"width":40}}"#, "png"),
            ("gif-animated.gif", #"{"resize":{"width":10}}"#, "gif"),
            ("png-rgb.png", #"{"format":{"to":"webp","quality":50}}"#, "webp"),
        ]
        for (name, steps, format) in cases {
            let result = try retrieve(server, name, #""processors":[\#(steps)]"#)
            #expect(result["format"]?.string == format, "\(name) \(steps)")
            let path = try #require(result["path"]?.string)
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            #expect(bytes.count == result["byteCount"]?.integer && path.hasSuffix(format == "jpeg" ? "jpg" : format))
        }
        #expect(server.finish() == 0)
    }

    /// However it ends, before the server has noticed or after.
    @Test func workerThatIsEndedWhileItIsIdleCostsNoRequestAnything() throws {
        let server = try ServerProcess(cache: folder)
        for round in 0..<12 {
            let workers = String(decoding: try Command.shell("pgrep -P \(server.process)").output, as: UTF8.self)
                .split(separator: "\n").compactMap { pid_t($0) }
            #expect(round == 0 || workers.count == 1)
            for worker in workers { kill(worker, [SIGKILL, SIGSTOP, SIGTERM][round % 3]) }
            let image = try retrieve(server, "png-rgb.png", #""processors":[{"resize":{"width":\#(10 + round)}}]"#)
            #expect(image["width"]?.integer == 10 + round)
        }
        #expect(server.finish() == 0)
    }

    @Test func theOrientationIsAppliedOnce() throws {
        let server = try ServerProcess(cache: folder)
        let upright = try retrieve(server, "jpeg-orientation-1.jpg", #""processors":[{"rotate":{"auto":true}}]"#)
        let (width, height) = (upright["width"]?.integer, upright["height"]?.integer)
        #expect(width != height)
        for orientation in 2...8 {
            let result = try retrieve(
                server, "jpeg-orientation-\(orientation).jpg", #""processors":[{"rotate":{"auto":true}}]"#)
            #expect(result["width"]?.integer == width && result["height"]?.integer == height, "\(orientation)")
            let again = try server.call(
                2, "retrieve",
                #"{"url":\#(quoted(result["uri"]?.string ?? "")),"processors":[{"rotate":{"auto":true}}]}"#)
            #expect(again["result"]?["width"]?.integer == width, "\(orientation)")
        }
        #expect(server.finish() == 0)
    }

    @Test func pixelsDataURLsAndPlaceholders() throws {
        let server = try ServerProcess(cache: folder)
        let raw = try retrieve(
            server, "png-rgb.png", #""as":"pixels","processors":[{"crop":{"width":5,"height":3}}]"#)
        let pixels = try #require(raw["pixels"])
        #expect(pixels["width"]?.integer == 5 && pixels["height"]?.integer == 3)
        #expect(pixels["stride"]?.integer == 20 && pixels["byteCount"]?.integer == 60)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: pixels["path"]?.string ?? ""))
        #expect(bytes.count == 60 && stride(from: 3, to: 60, by: 4).allSatisfy { bytes[$0] == 255 })

        let link = try retrieve(server, "png-rgb.png", #""as":"dataUrl""#)
        let picture = try Fixtures.bytes("png-rgb.png")
        #expect(link["dataUrl"]?.string == "data:image/png;base64," + Data(picture).base64EncodedString())
        #expect(link["data"] == nil)

        let http = try LocalServer.fixtures()
        defer { http.stop() }
        var hashes: Set<String> = []
        for id in 1...3 {
            let reply = try server.call(
                id, "retrieve", #"{"url":\#(quoted(http.url("/jpeg-photo.jpg"))),"options":{"thumbHash":true}}"#)
            hashes.insert(reply["result"]?["thumbHash"]?.string ?? "none")
            #expect(reply["result"]?["dominantColor"]?.string?.hasPrefix("#") == true, "\(reply.text)")
            #expect(reply["result"]?["blurHash"]?.string?.count == 28, "\(reply.text)")
        }
        #expect(hashes.count == 1 && !hashes.contains("none"))
        #expect(server.finish() == 0)

        // Kept with the entry: no worker is needed any more.
        let restarted = try ServerProcess(cache: folder, ["--codec", "/nonexistent"])
        let kept = try restarted.call(
            1, "retrieve", #"{"url":\#(quoted(http.url("/jpeg-photo.jpg"))),"options":{"thumbHash":true}}"#)
        #expect(kept["result"]?["blurHash"]?.string?.count == 28)
        #expect(kept["result"]?["thumbHash"]?.string == hashes.first && kept["result"]?["cacheType"]?.string == "disk")
        #expect(restarted.finish() == 0)
    }

    @Test func theCompactTextMakesTheImageOfTheListAndFindsIt() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = quoted(web.url("/jpeg-photo.jpg"))
        let list =
            #"[{"crop":{"width":60,"height":40,"anchor":"smart"}},{"flip":{"horizontal":true}},{"format":{"to":"png"}}]"#
        let text = #""crop:60x40,smart/flip:horizontal/format:png""#
        let made = try server.call(1, "retrieve", #"{"url":\#(url),"processors":\#(list)}"#)["result"]
        let found = try server.call(
            2, "retrieve", #"{"url":\#(url),"processors":\#(text),"options":{"onlyFromCache":true}}"#)
        #expect(made?["format"]?.string == "png" && made?["width"]?.integer == 60 && made?["height"]?.integer == 40)
        #expect(found["result"]?["path"]?.string == made?["path"]?.string, "\(found.text)")
        for (id, method) in ["isCached", "cachePath", "explain", "remove"].enumerated() {
            let reply = try server.call(3 + id, method, #"{"key":\#(url),"processors":\#(text)}"#)
            #expect(reply["result"] != nil, "\(method): \(reply.text)")
            if method == "isCached" { #expect(reply["result"]?["cached"]?.boolean == true) }
            if method == "remove" { #expect(reply["result"]?["removed"]?.boolean == true) }
        }
        let bad = try server.call(9, "retrieve", #"{"url":\#(url),"processors":"crop:60x40,smrt"}"#)
        #expect(bad["error"]?["code"]?.integer == -32602)
        #expect(bad["error"]?["data"]?["param"]?.string == "processors.0.crop.anchor")
        #expect(bad["error"]?["data"]?["suggestion"]?.string == "smart", "\(bad.text)")
        let outside = try server.call(10, "retrieve", #"{"url":\#(url),"processors":"crop:60x40,x=300"}"#)
        #expect(outside["error"]?["data"]?["name"]?.string == "processingFailed")
        #expect(outside["error"]?["message"]?.string?.contains("320 × 240") == true, "\(outside.text)")
        #expect(server.finish() == 0)
    }

    @Test func whatWasMadeOfAnOriginalThatIsReplacedIsCachedForNoMethod() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let (url, steps) = (quoted(web.url("/png-rgb.png")), #""processors":"resize:8x8""#)
        func answer(_ method: String, of name: String = "key") throws -> JSON? {
            try server.call(1, method, #"{"\#(name)":\#(url),\#(steps)}"#)["result"]
        }
        /// Whether, and in which tier, each method says that the image is.
        func said() throws -> [String] {
            let path = try answer("cachePath")
            return [
                try answer("isCached")?["cacheType"]?.string, path?["exists"]?.boolean == true ? "there" : "gone",
                try answer("explain", of: "url")?["cacheType"]?.string,
            ].map { $0 ?? "nothing" }
        }
        let old = try answer("retrieve", of: "url")?["path"]?.string
        #expect(try said() == ["memory", "there", "memory"])
        let other = quoted(Data(try Fixtures.bytes("png-palette.png")).base64EncodedString())
        #expect(try server.call(2, "store", #"{"key":\#(url),"data":\#(other)}"#)["result"] != nil)
        #expect(try said() == ["none", "gone", "none"])
        #expect(try answer("explain", of: "url")?["stale"]?.boolean == true)
        let new = try answer("retrieve", of: "url")
        #expect(new?["cacheType"]?.string == "none" && new?["path"]?.string != old)
        #expect(try said() == ["memory", "there", "memory"])
        // When the original is gone, what was made of it still counts.
        #expect(try server.call(3, "remove", #"{"key":\#(url)}"#)["result"]?["removed"]?.boolean == true)
        #expect(try said() == ["memory", "there", "memory"])
        #expect(server.finish() == 0)
    }

    @Test func capabilitiesSayWhetherPicturesCanBeProcessedAndTheErrorHow() throws {
        for (arguments, isThere) in [([], true), (["--codec", "/nonexistent/halcyon-codec"], false)] {
            let server = try ServerProcess(cache: folder, arguments)
            let capabilities = try #require(try server.call(1, "initialize")["result"]?["capabilities"])
            for name in ["processors", "processor.blur", "format.webp.decode", "format.webp.encode"] {
                #expect((capabilities[name]?.boolean == true) == isThere, "\(name)")
            }
            #expect(capabilities["format.webp.recognise"]?.boolean == true)
            let reply = try server.call(
                2, "retrieve", #"{"url":\#(file("png-rgb.png")),"processors":[{"blackWhite":{}}]}"#)
            if isThere {
                #expect(reply["result"]?["processorIdentifier"]?.string == "blackWhite.1()")
                // The other server shares its cache.
                _ = try server.call(
                    3, "remove", #"{"key":\#(file("png-rgb.png")),"processors":[{"blackWhite":{}}]}"#)
            } else {
                #expect(reply["error"]?["code"]?.integer == 10004)
                #expect(reply["error"]?["data"]?["name"]?.string == "processingFailed")
                let message = reply["error"]?["message"]?.string ?? ""
                #expect(message.contains("--codec") && message.contains("HALCYON_CODEC"))
                #expect(try server.call(4, "retrieve", #"{"url":\#(file("png-rgb.png"))}"#)["result"] != nil)
            }
            #expect(server.finish() == 0)
        }
    }

    @Test func pixelsOfAChainComeFromItsCachedBeginningWhenTheOriginalIsGone() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = quoted(web.url("/jpeg-photo.jpg"))
        let beginning = #"{"resize":{"width":40}},{"blackWhite":{}}"#
        func pixels(_ id: Int, _ steps: String, _ options: String = "{}") throws -> (JSON, [UInt8]) {
            let reply = try server.call(
                id, "retrieve", #"{"url":\#(url),"processors":[\#(steps)],"as":"pixels","options":\#(options)}"#)
            let result = try #require(reply["result"], "\(reply.text)")
            let path = try #require(result["pixels"]?["path"]?.string)
            return (result, [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        }
        let chains = [beginning, beginning + #",{"blur":{"radius":2}}"#]
        var made: [[UInt8]] = []
        for (number, chain) in chains.enumerated() { made.append(try pixels(number, chain).1) }
        let kept = try server.call(
            2, "retrieve",
            #"{"url":\#(url),"processors":[\#(beginning)],"options":{"cacheSerializer":{"format":"png"}}}"#)
        #expect(kept["result"]?["format"]?.string == "png")
        #expect(try server.call(3, "remove", #"{"key":\#(url)}"#)["result"]?["removed"]?.boolean == true)
        for (number, chain) in chains.enumerated() {
            let (result, bytes) = try pixels(4 + number, chain, #"{"onlyFromCache":true}"#)
            #expect(bytes == made[number], "\(chain)")
            #expect(result["path"] == kept["result"]?["path"], "it says what was worked on")
        }
        #expect(server.finish() == 0)
    }

    @Test func aPlaceholderComesAgainWithWhatIsLoadedAnew() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = quoted(web.url("/jxl-lossy.jxl"))
        func hash(_ id: Int, _ more: String) throws -> String? {
            let reply = try server.call(id, "retrieve", #"{"url":\#(url),"options":{"thumbHash":true\#(more)}}"#)
            return reply["result"]?["thumbHash"]?.string
        }
        let first = try #require(try hash(1, ""))
        #expect(try hash(2, "") == first && hash(3, #","forceRefresh":true"#) == first)
        _ = try server.call(4, "remove", #"{"key":\#(url)}"#)
        #expect(try hash(5, "") == first && hash(6, #","revalidate":"always""#) == first)
        #expect(server.finish() == 0)
    }

    @Test func whatIsMadeHasAPlaceholderOfItsOwn() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let start = #"{"url":\#(quoted(web.url("/jpeg-photo.jpg"))),"options":{"thumbHash":true}"#
        let original = try server.call(1, "retrieve", start + "}")["result"]
        let steps = ##","processors":[{"tint":{"color":"#00ff00"}},{"format":{"to":"png"}}]}"##
        let green = try server.call(2, "retrieve", start + steps)["result"]
        #expect(green?["dominantColor"]?.string == "#00ff00", "\(green?.text ?? "")")
        #expect(original?["thumbHash"]?.string != green?["thumbHash"]?.string)
        #expect(server.finish() == 0)
    }

    @Test func capabilitiesSayWhatTheWorkerReallyDoesOnceItHasBeenStarted() throws {
        let standIn = try CodecStandIn(making: try Fixtures.bytes("png-1x1.png"))
        for isStarted in [false, true] {
            let server = try ServerProcess(cache: folder, ["--codec", standIn.path])
            if isStarted { _ = try retrieve(server, "png-rgb.png", #""processors":[{"blackWhite":{}}]"#) }
            let capabilities = try server.call(1, "initialize")["result"]?["capabilities"]
            for (name, isThere) in [("png", true), ("webp", !isStarted)] {
                #expect((capabilities?["format.\(name).decode"]?.boolean == true) == isThere, "\(name)")
                #expect((capabilities?["format.\(name).encode"]?.boolean == true) == isThere, "\(name)")
            }
            #expect(server.finish() == 0)
        }
    }

    @Test func aPhotographOfMorePixelsThanAllowedHasAThumbnail() throws {
        let server = try ServerProcess(cache: folder)
        let limit = #""options":{"maxPixels":1000000}"#
        let thumbnail = try retrieve(server, "jpeg-large.jpg", #""processors":[{"resize":{"width":200}}],\#(limit)"#)
        #expect(thumbnail["width"]?.integer == 200 && thumbnail["height"]?.integer == 150)
        let url = quoted("file://" + Fixtures.folder + "/jpeg-large.jpg")
        for rest in [#""processors":[{"blackWhite":{}}],\#(limit)"#, #""as":"pixels",\#(limit)"#] {
            let reply = try server.call(2, "retrieve", #"{"url":\#(url),\#(rest)}"#)
            #expect(reply["error"]?["data"]?["limit"]?.string == "maxPixels", "\(rest)")
        }
        #expect(server.finish() == 0)
    }

    @Test func resultsSayHowAnImageIsDisplayed() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let pictures = [
            ("jpeg-orientation-6.jpg", 6, false), ("jpeg-photo.jpg", 1, false), ("png-rgba.png", 1, true),
            ("webp-lossy-alpha.webp", 1, true), ("avif-alpha.avif", 1, true), ("jxl-orientation-5.jxl", 5, false),
            ("avif-rotated.avif", 8, false),
        ]
        for isStarted in [false, true] {
            let server = try ServerProcess(cache: folder)
            for (name, orientation, hasAlpha) in pictures {
                let url = quoted(web.url("/" + name))
                let path = quoted(Fixtures.folder + "/" + name)
                for (method, params) in [
                    ("retrieve", #"{"url":\#(url)}"#), ("retrieve", #"{"url":\#(url)}"#),
                    ("inspect", #"{"key":\#(url)}"#),
                    ("probe", #"{"url":\#(url)}"#), ("store", #"{"key":"s-\#(name)","path":\#(path)}"#),
                ] {
                    let result = try #require(try server.call(1, method, params)["result"], "\(method) \(name)")
                    let (width, height) = (result["width"], result["height"])
                    #expect(result["orientation"]?.integer == orientation, "\(method) \(name)")
                    #expect(result["hasAlpha"]?.boolean == hasAlpha, "\(method) \(name)")
                    #expect(result["displayWidth"] == (orientation >= 5 ? height : width), "\(method) \(name)")
                    #expect(result["displayHeight"] == (orientation >= 5 ? width : height), "\(method) \(name)")
                    if method == "retrieve", isStarted { #expect(result["cacheType"]?.string != "none") }
                }
            }
            #expect(server.finish() == 0)
        }
    }

    @Test func aChainThatGoesOnFromWhatIsCachedLoadsNothing() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = quoted(web.url("/png-rgb.png"))
        let first = #"{"resize":{"width":30}}"#
        _ = try server.call(1, "retrieve", #"{"url":\#(url),"processors":[\#(first)]}"#)
        _ = try server.call(2, "remove", #"{"key":\#(url)}"#)
        let both = try server.call(
            3, "retrieve", #"{"url":\#(url),"processors":[\#(first),{"blur":{"radius":2}}]}"#)["result"]
        #expect(both?["width"]?.integer == 30 && both?["cacheType"]?.string == "none")
        #expect(both?["url"]?.string == web.url("/png-rgb.png"))
        #expect(web.requests.count == 1)
        #expect(server.finish() == 0)
    }

    @Test func entitiesOfADrawingAreBoundedByAnOptionThatTheErrorNames() throws {
        let server = try ServerProcess(cache: folder)
        let part = "<!ENTITY p \"\(String(repeating: " ", count: 1000))\">"
        let uses = String(repeating: "&p;", count: 1200)
        let drawing =
            "<?xml version=\"1.0\"?><!DOCTYPE svg [\(part)]><svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><desc>\(uses)</desc></svg>"
        let path = folder + "/drawing.svg"
        try Data(drawing.utf8).write(to: URL(fileURLWithPath: path))
        let start = #"{"url":\#(quoted("file://" + path)),"processors":[{"resize":{"width":3}}]"#
        let refused = try server.call(1, "retrieve", start + "}")["error"]
        #expect(refused?["data"]?["limit"]?.string == "maxEntityBytes", "\(refused?.text ?? "")")
        #expect(refused?["message"]?.string?.contains("raise maxEntityBytes") == true)
        let drawn = try server.call(2, "retrieve", start + #","options":{"maxEntityBytes":1200000}}"#)
        #expect(drawn["result"]?["width"]?.integer == 3, "\(drawn.text)")
        #expect(server.finish() == 0)
    }

    @Test func theWholeLifeOfAVariant() throws {
        let server = try ServerProcess(cache: folder)
        let steps = #""processors":[{"downsample":{"width":20,"height":20}}]"#
        let path = quoted(Fixtures.folder + "/png-rgb.png")
        let foretold = try server.call(1, "cachePath", #"{"key":"k.png",\#(steps)}"#)["result"]
        #expect(foretold?["exists"]?.boolean == false)
        let stored = try server.call(2, "store", #"{"key":"k.png","path":\#(path),\#(steps)}"#)
        #expect(stored["result"]?["width"]?.integer == 20, "\(stored.text)")
        #expect(stored["result"]?["path"] == foretold?["path"])
        #expect(try server.call(3, "isCached", #"{"key":"k.png",\#(steps)}"#)["result"]?["cached"]?.boolean == true)
        #expect(try server.call(4, "isCached", #"{"key":"k.png"}"#)["result"]?["cached"]?.boolean == true)
        let inspected = try server.call(5, "inspect", #"{"key":"k.png",\#(steps)}"#)["result"]
        #expect(inspected?["processorIdentifier"]?.string == "downsample.1(width=20,height=20)")
        // From what is stored, without any network.
        let made = try server.call(
            6, "retrieve", #"{"url":"http://127.0.0.1:1/none","key":"k.png","processors":[{"blackWhite":{}}]}"#)
        #expect(made["result"]?["width"]?.integer == 61, "\(made.text)")
        #expect(try server.call(7, "remove", #"{"key":"k.png",\#(steps)}"#)["result"]?["removed"]?.boolean == true)
        #expect(try server.call(8, "isCached", #"{"key":"k.png"}"#)["result"]?["cached"]?.boolean == true)
        _ = try server.call(9, "remove", #"{"key":"k.png","allVariants":true}"#)
        let size = try server.call(10, "calculateSize")["result"]
        #expect(size?["disk"]?["count"]?.integer == 0)
        #expect(server.finish() == 0)
    }

    @Test func noBombGoesOff() throws {
        let server = try ServerProcess(cache: folder)
        func bomb(_ bytes: [UInt8]) throws -> JSON {
            let path = folder + "/bomb"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return try server.call(
                1, "retrieve", #"{"url":\#(quoted("file://" + path)),"processors":[{"resize":{"width":9}}]}"#)
        }
        var wide = try Fixtures.bytes("png-rgb.png")
        wide.replaceSubrange(16..<24, with: [0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF])
        #expect(try bomb(wide)["error"]?["data"]?["limit"]?.string == "maxPixels")
        let laughs = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }
        let svg =
            "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY l0 \"ha\">\(laughs.joined())]>"
            + "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9\" height=\"9\"><text>&l9;</text></svg>"
        #expect(try bomb(Array(svg.utf8))["error"] != nil)
        var cut = try Fixtures.bytes("png-rgb.png")
        // Damaged inside: whole by its structure, and no image.
        for place in 60..<90 { cut[place] ^= 0x5A }
        #expect(try bomb(cut)["error"]?["data"]?["name"]?.string == "badData")
        #expect(try server.call(2, "calculateSize")["result"]?["disk"]?["count"]?.integer == 0)
        #expect(try retrieve(server, "png-rgb.png", #""processors":[{"blackWhite":{}}]"#)["width"]?.integer == 61)
        #expect(server.finish() == 0)
    }
}
