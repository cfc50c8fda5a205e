import Foundation
import Glibc
import TestSupport
import Testing

/// Progress in both dialects.
@Suite(.onThreads)
struct ProgressTests {
    private let cache = try? TemporaryFolder()
    private var folder: String { cache?.path ?? "" }

    /// A picture that comes in pieces, each when its gate opens.
    private struct Pieces {
        let gates = (0..<4).map { _ in Gate() }
        let bytes: [UInt8]
        let web: LocalServer

        init(hasLength: Bool) throws {
            let bytes = try Fixtures.bytes("jpeg-large.jpg")
            var script = Script.head(
                200, hasLength ? [:] : ["Connection": "close"], length: hasLength ? bytes.count : nil)
            for (index, gate) in gates.enumerated() {
                let (start, end) = (bytes.count * index / gates.count, bytes.count * (index + 1) / gates.count)
                script = script.waiting(for: gate).raw(Array(bytes[start..<end]))
            }
            if !hasLength { script = script.closing() }
            self.bytes = bytes
            web = try LocalServer(routes: ["/large.jpg": script])
        }
    }

    /// Lets the pieces come, each when something has been told since the one before, and returns everything up to the
    /// response.
    private func listen(_ server: ServerProcess, _ pieces: Pieces) throws -> (notes: [JSON], response: JSON) {
        var rest = pieces.gates[...]
        rest.popFirst()?.open()
        var notes: [JSON] = []
        while let message = try server.next() {
            if message["method"] == nil { return (notes, message) }
            notes.append(message)
            rest.popFirst()?.open()
        }
        throw PatienceExhausted(description: "the server ended instead of answering")
    }

