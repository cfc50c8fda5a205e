import JSONRPC
import Synchronization
import TestSupport
import Testing

@testable import ImageEngine
@testable import ImageServer

/// Nothing is sent without a subscription.
@Suite struct EventTests {
    private final class Sent: Sendable {
        private let messages = Mutex<[(method: String, params: JSON?)]>([])
        var all: [(method: String, params: JSON?)] { messages.withLock { $0 } }

        func add(_ method: StaticString, _ params: (inout JSONWriter) -> Void) {
            var writer = JSONWriter()
            params(&writer)
            let bytes = writer.bytes
            messages.withLock { $0.append((method.description, try? JSON(bytes))) }
        }
    }

    private let folder: TemporaryFolder
    private let manager: ImageManager
    private let server: ImageServer
    private let sent = Sent()

    init() throws {
        folder = try TemporaryFolder()
        manager = ImageManager(EngineConfiguration(cacheRoot: folder.path))
        server = ImageServer(manager: manager)
        var hooks = ImageServer.Hooks()
        hooks.notify = { [sent] in sent.add($0, $1) }
        server.use(hooks)
    }

    private func clean(_ reason: CleaningReport.Reason = .expired) throws {
        let cache = try #require(manager.cache("thumbs"))
        cache.onClean(
            CleaningReport(cache: cache.name, hashes: ["ab", "cd"], keys: ["k", nil], bytes: 7, reason: reason))
    }

    @Test func cleaningIsToldToSubscribersOnly() throws {
        try clean()
        #expect(sent.all.isEmpty)
        server.subscriptions.add(["cache/didClean"])
        try clean(.sizeLimit)
        let event = try #require(sent.all.first)
        #expect(event.method == "cache/didClean")
        #expect(
            try event.params
                == JSON(#"{"cache":"thumbs","hashes":["ab","cd"],"keys":["k",null],"reason":"sizeLimit"}"#))
        server.subscriptions.remove(["cache/didClean"])
        try clean()
        #expect(sent.all.count == 1)
    }

    private var report: DownloadReport {
        var report = DownloadReport(url: "http://a/1")
        report.finalURL = "http://a/2"
        (report.status, report.bytes, report.seconds) = (200, 5, 1.25)
        (report.dns, report.connect, report.tls, report.firstByte) = (0.5, 0.1234567, 0, 1)
        (report.isReused, report.redirects, report.httpVersion) = (true, 1, "1.1")
        return report
    }

    @Test func theEndOfATransferIsToldToSubscribersOnly() throws {
        server.report(report)
        #expect(sent.all.isEmpty)
        server.subscriptions.add(["download/didFinish"])
        server.report(report)
        var failed = DownloadReport(url: "http://a/1")
        failed.error = .timedOut(url: "http://a/1", option: "timeout", seconds: 15)
        server.report(failed)
        failed.isCancelled = true
        server.report(failed)
        #expect(
            try sent.all.first?.params
                == JSON(
                    #"""
                    {"url":"http://a/1","finalUrl":"http://a/2","finalURL":"http://a/2","statusCode":200,"status":200,
                    "byteCount":5,"bytes":5,"resumedBytes":0,"seconds":1.25,
                    "timings":{"dns":0.5,"connect":0.123457,"tls":0.0,"firstByte":1.0},"reused":true,"redirects":1,
                    "httpVersion":"1.1","fromRevalidation":false,"error":null}
                    """#))
        #expect(sent.all.map { $0.params?["error"] } == [.null, .string("timedOut"), .string("requestCancelled")])
        #expect(sent.all.last?.params?["statusCode"] == .null)
        server.subscriptions.remove(["download/didFinish"])
        server.report(report)
        #expect(sent.all.count == 3)
    }

    @Test func linesOfTheLogAreToldToSubscribersOnlyAndNotTooMany() throws {
        func log() { server.report(level: "warning", message: "m", metadata: [("a", "1")]) }
        log()
        #expect(sent.all.isEmpty)
        server.subscriptions.add(["log"])
        for _ in 0..<10_000 { log() }
        #expect((100...2000).contains(sent.all.count))
        #expect(sent.all.first?.method == "log")
        #expect(try sent.all.first?.params == JSON(#"{"level":"warning","message":"m","metadata":{"a":"1"}}"#))
        server.subscriptions.remove(["log"])
        let count = sent.all.count
        log()
        #expect(sent.all.count == count)
    }

    /// Telling may bring about a line of the log, which would be told…
    @Test func whatTellingBringsAboutIsNotTold() throws {
        var hooks = ImageServer.Hooks()
        hooks.notify = { [sent, weak server] in
            sent.add($0, $1)
            server?.report(level: "warning", message: "told something", metadata: [])
        }
        server.use(hooks)
        server.subscriptions.add(Event.names)
        server.report(level: "warning", message: "m", metadata: [])
        server.report(report)
        try clean()
        #expect(sent.all.map(\.method) == ["log", "download/didFinish", "cache/didClean"])
    }

    @Test func changedImagesAreToldToSubscribersOnly() throws {
        let change = ImageChange(cache: "thumbs", key: "k", url: "http://h/a", path: "/a b.png")
        server.report(change)
        server.subscriptions.add(["image/didChange"])
        server.report(change)
        #expect(sent.all.map(\.method) == ["image/didChange"])
        #expect(try sent.all[0].params == JSON(#"{"cache":"thumbs","key":"k","url":"http://h/a","path":"/a b.png"}"#))
    }

    @Test func nothingIsSentAfterShutdown() throws {
        server.subscriptions.add(["cache/didClean"])
        server.shutDown()
        try clean()
        #expect(sent.all.isEmpty)
    }

    @Test func everyEventIsACapabilityAndInTheDocument() throws {
        let document = try JSON(OpenRPCDocument.text)
        #expect(document["x-events"]?.elements?.map { $0["name"]?.string } == Event.names)
        #expect(InitializeReply.capabilities.contains("event.cache.didClean"))
        for event in Event.all { #expect(event.summary.hasSuffix(".")) }
    }
}
