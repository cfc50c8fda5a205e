import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import DownloadRecording
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Bodies that their server compressed although nobody had asked for it.
@Suite struct ContentCodingTests {
    private let engine: TestEngine
    private static let drawing = ascii(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"40\" height=\"30\">"
            + "<rect width=\"40\" height=\"30\" fill=\"#a0b0c0\"/></svg>\n")
    private var drawing: [UInt8] { Self.drawing }

    init() throws { engine = try TestEngine() }

    private static func decoded(_ text: String) -> [UInt8] { Data(base64Encoded: text).map(Array.init) ?? [] }

    private static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try Command.shell("gzip -n", input: bytes).output }

    /// - Parameter window: 15 with the header of zlib, -15 without.
    private static func deflate(_ bytes: [UInt8], window: Int = 15) throws -> [UInt8] {
        let program = "import sys,zlib;c=zlib.compressobj(9,8,\(window));d=sys.stdin.buffer.read();"
        return try Command.shell(
            "python3 -c '\(program)sys.stdout.buffer.write(c.compress(d)+c.flush())'", input: bytes
        ).output
    }

    /// The drawing, as the encoders of the two formats write it.
    private static let brotli = decoded(
        "G3IAAORt+50Vxlewqa5fUhG0KsopB+wB1gKONMEILnTwkJVmD4xu5bzxEt8Ky4wg9NleNCx43nCwM+yGCUx28yt4xD7XUkiFKjkBmuBoAQ==")
    private static let zstd = decoded(
        "KLUv/QRozQIAwgUUF4BtDpCoQxFnT2nBMDNDnEQrourp5sB0QFsp5mp5TRTRIziD8DGKkyVa7Uqcsdu3OHUtzhwrr9VXiqmqQ270CEQL"
            + "3Z1pQMzuLDqwmdRKcQUBAASoVRQWbjPT")
    /// 100 MB of nothing.
    private static let brotliBomb = decoded(
        "y///PwAkAOKxQHLv//j//weABEAcFoDu/R////8AkACIwwLQvf/j//8fABIAcVgAuvd//P//A0ACIA4LQPf+j///fwBIAMRhAeje//H//w8ACY"
            + "A4LADd+z/+//8BIAEQhwWge//H//8/ACQA4rAAdO//+P//B4AEQBwWgO79H////wCQAIjDAtC9/8t/8DoAEgBxWAC62HU=")

    /// What the only answer of a server becomes.
    ///
    /// - Parameter chunk: The size of the chunks that it comes in; nil for none.
    private func image(
        _ coding: String, _ body: [UInt8], chunk: Int? = nil, _ change: (inout ImageOptions) -> Void = { _ in },
        report: (@Sendable (DownloadProgress) -> Void)? = nil
    ) async throws -> ImageResult {
        let server = try LocalServer { _ in
            guard let chunk else { return .reply(200, ["Content-Encoding": coding], body) }
            let fields = ["Content-Encoding": coding, "Transfer-Encoding": "chunked"]
            let chunks = stride(from: 0, to: body.count, by: chunk).flatMap { start in
                let piece = body[start..<min(start + chunk, body.count)]
                return ascii(String(piece.count, radix: 16) + "\r\n") + piece + ascii("\r\n")
            }
            return Script.head(200, fields, length: nil).raw(chunks + ascii("0\r\n\r\n"))
        }
        defer { server.stop() }
        return try await engine.image(server.url("/a"), bytes: true, change, report: report)
    }

    private func failure(
        _ coding: String, _ body: [UInt8], _ change: (inout ImageOptions) -> Void = { _ in }
    ) async throws -> ImageError? {
        do {
            _ = try await image(coding, body, change)
            return nil
        } catch let error as ImageError {
            #expect(engine.blobs.isEmpty)
            try await eventually("no part is left") { [engine] in engine.partials.isEmpty }
            return error
        }
    }

    private func reason(_ error: ImageError?) -> String? {
        if case .badData(let reason, _, _) = error { reason } else { nil }
    }

    private func limit(_ error: ImageError?) -> String? {
        if case .limitExceeded(let limit, _, _) = error { limit } else { nil }
    }

    @Test func compressedBodyIsWhatItStandsFor() async throws {
        let gzip = try Self.gzip(drawing)
        let bodies: [(String, [UInt8])] = [
            ("gzip", gzip), ("GZIP", gzip), ("x-gzip", gzip), ("aws-chunked,gzip", gzip), ("identity, gzip", gzip),
            ("deflate", try Self.deflate(drawing)), ("deflate", try Self.deflate(drawing, window: -15)),
            ("br", Self.brotli), ("zstd", Self.zstd),
            ("br, gzip", try Self.gzip(Self.brotli)), ("gzip, gzip", try Self.gzip(gzip)),
            ("gzip,deflate,gzip", try Self.gzip(Self.deflate(gzip))),
        ]
        for (coding, body) in bodies {
            let image = try await image(coding, body) { $0.lookup.forceRefresh = true }
            #expect(image.bytes == drawing, "\(coding)")
            #expect(image.record.byteCount == drawing.count && image.record.header.format == .svg)
            #expect(image.record.checksum == drawing.withUnsafeBytes { Digest(of: $0) })
        }
        // What is no compression, though it stands there: the bytes decide.
        for coding in ["identity", "identity, identity", "none", "utf-8", "binary", "aws-chunked", ""] {
            #expect(try await image(coding, drawing).bytes == drawing, "\(coding)")
        }
    }

    @Test func largeCompressedBodyInSmallPiecesGoesThroughAFile() async throws {
        let picture = hollowPNG(width: 9, count: 1 << 20)
        let reports = Gathered<DownloadProgress>()
        let image = try await image("gzip", try Self.gzip(picture), chunk: 1000, report: { reports.add($0) })
        #expect(image.bytes == picture && image.record.checksum == picture.withUnsafeBytes { Digest(of: $0) })
        #expect(reports.all.last?.received == picture.count && reports.all.allSatisfy { $0.total == nil })
        #expect(try Files.read(try #require(image.record.path), followsLinks: false) == picture)
    }

    @Test func digestIsOfWhatTheBodyStandsFor() async throws {
        func integrity(_ bytes: [UInt8]) throws -> Integrity {
            let digest = bytes.withUnsafeBytes { Digest(of: $0) }
            return try #require(Integrity("sha256-" + Data(digest.bytes).base64EncodedString()))
        }
        let (gzip, right) = (try Self.gzip(drawing), try integrity(drawing))
        #expect(try await image("gzip", gzip) { $0.lookup.integrity = right }.bytes == drawing)
        let wrong = try integrity(gzip)
        await #expect(throws: ImageError.self) { try await image("gzip", gzip) { $0.lookup.integrity = wrong } }
    }

    /// RFC 1952, 2.2, and RFC 8878, 3. Browsers ignore what else follows the end.
    @Test func furtherMembersBelongToTheBodyAndOtherRestDoesNot() async throws {
        let (front, back) = (Array(drawing[..<50]), Array(drawing[50...]))
        let gzip = try Self.gzip(front) + Self.gzip(back)
        #expect(try await image("gzip", gzip).bytes == drawing)
        #expect(try await image("gzip", gzip, chunk: 7) { $0.lookup.forceRefresh = true }.bytes == drawing)
        let rests: [[UInt8]] = [zeros(600), ascii("\r\n"), ascii("0123456789"), [0x1F], [0x1F, 0x8B, 8]]
        for rest in rests {
            for (coding, body) in [
                ("gzip", gzip), ("br", Self.brotli), ("zstd", Self.zstd), ("deflate", try Self.deflate(drawing)),
            ] {
                #expect(try await image(coding, body + rest).bytes == drawing, "\(coding) \(rest)")
            }
        }
        #expect(try await image("zstd", Self.zstd + Self.zstd).bytes == drawing + drawing)
    }

    @Test func bodyThatIsNotWhatItsServerSaysIsBadData() async throws {
        for coding in ["gzip", "br", "deflate", "zstd", "deflate, gzip"] {
            let error = try await failure(coding, drawing)
            #expect(
                reason(error)?.contains("but it is not, or is damaged") == true,
                "\(coding): \(String(describing: error))")
            guard case .badData(_, _, let sample) = error else { continue }
            #expect(sample?.firstBytes == Array(drawing.prefix(32)), "it shows what came")
        }
        var gzip = try Self.gzip(drawing)
        gzip[gzip.count - 6] ^= 1
        #expect(reason(try await failure("gzip", gzip))?.contains("damaged") == true, "its checksum is wrong")
        for coding in ["compress", "dcb", "sdch", "gzip, xz", "gzip,gzip,gzip,gzip,gzip,gzip"] {
            let error = try await failure(coding, drawing)
            #expect(reason(error)?.contains("in a way that is not undone here (\(coding))") == true, "\(coding)")
        }
    }

    @Test func compressedBodyWithoutItsEndIsBadData() async throws {
        let bodies = [
            ("gzip", try Self.gzip(drawing)), ("br", Self.brotli), ("zstd", Self.zstd),
            ("deflate", try Self.deflate(drawing)),
        ]
        for (coding, body) in bodies {
            for count in [1, 2, 3, body.count / 2, body.count - 1] {
                let error = try await failure(coding, Array(body[..<count]))
                #expect(
                    reason(error)?.contains("ends too early") == true, "\(coding) \(count) \(String(describing: error))"
                )
            }
        }
    }

    @Test func emptyBodyIsNotCompressedAtAll() async throws {
        let error = try await failure("gzip", [])
        #expect(reason(error) != nil && reason(error)?.contains("compressed") == false)
    }

    @Test func bodyThatStandsForTooMuchIsRefused() async throws {
        let bomb = try Command.shell("head -c 100000000 /dev/zero | gzip -9").output
        let twice = try Self.gzip(bomb)
        for (coding, body) in [("gzip", bomb), ("br", Self.brotliBomb), ("gzip, gzip", twice)] {
            let error = try await failure(coding, body) { $0.network.limits.maxBytes = 1 << 40 }
            #expect(limit(error) == "decompressionRatio", "\(coding) \(String(describing: error))")
            #expect(error?.isRetryable == false && error?.description.hasSuffix("That limit is fixed.") == true)
            #expect(engine.manager.statistics.downloadedBytes < 32 << 20)
        }
        let noise = hollowPNG(width: 5, count: 300_000)
        let gzip = try Self.gzip(noise)
        #expect(limit(try await failure("gzip", gzip) { $0.network.limits.maxBytes = noise.count - 1 }) == "maxBytes")
        // Compressed, noise is a little larger than without.
        #expect(try await image("gzip", gzip) { $0.network.limits.maxBytes = gzip.count }.bytes == noise)
    }

    /// Each block of it stands for nothing.
    @Test func endlessBodyThatStandsForNothingIsRefused() async throws {
        let server = try LocalServer { _ in
            let start: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3]
            let blocks = [[UInt8]](repeating: [0, 0, 0, 0xFF, 0xFF], count: 10_000).flatMap(\.self)
            return Script.head(200, ["Content-Encoding": "gzip"], length: nil).raw(start).endlessly(blocks)
        }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a")) { $0.network.limits.maxBytes = 1 << 20 }
        #expect(limit(error) == "maxBytes")
    }

    @Test func callersOfACompressedBodyAreHeldToTheirOwnLimits() async throws {
        let picture = Self.drawing.dropLast(7) + [UInt8](repeating: 0x20, count: 100_000) + ascii("</svg>\n")
        let body = try Self.gzip(Array(picture))
        let gate = Gate()
        let server = try LocalServer { _ in
            Script.head(200, ["Content-Encoding": "gzip"], length: body.count).waiting(for: gate).raw(body)
        }
        defer { server.stop() }
        let engine = engine
        async let wide = engine.image(server.url("/a"), bytes: true)
        try await eventually("it is under way") { server.requests.count == 1 }
        async let narrow = engine.failure(server.url("/a"), bytes: true) { $0.network.limits.maxBytes = 50_000 }
        try await eventually("it has joined") { engine.manager.statistics.merged == 1 }
        gate.open()
        #expect(try await wide.bytes == Array(picture))
        #expect(limit(try await narrow) == "maxBytes")
        #expect(server.requests.allSatisfy { $0.headers["accept-encoding"] == "identity" })
    }

    /// What is kept of a body that broke off would have to be decoded from its middle.
    @Test func compressedBodyThatBrokeOffIsLoadedAnew() async throws {
        let picture = hollowPNG(width: 9, count: 1 << 20)
        let body = try Self.gzip(picture)
        let first = Counter()
        let server = try LocalServer { _ in
            let head = ["Content-Encoding": "gzip", "ETag": "\"1\"", "Accept-Ranges": "bytes"]
            let script = Script.head(200, head, length: body.count)
            return first.add() == 1 ? script.raw(Array(body[..<500_000])).closing() : script.raw(body)
        }
        defer { server.stop() }
        #expect(try await engine.failure(server.url("/a"))?.isRetryable == true)
        #expect(engine.partials.isEmpty)
        #expect(try await engine.image(server.url("/a"), bytes: true).bytes == picture)
        #expect(server.requests.allSatisfy { $0.headers["range"] == nil })
    }

    /// The range is one of the compressed bytes.
    @Test func beginningOfACompressedBodyIsEnoughForAProbe() async throws {
        let picture = hollowPNG(width: 9, count: 1 << 20)
        let (large, small) = (try Self.gzip(picture), try Self.gzip(drawing))
        let server = try LocalServer { request in
            let body = request.path == "/large" ? large : small
            guard let range = request.headers["range"] else { return .reply(500, [:], []) }
            let last = min(range.split(separator: "-").last.flatMap { Int($0) } ?? 0, body.count - 1)
            return .reply(
                206, ["Content-Encoding": "gzip", "Content-Range": "bytes 0-\(last)/\(body.count)"],
                Array(body[...last]))
        }
        defer { server.stop() }
        func probe(_ path: String) async throws -> ProbedImage {
            try await engine.manager.probe(Resource(url: server.url(path)), in: engine.cache, options: ImageOptions())
        }
        let (found, whole) = (try await probe("/large"), try await probe("/small"))
        #expect(found.probe.width == 9 && found.byteCount == nil, "nobody knows how large it is")
        #expect(whole.probe.width == 40 && whole.byteCount == drawing.count)
        #expect(server.requests.count == 2)
    }

    @Test func partFromTheMiddleOfACompressedBodyIsBadData() async throws {
        let body = try Self.gzip(drawing)
        let head = ["Content-Encoding": "gzip", "Content-Range": "bytes 20-\(body.count - 1)/\(body.count)"]
        let server = try LocalServer { _ in .reply(206, head, Array(body[20...])) }
        defer { server.stop() }
        let error = try await engine.failure(server.url("/a")) {
            $0.network.request.headers["Range"] = "bytes=20-"
            $0.network.limits.validStatusCodes = [206]
        }
        #expect(reason(error)?.contains("from the middle") == true)
    }

    @Test func compressedImageIsCheckedByTheTagOfItsCompressedForm() async throws {
        let body = try Self.gzip(drawing)
        let server = try LocalServer { request in
            request.headers["if-none-match"] == "\"1-gzip\""
                ? Script.head(304, ["ETag": "\"1-gzip\"", "Content-Encoding": "gzip"], length: nil)
                : .reply(200, ["Content-Encoding": "gzip", "ETag": "\"1-gzip\""], body)
        }
        defer { server.stop() }
        #expect(try await engine.image(server.url("/a"), bytes: true).bytes == drawing)
        let again = try await engine.image(server.url("/a"), bytes: true) { $0.lookup.revalidate = .always }
        #expect(again.bytes == drawing && again.isRevalidated && server.requests.count == 2)
    }

    @Test func modifierFindsTheTextThatWasCompressed() async throws {
        let text = Array(Data(drawing).base64EncodedString().utf8)
        #expect(try await image("gzip", try Self.gzip(text)) { $0.network.dataModifier = .base64 }.bytes == drawing)
    }
}
