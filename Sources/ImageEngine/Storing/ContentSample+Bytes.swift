internal import Platform

extension ContentSample {
    /// The sample of content with the given start.
    ///
    /// - Parameter start: At least the first 512 bytes, or all there are.
    init(_ start: [UInt8], contentType: String? = nil) {
        self.init(type: Self.type(start), firstBytes: Array(start.prefix(32)), contentType: contentType)
    }

    /// The sample without bytes of what is no picture: a file on this machine is not read to who may only have its pictures.
    var ofLocalFile: ContentSample {
        type?.hasPrefix("image/") == true ? self : ContentSample(type: type, contentType: contentType)
    }

    /// The media type of content by its start, with some of the rules of the WHATWG's MIME Sniffing.
    private static func type(_ start: [UInt8]) -> String? {
        if start.isEmpty { return nil }
        if let format = start.withUnsafeBytes({ ImageFormat(signatureOf: $0) }) { return format.mimeType }
        let signatures: [([UInt8], String)] = [
            (Array("PK\u{3}\u{4}".utf8), "application/zip"), ([0x1F, 0x8B, 8], "application/gzip"),
            (Array("8BPS".utf8), "image/vnd.adobe.photoshop"),
        ]
        if let match = signatures.first(where: { start.starts(with: $0.0) }) { return match.1 }
        let isText = start.prefix(512).allSatisfy { $0 >= 0x20 || [0x09, 0x0A, 0x0C, 0x0D, 0x1B].contains($0) }
        guard isText else { return "application/octet-stream" }
        let bytes = start.starts(with: [0xEF, 0xBB, 0xBF]) ? start.dropFirst(3) : start[...]
        let text = String(decoding: bytes.drop { $0 <= 0x20 }.prefix(64), as: UTF8.self).lowercased()
        if ["<!doctype html", "<html", "<head", "<body", "<title", "<script", "<!--"].contains(where: text.hasPrefix) {
            return "text/html"
        }
        if text.hasPrefix("<?xml") { return "text/xml" }
        return text.hasPrefix("{") || text.hasPrefix("[") ? "application/json" : "text/plain"
    }
}

extension DiskStorage.Content {
    /// The first bytes, for a ``ContentSample``; empty when they cannot be read.
    var start: [UInt8] {
        switch self {
        case .bytes(let bytes): Array(bytes.prefix(512))
        case .file(let path, _): Self.start(of: path)
        case .body(let body):
            switch body.place {
            case .memory(let bytes): Array(bytes.prefix(512))
            case .file(let path), .unnamed(let path): Self.start(of: path)
            }
        }
    }

    /// The first bytes of a file; empty when it cannot be read.
    static func start(of path: String) -> [UInt8] {
        (try? Descriptor(reading: path, followsLinks: true).bytes(512)) ?? []
    }
}
