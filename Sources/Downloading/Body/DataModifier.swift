internal import ImageErrors
internal import Platform

/// The decoding of a downloaded body that happens before anything inspects it.
public enum DataModifier: String, Sendable, Hashable, CaseIterable {
    /// The body is Base64 text, or a data URL that contains some; see ``Base64TextReader``.
    case base64
}

extension DataModifier {
    /// The decoded body: in memory while it is small, then in a file. Waits for the disk.
    ///
    /// - Complexity: O(bytes) in time, O(1) in memory.
    package func modified(_ body: DownloadedBody, of source: String, in place: SpoolPlace) throws -> DownloadedBody {
        let spool = BodySpool(place)
        var reader = Base64TextReader()
        var bytes: [UInt8] = []
        func flush() throws {
            try bytes.withUnsafeBytes { try spool.append($0, expected: nil) }
            bytes.removeAll(keepingCapacity: true)
        }
        do {
            try body.forEachPiece { piece in
                // A body in memory comes in one piece.
                for start in stride(from: 0, to: piece.count, by: 1 << 16) {
                    try reader.read(piece[start..<min(start + (1 << 16), piece.count)], into: &bytes)
                    try flush()
                }
            }
            try reader.finish(into: &bytes)
            try flush()
            return try spool.finish()
        } catch let failure as Base64TextReader.Failure {
            throw ImageError.dataModifyingFailed(reason: failure.reason, source: source)
        } catch {
            throw ImageError.storage(error, folder: "the cache folder")
        }
    }
}
