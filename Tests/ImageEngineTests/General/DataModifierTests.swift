import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Bodies that are Base64 text of the picture.
@Suite struct DataModifierTests {
    private let engine: TestEngine
    private let picture = hollowPNG(width: 7, count: 5000)
    private let large = hollowPNG(width: 9, count: 3_000_001)

    init() throws { engine = try TestEngine() }

    private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
    private func base64Lines(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString(options: [.lineLength76Characters, .endLineWithCarriageReturn])
    }

    private func server(_ text: String) throws -> LocalServer {
        try LocalServer { _ in .reply(200, ["Content-Type": "text/plain", "ETag": "\"1\""], Array(text.utf8)) }
    }

    // MARK: The text

    private func read(_ text: String, in pieces: Int) throws(Base64TextReader.Failure) -> [UInt8] {
        var (reader, bytes, rest) = (Base64TextReader(), [UInt8](), Array(text.utf8)[...])
        while !rest.isEmpty {
            try reader.read(rest.prefix(pieces), into: &bytes)
            rest = rest.dropFirst(pieces)
        }
        try reader.finish(into: &bytes)
        return bytes
    }

    @Test func everyWayToWriteItIsReadInPiecesOfAnySize() throws {
        var generator = SeededGenerator(seed: 7)
        for count in 0..<40 {
            let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            let text = base64(bytes)
            let bare = text.replacing("=", with: "")
            let texts = [
                text, bare, text.replacing("+", with: "-").replacing("/", with: "_"), "\r\n \t" + text + "\n\n",
                text.map { "\($0) " }.joined(), base64Lines(bytes), "data:image/png;base64," + text,
                "\n DATA:;charset=utf-8;BASE64," + text,
            ]
            for text in texts {
                for pieces in [1, 2, 3, 7, 1000] { #expect(try read(text, in: pieces) == bytes, "\(text)") }
            }
        }
    }

    @Test(arguments: [
        "A", "AAAAA", "AA=", "AAAA=", "A===", "AA===", "AA==AA", "AA=A", "=", "A!AA", "AAAA\0", "é", "data:", "data:x",
        "data:image/png,AAAA", "data:;base64;x,AAAA", "data:;base64,A", "data :,", "<html></html>", "\u{FEFF}AAAA",
    ])
    func whatIsNoneIsRefused(_ text: String) throws {
        for pieces in [1, 3, 1000] {
            let error = #expect(throws: Base64TextReader.Failure.self) { try read(text, in: pieces) }
            #expect(error?.reason.hasSuffix(".") == true)
        }
    }

    @Test func aDataURLWithoutACommaIsNotReadForEver() throws {
        #expect(throws: Base64TextReader.Failure.self) {
            try read("data:" + String(repeating: "x", count: 5000) + ";base64,AAAA", in: 1000)
        }
    }

    // MARK: Downloads

    @Test func thePictureIsKeptAndAnsweredAsItIs() async throws {
        for bytes in [picture, large] {
            for text in [base64(bytes), "data:image/png;base64,\n" + base64Lines(bytes)] {
                let server = try server(text)
                defer { server.stop() }
                let result = try await engine.image(server.url("/a"), bytes: true) { $0.network.dataModifier = .base64 }
                #expect(result.bytes == bytes && result.record.byteCount == bytes.count)
                #expect(result.record.header.format == .png && result.record.path?.hasSuffix(".png") == true)
                // What is cached is the picture, whoever asks.
                #expect(try await engine.image(server.url("/a"), bytes: true).bytes == bytes)
                #expect(server.requests.count == 1)
            }
        }
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
    }

