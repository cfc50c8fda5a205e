internal import CCodings
internal import HTTPSemantics
internal import ImageErrors

/// Undoes the content codings of a body, piece by piece (RFC 9110, 8.4).
///
/// A server may send them although nobody accepts any. What is decoded is bounded by the ratio to what has come, in each of the
/// codings, because a few bytes may stand for gigabytes. What follows the end of the coded data is ignored, unless it is another
/// member (RFC 1952, 2.2) or frame (RFC 8878, 3). Confined to the receiving thread.
final class BodyDecoder {
    /// The reason why a body cannot be decoded.
    enum Failure: Error {
        case damaged(ContentCoding)
        case endsTooEarly(ContentCoding)
        case isUnavailable(ContentCoding)
        case exceedsRatio
    }

    private struct Stage {
        let coding: ContentCoding
        let decoder: OpaquePointer
        let piece = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 64 << 10)
        /// `true` when the data has ended, and nothing of another member has been decoded.
        var hasEnded = false
    }

    /// The largest number of decoded bytes for each byte received.
    fileprivate static let ratio = 200
    /// The number of decoded bytes up to which the ratio does not matter.
    private static let exemptBytes = 8 << 20

    private var stages: [Stage] = []
    /// The number of coded bytes.
    private(set) var received = 0
    /// The first of them.
    private(set) var firstBytes: [UInt8] = []
    private var decoded = 0

    /// - Parameter codings: In the order in which they were applied.
    init(_ codings: [ContentCoding]) throws(Failure) {
        for coding in codings.reversed() {
            guard let decoder = hc_decoder_open(coding.number) else { throw .isUnavailable(coding) }
            stages.append(Stage(coding: coding, decoder: decoder))
        }
    }

    deinit {
        for stage in stages {
            hc_decoder_close(stage.decoder)
            stage.piece.deallocate()
        }
    }

    /// Calls `body` with what `data` stands for, in pieces, until it returns `false`.
    func decode(_ data: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Bool) throws(Failure) -> Bool {
        received += data.count
        if firstBytes.isEmpty { firstBytes = Array(data.prefix(32)) }
        return try decode(data, at: 0, body)
    }

    private func decode(
        _ data: UnsafeRawBufferPointer, at number: Int, _ body: (UnsafeRawBufferPointer) -> Bool
    ) throws(Failure) -> Bool {
        guard number < stages.count else { return body(data) }
        let (coding, piece) = (stages[number].coding, stages[number].piece)
        var (input, count) = (data.baseAddress?.assumingMemoryBound(to: UInt8.self), data.count)
        var room = 0
        while count > 0 || room == 0 {
            if stages[number].hasEnded, !coding.hasMembers || count == 0 { return true }
            room = piece.count
            let before = count
            let state = hc_decode(stages[number].decoder, &input, &count, piece.baseAddress, &room)
            let made = piece.count - room
            decoded += made
            if decoded > max(Self.exemptBytes, Self.ratio * received) { throw .exceedsRatio }
            if made > 0 { stages[number].hasEnded = false }
            let output = UnsafeRawBufferPointer(start: piece.baseAddress, count: made)
            if made > 0, try !decode(output, at: number + 1, body) { return false }
            switch state {
            case HC_END: stages[number].hasEnded = true
            case HC_MORE where made > 0 || count < before || count == 0: break
            case _ where stages[number].hasEnded: return true
            default: throw .damaged(coding)
            }
        }
        return true
    }

    /// `true` when the end of the data has come.
    var hasEnded: Bool { received == 0 || stages.allSatisfy(\.hasEnded) }

    /// Fails when the end of the data has not come. An empty body is not coded at all.
    func finish() throws(Failure) {
        guard received > 0, let cut = stages.first(where: { !$0.hasEnded }) else { return }
        throw .endsTooEarly(cut.coding)
    }
}

extension BodyDecoder.Failure {
    /// The reason as a sentence, in the error of an image.
    func error(of url: String, contentType: String?, firstBytes: [UInt8]) -> ImageError {
        func bad(_ coding: ContentCoding, _ reason: String) -> ImageError {
            .badData(
                reason: "The server says that it is compressed (Content-Encoding: \(coding.rawValue)), \(reason).",
                source: url, sample: ContentSample(firstBytes: firstBytes, contentType: contentType))
        }
        switch self {
        case .damaged(let coding): return bad(coding, "but it is not, or is damaged")
        case .endsTooEarly(let coding): return bad(coding, "and it ends too early")
        case .isUnavailable(let coding):
            return bad(
                coding, "and \(String(cString: hc_decoder_library(coding.number))) cannot be loaded to undo that")
        case .exceedsRatio:
            let reason = "decompressed it is more than \(BodyDecoder.ratio) times as large as what the server sent"
            return .limitExceeded(limit: ImageError.decompressionRatio, reason: reason, source: url)
        }
    }
}

extension ContentCoding {
    fileprivate var number: hc_coding {
        switch self {
        case .gzip: HC_GZIP
        case .deflate: HC_DEFLATE
        case .brotli: HC_BROTLI
        case .zstd: HC_ZSTD
        }
    }
}