    @Test(arguments: [true, false])
    func progressOfLanguageServersGrowsAndEndsBeforeTheResponse(hasLength: Bool) throws {
        let pieces = try Pieces(hasLength: hasLength)
        defer { pieces.web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.request(
            1, "retrieve", #"{"url":\#(quoted(pieces.web.url("/large.jpg"))),"workDoneToken":"token é"}"#)
        let (notes, response) = try listen(server, pieces)
        #expect(response["result"]?["byteCount"]?.integer == pieces.bytes.count)
        #expect(
            notes.allSatisfy { $0["method"]?.string == "$/progress" && $0["params"]?["token"]?.string == "token é" })
        let values = notes.compactMap { $0["params"]?["value"] }
        let kinds = values.compactMap { $0["kind"]?.string }
        #expect(kinds.first == "begin")
        #expect(kinds.last == "end")
        #expect(kinds.dropFirst().dropLast().allSatisfy { $0 == "report" })
        #expect(kinds.count > 2)
        #expect(values.first?["title"]?.string?.isEmpty == false)
        let reports = values.filter { $0["kind"]?.string == "report" }
        let received = reports.compactMap { $0["receivedBytes"]?.integer }
        #expect(received.count == reports.count)
        #expect(zip(received, received.dropFirst()).allSatisfy { $0 < $1 }, "\(received)")
        #expect(values.last?["receivedBytes"]?.integer == pieces.bytes.count)
        for report in reports {
            #expect(report["totalBytes"] == (hasLength ? .integer(pieces.bytes.count) : .null))
            #expect((report["percentage"] != nil) == hasLength)
        }
        server.closeInput()
        #expect(try server.rest().isEmpty)
        #expect(server.exitCode() == 0)
    }

    @Test(arguments: [true, false])
    func progressOfToolServersGrowsAndEndsBeforeTheResponse(hasLength: Bool) throws {
        let pieces = try Pieces(hasLength: hasLength)
        defer { pieces.web.stop() }
        let server = try ServerProcess(cache: folder)
        try server.request(
            1, "retrieve", #"{"url":\#(quoted(pieces.web.url("/large.jpg"))),"_meta":{"progressToken":7}}"#)
        let (notes, response) = try listen(server, pieces)
        #expect(response["result"]?["byteCount"]?.integer == pieces.bytes.count)
        #expect(notes.count > 1)
        #expect(notes.allSatisfy { $0["method"]?.string == "notifications/progress" })
        #expect(notes.allSatisfy { $0["params"]?["progressToken"]?.integer == 7 })
        let progress = notes.compactMap { $0["params"]?["progress"]?.integer }
        #expect(zip(progress, progress.dropFirst()).allSatisfy { $0 < $1 }, "\(progress)")
        #expect(progress.last == pieces.bytes.count)
        #expect(notes.allSatisfy { $0["params"]?["total"]?.integer == (hasLength ? pieces.bytes.count : nil) })
        server.closeInput()
        #expect(try server.rest().isEmpty)
        #expect(server.exitCode() == 0)
    }

    @Test func progressWithoutADownloadDoesNotEndWithANumberOfBytes() throws {
        let web = try LocalServer(routes: ["/a": .reply(200, [:], try Fixtures.bytes("png-rgb.png"))])
        defer { web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = quoted(web.url("/a"))
        #expect(try server.call(1, "retrieve", #"{"url":\#(url)}"#)["result"]?["cacheType"]?.string == "none")
        let forms = [#""as":"data""#, #""as":"pixels""#, #""processors":[{"blur":{"radius":3}}]"#, #""key":"none""#]
        for (number, form) in forms.enumerated() {
            let options = #""options":{"onlyFromCache":true},"workDoneToken":1"#
            try server.request(2 + number, "retrieve", #"{"url":\#(url),\#(form),\#(options)}"#)
            var last: JSON?
            while let message = try server.next(), message["id"] == nil { last = message["params"]?["value"] }
            guard let last else { continue }
            #expect(last["kind"]?.string == "end" && last["message"]?.string == "nothing was downloaded", "\(form)")
            #expect(last["receivedBytes"]?.integer == 0 && last["totalBytes"] == .null)
        }
        #expect(web.requests.count == 1 && server.finish() == 0)
    }

    @Test func anImageThatIsCachedHasABeginningAndAnEndOfItsProgress() throws {
        let server = try ServerProcess(cache: folder)
        let path = quoted(Fixtures.folder + "/png-rgb.png")
        _ = try server.call(1, "store", #"{"key":"a","path":\#(path)}"#)
        try server.request(2, "retrieve", #"{"key":"a","workDoneToken":1}"#)
        var kinds: [String?] = []
        while let message = try server.next(), message["id"] == nil {
            kinds.append(message["params"]?["value"]?["kind"]?.string)
        }
        #expect(kinds == ["begin", "end"])
        #expect(server.finish() == 0)
    }

    @Test func cancelledRequestHasNoProgressAfterItsAnswer() throws {
        let pieces = try Pieces(hasLength: true)
        defer { pieces.web.stop() }
        let server = try ServerProcess(cache: folder)
        let url = quoted(pieces.web.url("/large.jpg"))
        try server.request(1, "retrieve", #"{"url":\#(url),"workDoneToken":1,"_meta":{"progressToken":1}}"#)
        // A second caller keeps the download going.
        try server.request(2, "retrieve", #"{"url":\#(url)}"#)
        pieces.gates[0].open()
        while let message = try server.next(), message["params"]?["value"]?["kind"]?.string != "report" {}
        try server.notify("$/cancelRequest", #"{"id":1}"#)
        while let message = try server.next(), message["id"]?.integer != 1 { #expect(message["method"] != nil) }
        for gate in pieces.gates { gate.open() }
        let reply = try server.next()
        #expect(reply?["id"]?.integer == 2)
        #expect(reply?["result"]?["byteCount"]?.integer == pieces.bytes.count)
        #expect(server.finish() == 0)
    }

    /// Whatever of the image is wanted, it is waited for in the same way.
    @Test(arguments: ["path", "none", "data", "both", "dataUrl"], ["{}", #"{"retry":{"maxRetries":1}}"#])
    func everyFormHasItsProgressAndIsCancelledAlone(form: String, options: String) throws {
        let pieces = try Pieces(hasLength: true)
        defer { pieces.web.stop() }
        let server = try ServerProcess(cache: folder)
        let params =
            #"{"url":\#(quoted(pieces.web.url("/large.jpg"))),"as":"\#(form)","options":\#(options),"workDoneToken":"t"}"#
        for id in 1...2 { try server.request(id, "retrieve", params) }
        var kinds: [String] = []
        while let message = try server.next() {
            if let kind = message["params"]?["value"]?["kind"]?.string {
                kinds.append(kind)
                if kinds == ["begin", "begin"] { try server.notify("$/cancelRequest", #"{"id":1}"#) }
            }
            guard let id = message["id"]?.integer else { continue }
            if id == 1 {
                #expect(message["error"]?["data"]?["name"] == .string("requestCancelled"))
                #expect(kinds.count { $0 == "end" } == 1)
                for gate in pieces.gates { gate.open() }
                continue
            }
            let result = try #require(message["result"])
            #expect(result["byteCount"]?.integer == pieces.bytes.count)
            let data = (result["data"] ?? result["dataUrl"])?.string?.split(separator: ",").last
            #expect(
                data.flatMap { Data(base64Encoded: String($0)) }.map([UInt8].init)
                    == (["path", "none"].contains(form) ? nil : pieces.bytes))
            break
        }
        #expect(kinds.count { $0 == "begin" } == 2 && kinds.count { $0 == "end" } == 2)
        #expect(server.finish() == 0 && pieces.web.requests.count == 1)
    }

    /// A client shows what has begun until it hears of the end.
    @Test(arguments: ["cancel", "tool", "slot", "all", "signal"])
    func progressThatHasBegunEndsBeforeTheAnswerAlsoOfACancelledRequest(way: String) throws {
        let pieces = try Pieces(hasLength: true)
        defer { pieces.web.stop() }
        defer { for gate in pieces.gates { gate.open() } }
        let server = try ServerProcess(cache: folder)
        let params = #"{"url":\#(quoted(pieces.web.url("/large.jpg"))),"options":{"slot":"s"}"#
        try server.request(1, "retrieve", params + #","workDoneToken":1,"_meta":{"progressToken":2}}"#)
        pieces.gates[0].open()
        while let message = try server.next(), message["params"]?["value"]?["kind"]?.string != "report" {}
        switch way {
        case "cancel": try server.notify("$/cancelRequest", #"{"id":1}"#)
        case "tool": try server.notify("notifications/cancelled", #"{"requestId":1}"#)
        case "slot": try server.request(2, "retrieve", #"{"url":"data:,x","options":{"slot":"s"}}"#)
        case "all": try server.request(2, "cancelAll")
        default: server.signal(SIGTERM)
        }
        if way == "tool" { try server.request(2, "ping") }
        var messages: [JSON] = []
        while let message = try server.next() {
            messages.append(message)
            // The answer to what was cancelled; or, where there is none, to what came after.
            if message["id"]?.integer == (way == "tool" ? 2 : 1) { break }
        }
        let tokens = messages.compactMap { $0["params"]?["progressToken"] }
        // A report of before may still have been on its way, but nobody is told anew of what is cancelled.
        #expect(tokens.count <= 1, "\(messages)")
        let values = messages.compactMap { $0["params"]?["value"] }.filter { $0["kind"]?.string != "report" }
        #expect(values.count == 1, "\(messages)")
        #expect(values.first?["kind"]?.string == "end" && values.first?["message"]?.string == "cancelled")
        #expect((values.first?["receivedBytes"]?.integer ?? 0) > 0)
        #expect(messages.last?["error"]?["code"]?.integer == (way == "tool" ? nil : way == "signal" ? -32802 : -32800))
        for gate in pieces.gates { gate.open() }
        server.closeInput()
        #expect(try server.rest().allSatisfy { $0["method"] == nil })
    }

    @Test func aCancelledPrefetchEndsItsProgress() throws {
        let pieces = try Pieces(hasLength: true)
        defer { pieces.web.stop() }
        defer { for gate in pieces.gates { gate.open() } }
        let server = try ServerProcess(cache: folder)
        let url = quoted(pieces.web.url("/large.jpg"))
        try server.request(1, "prefetch", #"{"urls":[\#(url)],"workDoneToken":1}"#)
        #expect(try server.next()?["params"]?["value"]?["kind"]?.string == "begin")
        try server.notify("$/cancelRequest", #"{"id":1}"#)
        let end = try server.next()?["params"]?["value"]
        #expect(end?["kind"]?.string == "end" && end?["message"]?.string == "cancelled after 0 of 1 images")
        #expect(try server.next()?["error"]?["code"]?.integer == -32800)
        server.closeInput()
        #expect(try server.rest().isEmpty)
    }

    @Test func nothingIsSentThatNobodyAskedFor() throws {
        let pieces = try Pieces(hasLength: true)
        defer { pieces.web.stop() }
        for gate in pieces.gates { gate.open() }
        let server = try ServerProcess(cache: folder)
        #expect(
            try server.call(1, "retrieve", #"{"url":\#(quoted(pieces.web.url("/large.jpg")))}"#)["id"]?.integer == 1)
        server.closeInput()
        #expect(try server.rest().isEmpty)
    }
}
