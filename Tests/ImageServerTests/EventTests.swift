import JSONRPC
import Synchronization
import TestSupport
import Testing

@testable import ImageEngine
@testable import ImageServer

/// Nothing is sent without a subscription (protocol 2, A-092).
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
        manager = ImageManager(ImageManager.Configuration(cacheRoot: folder.path))
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

    /// C-02.
    @Test func changedImagesAreToldToSubscribersOnly() throws {
        let change = ImageChange(cache: "thumbs", key: "k", url: "http://h/a")
        server.report(change)
        server.subscriptions.add(["image/didChange"])
        server.report(change)
        #expect(sent.all.map(\.method) == ["image/didChange"])
        #expect(try sent.all[0].params == JSON(#"{"cache":"thumbs","key":"k","url":"http://h/a"}"#))
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
