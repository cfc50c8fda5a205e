import TestSupport
import Testing

/// Animations through the real binary and the real worker: which frames a result has, which it lacks, and when they are shown.
@Suite(.onThreads)
struct AnimationProcessTests: FixtureRetrieving {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    @Test func theFirstFrameAfterTheWholeAnimationAndTheOtherWayRound() throws {
        let server = try ServerProcess(cache: folder)
        for _ in 0..<2 {
            #expect(try retrieve(server, "gif-animated.gif", #""as":"path""#)["frameCount"]?.integer == 4)
            let first = try retrieve(server, "gif-animated.gif", #""options":{"onlyLoadFirstFrame":true}"#)
            #expect(first["frameCount"]?.integer == 1 && first["format"]?.string == "png")
        }
        let still = try retrieve(server, "jpeg-photo.jpg", #""options":{"onlyLoadFirstFrame":true}"#)
        #expect(still["processorIdentifier"]?.string == "", "a still has one frame: nothing is made")
        let third = try retrieve(server, "gif-animated.gif", #""options":{"frame":2}"#)
        #expect(third["frameCount"]?.integer == 1)
        let none = try server.call(
            2, "retrieve", #"{"url":\#(file("gif-animated.gif")),"options":{"frame":99}}"#)
        #expect(none["error"] != nil)
        #expect(server.finish() == 0)
    }

    /// A format without animations is a still, as everybody knows; one that has them would hide the loss.
    @Test func animationIsNotMadeAStillByAFormatThatHasAnimations() throws {
        let server = try ServerProcess(cache: folder)
        for (name, count) in [("gif-animated.gif", 4), ("png-animated.png", 3)] {
            for format in ["avif", "heic", "jxl"] {
                let asked = [
                    #""processors":[{"format":{"to":"\#(format)"}}]"#,
                    #""options":{"cacheSerializer":{"format":"\#(format)"}}"#,
                ]
                for rest in asked {
                    let reply = try server.call(2, "retrieve", #"{"url":\#(file(name)),\#(rest)}"#)
                    let error = reply["error"]
                    #expect(error?["data"]?["name"]?.string == "processingFailed", "\(format) \(reply.text)")
                    let message = error?["message"]?.string ?? ""
                    #expect(
                        message.contains("an animation of \(count) frames") && message.contains("onlyLoadFirstFrame"))
                }
                let frame = #""processors":[{"format":{"to":"\#(format)"}}],"options":{"onlyLoadFirstFrame":true}"#
                let still = try retrieve(server, name, frame)
                #expect(still["frameCount"]?.integer == 1 && still["format"]?.string == format)
            }
            #expect(
                try retrieve(server, name, #""processors":[{"format":{"to":"webp"}}]"#)["frameCount"]?.integer == count)
            #expect(try retrieve(server, name, #""processors":[{"format":{"to":"jpeg"}}]"#)["frameCount"]?.integer == 1)
        }
        #expect(server.finish() == 0)
    }

    @Test func framesThatAResultLacksAreToldAlsoByTheCacheAndOfPixels() throws {
        let cases: [(name: String, steps: String, lost: Int?)] = [
            ("gif-animated.gif", #""processors":[{"format":{"to":"jpeg"}}]"#, 3),
            ("gif-animated.gif", #""processors":[{"format":{"to":"webp"}}]"#, nil),
            ("gif-animated.gif", #""processors":[{"format":{"to":"jpeg"}}],"options":{"frame":1}"#, nil),
            ("avif-animated.avif", #""processors":[{"resize":{"width":10}}]"#, 2),
            ("tiff-two-pages.tiff", #""processors":[{"resize":{"width":10}}]"#, 1),
        ]
        for from in ["none", "disk"] {
            let server = try ServerProcess(cache: folder)
            for (name, steps, lost) in cases {
                let result = try retrieve(server, name, steps)
                #expect(result["framesDropped"]?.integer == lost && result["cacheType"]?.string == from, "\(result)")
                #expect(try retrieve(server, name, steps)["framesDropped"]?.integer == lost, "\(name)")
            }
            let pixels = try retrieve(server, "avif-animated.avif", #""as":"pixels""#)["pixels"]
            #expect(pixels?["frameCount"]?.integer == 1 && pixels?["framesDropped"]?.integer == 2)
            let whole = try retrieve(server, "jxl-animated.jxl", #""as":"pixels""#)["pixels"]
            #expect(whole?["frameCount"]?.integer == 3 && whole?["framesDropped"] == nil)
            #expect(server.finish() == 0)
        }
    }

    @Test func animationsSayWhenTheirFramesAreShown() throws {
        let server = try ServerProcess(cache: folder)
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        for name in ["gif-animated.gif", "png-animated.png", "webp-animated.webp"] {
            let whole = try retrieve(server, name, #""as":"path""#)
            let times = try #require(whole["frameSeconds"], "\(whole.text)")
            let loops = try #require(whole["loopCount"])
            #expect(times.elements?.count == whole["frameCount"]?.integer, "\(name)")
            let former = whole["delays"]?.elements?.compactMap(\.integer)
            #expect(former == times.elements?.map { Int((($0.real ?? -1) * 1000).rounded()) }, "in milliseconds")
            let pixels = try retrieve(server, name, #""as":"pixels""#)["pixels"]
            #expect(pixels?["frameSeconds"] == times && pixels?["loopCount"] == loops, "\(name)")
            let made = try retrieve(server, name, #""processors":[{"resize":{"width":8}}]"#)
            #expect(made["frameSeconds"] == times && made["loopCount"] == loops, "\(name)")
            let still = try retrieve(server, name, #""options":{"onlyLoadFirstFrame":true}"#)
            #expect(still["frameSeconds"] == nil && still["loopCount"] == nil, "\(name)")
            let url = #"{"url":\#(quoted(web.url("/" + name)))}"#
            for method in ["probe", "download", "retrieve", "retrieve", "probe"] {
                let result = try server.call(2, method, url)["result"]
                #expect(result?["frameSeconds"] == times && result?["loopCount"] == loops, "\(method) \(name)")
            }
        }
        #expect(try retrieve(server, "jpeg-photo.jpg", #""as":"path""#)["frameSeconds"] == nil)
        #expect(server.finish() == 0)
    }
}
