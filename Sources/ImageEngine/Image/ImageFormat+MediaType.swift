extension ImageFormat {
    /// Other names by which servers call the format.
    private var otherNames: [String] {
        switch self {
        case .png: ["image/x-png", "image/apng", "image/vnd.mozilla.apng"]
        case .jpeg: ["image/jpg", "image/pjpeg"]
        case .bmp: ["image/x-bmp", "image/x-ms-bmp", "image/x-win-bitmap"]
        case .ico: ["image/ico", "image/vnd.microsoft.icon"]
        case .svg: ["text/xml", "application/xml", "image/svg"]
        case .heic: ["image/heif", "image/heic-sequence", "image/heif-sequence"]
        case .avif: ["image/avif-sequence", "image/heif"]
        case .jxl: ["image/x-jxl"]
        case .gif, .webp, .tiff: []
        }
    }

    /// Whether a server may call the format so; what says nothing contradicts nothing.
    func mayBeCalled(_ contentType: String) -> Bool {
        if contentType == mimeType { return true }
        let type = MediaType.essence(contentType)
        return ["", "application/octet-stream", "binary/octet-stream", "application/force-download", mimeType]
            .contains(type) || otherNames.contains(type)
    }
}

/// Media types as servers give them (RFC 9110, 8.3.1).
enum MediaType {
    /// Type and subtype in small letters, without parameters.
    static func essence(_ text: String) -> String {
        // By bytes while it is ASCII, as nearly all are: this is looked at for each image that is stored.
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            return String((text.split(separator: ";").first ?? "").filter { !$0.isWhitespace }).lowercased()
        }
        let type = text.utf8.drop { $0 == UInt8(ascii: ";") }.prefix { $0 != UInt8(ascii: ";") }
        let letters = type.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        return String(decoding: letters, as: UTF8.self).asciiLowercased
    }

    /// Whether a type is one of those that patterns such as `image/*` name.
    static func matches(_ text: String, _ patterns: Set<String>) -> Bool {
        let type = essence(text)
        let group = type.split(separator: "/").first.map { $0 + "/*" } ?? ""
        return !patterns.isDisjoint(with: [type, group, "*/*"])
    }
}
