/// A picture format that is recognised from its signature.
public enum ImageFormat: String, Sendable, CaseIterable {
    case png, jpeg, gif, webp, avif, heic, tiff, bmp, ico, svg, jxl, jp2, pnm, icns, pdf

    /// The media type, as browsers name it (WHATWG MIME Sniffing, section 6.1).
    public var mimeType: String {
        switch self {
        case .ico: "image/x-icon"
        case .svg: "image/svg+xml"
        case .pnm: "image/x-portable-anymap"
        case .icns: "image/x-icns"
        case .pdf: "application/pdf"
        default: "image/\(rawValue)"
        }
    }

    /// The pictures of a file that can be decoded.
    public enum Pictures: String, Sendable {
        /// One: the only, the largest or the primary one.
        case one
        /// The frames of an animation.
        case frames
        /// Pages, each of which is a still picture.
        case pages
    }

    /// The pictures of a file that are decoded.
    public var pictures: Pictures {
        switch self {
        case .png, .gif, .webp, .jxl: .frames
        case .tiff: .pages
        case .jpeg, .avif, .heic, .bmp, .ico, .svg, .jp2, .pnm, .icns, .pdf: .one
        }
    }

    /// `true` when it is drawn at any size, and has none of its own in pixels.
    package var isVector: Bool { self == .svg || self == .pdf }

    /// The extension that files of the format get.
    public var fileExtension: String {
        self == .jpeg ? "jpg" : rawValue
    }

    /// The format that a file extension names, in any letter case; nil for an unknown extension.
    public init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "jpg", "jpeg", "jpe", "jfif": self = .jpeg
        case "png", "apng": self = .png
        case "tif", "tiff": self = .tiff
        case "heic", "heif": self = .heic
        case "jp2", "j2k", "j2c", "jpc", "jpf", "jpx": self = .jp2
        case "pnm", "pbm", "pgm", "ppm": self = .pnm
        case let name: self.init(rawValue: name)
        }
    }

    /// The format that bytes begin like; nil for an unknown signature.
    package init?(signatureOf bytes: UnsafeRawBufferPointer) {
        var bytes = MemoryBytes(bytes)
        guard let format = Self.sniff(&bytes) else { return nil }
        self = format
    }

    /// Recognises the format from the full signature; the rest of the bytes is not looked at.
    static func sniff(_ bytes: inout some ByteSource) -> ImageFormat? {
        let start = bytes.big32(at: 0)
        if start == 0x8950_4E47, bytes.big32(at: 4) == 0x0D0A_1A0A { return .png }
        if start >> 8 == 0xFFD8FF { return .jpeg }
        if bytes.matches("GIF87a", at: 0) || bytes.matches("GIF89a", at: 0) { return .gif }
        if bytes.matches("RIFF", at: 0), bytes.matches("WEBP", at: 8) { return .webp }
        if bytes.matches("ftyp", at: 4) { return sniffBrands(&bytes) }
        if bytes.matches("II*\0", at: 0) || bytes.matches("MM\0*", at: 0) { return .tiff }
        if bytes.matches("II+\0\u{8}\0\0\0", at: 0) || bytes.matches("MM\0+\0\u{8}\0\0", at: 0) { return .tiff }
        if bytes.matches("BM", at: 0), [12, 16, 40, 52, 56, 64, 108, 124].contains(bytes.little32(at: 14)) {
            return .bmp
        }
        if start == 0x100, bytes.little16(at: 4) > 0, bytes.byte(at: 9) == 0 { return .ico }
        if start >> 16 == 0xFF0A { return .jxl }
        if start == 12, bytes.name(at: 4) == "JXL ", bytes.big32(at: 8) == 0x0D0A_870A { return .jxl }
        if start == 12, bytes.name(at: 4) == "jP  ", bytes.big32(at: 8) == 0x0D0A_870A { return .jp2 }
        if start == 0xFF4F_FF51 { return .jp2 }
        if bytes.matches("icns", at: 0), bytes.big32(at: 4) > 16 { return .icns }
        if bytes.matches("%PDF-", at: 0) { return .pdf }
        if bytes.pnmHead() != nil { return .pnm }
        return bytes.svgRoot() == nil ? nil : .svg
    }

    /// ISO/IEC 14496-12, section 4.3: the major brand, then a version, then the compatible brands.
    private static func sniffBrands(_ bytes: inout some ByteSource) -> ImageFormat? {
        let size = min(bytes.big32(at: 0), 256)
        var isHEIF = false
        for place in stride(from: 8, to: max(size - 3, 9), by: 4) where place != 12 {
            switch bytes.name(at: place) {
            case "avif", "avis": return .avif
            case "heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1": isHEIF = true
            default: break
            }
        }
        return isHEIF ? .heic : nil
    }
}