    @Test func wrongTextIsRefusedAndNothingIsKept() async throws {
        let server = try server(base64(picture).dropLast(3) + "!!!")
        defer { server.stop() }
        for count in 1...2 {
            let error = try #require(
                try await engine.failure(server.url("/a")) {
                    $0.network.dataModifier = .base64
                    $0.network.retry = RetryStrategy(maxRetries: 3, interval: .seconds(0))
                })
            #expect(error.name == "dataModifyingFailed" && "\(error)".contains("dataModifier"), "\(error)")
            #expect(!error.isRetryable && server.requests.count == count)
        }
        #expect(engine.blobs.isEmpty)
        try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
        for _ in 0..<2 {
            let error = try await engine.failure(server.url("/b")) {
                $0.network.dataModifier = .base64
                $0.lookup.negativeCache = 60
            }
            #expect(error?.name == "dataModifyingFailed")
        }
        #expect(server.requestCount("/b") == 1, "it would come again")
    }

    @Test func whatIsNoPictureAfterThatIsBadData() async throws {
        let server = try server(base64(Array("no picture".utf8)))
        defer { server.stop() }
        #expect(try await engine.failure(server.url("/a")) { $0.network.dataModifier = .base64 }?.name == "badData")
        #expect(try await engine.failure(server.url("/a"))?.name == "badData", "nor is the text itself")
    }

    /// They share what is sent and what comes, and no more.
    @Test func callersWhoWantItOtherwiseDoNotShareTheAnswer() async throws {
        let (gate, text) = (Gate(), Array(base64(picture).utf8))
        let server = try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(200, [:], text)) }
        defer { server.stop() }
        let url = server.url("/a")
        async let changed = engine.image(url) { $0.network.dataModifier = .base64 }
        async let same = engine.image(url) { $0.network.dataModifier = .base64 }
        async let plain = engine.failure(url)
        try await eventually { server.requests.count == 1 && engine.manager.statistics.merged == 2 }
        gate.open()
        #expect(try await changed.record.header.width == 7)
        #expect(try await same.record.header.width == 7)
        #expect(try await plain?.name == "badData")
    }

    /// Bytes are counted as they come; digests are those of the picture.
    @Test func limitsAreOnWhatComesAndDigestsOnWhatIsMadeOfIt() async throws {
        let text = base64(picture)
        let server = try server(text)
        defer { server.stop() }
        let digest = "sha256-" + Data(picture.withUnsafeBytes { Digest(of: $0) }.bytes).base64EncodedString()
        func failure(_ most: Int, _ integrity: String) async throws -> String? {
            try await engine.failure(server.url("/a")) {
                $0.lookup.forceRefresh = true
                $0.network.dataModifier = .base64
                $0.network.limits.maxBytes = most
                $0.lookup.integrity = Integrity(integrity)
            }?.name
        }
        #expect(try await failure(text.utf8.count, digest) == nil)
        #expect(try await failure(text.utf8.count - 1, digest) == "limitExceeded")
        let other = "sha256-" + Data(Digest(of: text).bytes).base64EncodedString()
        #expect(try await failure(text.utf8.count, other) == "badData")
    }

    @Test func aProbeReadsAllOfTheText() async throws {
        let server = try server("data:image/png;base64," + base64(large))
        defer { server.stop() }
        let probed = try await engine.manager.probe(
            Resource(url: server.url("/a")), in: engine.cache,
            options: ImageOptions { $0.network.dataModifier = .base64 })
        #expect(probed.byteCount == large.count && probed.probe.width == 9)
        #expect(server.requests.allSatisfy { $0.headers["range"] == nil })
    }

    @Test func aServerThatConfirmsTheTextConfirmsThePicture() async throws {
        let text = Array(base64(picture).utf8)
        let server = try LocalServer { request in
            request.headers["if-none-match"] == nil
                ? .reply(200, ["ETag": "\"1\""], text) : .reply(304, ["ETag": "\"1\""], [])
        }
        defer { server.stop() }
        for _ in 0..<2 {
            let result = try await engine.image(server.url("/a"), bytes: true) {
                $0.network.dataModifier = .base64
                $0.lookup.revalidate = .always
            }
            #expect(result.bytes == picture)
        }
        #expect(server.requests.count == 2)
    }
}
