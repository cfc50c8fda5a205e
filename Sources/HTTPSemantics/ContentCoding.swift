/// A compression of a body that is undone (RFC 9110, 8.4.1).
package enum ContentCoding: String, Sendable, Hashable, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// `true` when several coded pieces, one after the other, stand for all of what they stand for.
    package var hasMembers: Bool { self == .gzip || self == .zstd }

    /// The largest number of codings of one body.
    private static let most = 5

    /// The compressions in a `Content-Encoding`, in the order in which they were applied. `nil`: one of them is not undone.
    ///
    /// Only registered or usual compressions count: some servers send "none" or "utf-8" there, or the coding of an upload, and
    /// deliver the bytes unchanged.
    package static func list(in field: String) -> [ContentCoding]? {
        var codings: [ContentCoding] = []
        for name in field.lowercased().split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            if let coding = ContentCoding(rawValue: name == "x-gzip" ? "gzip" : String(name)) {
                codings.append(coding)
            } else if others.contains(name) {
                return nil
            }
        }
        return codings.count <= most ? codings : nil
    }

    private static let others = Set(
        "compress x-compress dcb dcz exi pack200-gzip bzip2 lzma xz sdch".split(separator: " "))
}
