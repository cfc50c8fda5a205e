/// A picture format that is recognised from its signature.
public enum ImageFormat: String, Sendable, CaseIterable {
    case png, jpeg, gif, webp, avif, heic, tiff, bmp, ico, svg, jxl

    /// The media type, as browsers name it (WHATWG MIME Sniffing, section 6.1).
    public var mimeType: String {
        switch self {
        case .ico: "image/x-icon"
        case .svg: "image/svg+xml"
        default: "image/\(rawValue)"
        }
    }

    /// The extension that files of the format get.
    public var fileExtension: String {
        self == .jpeg ? "jpg" : rawValue
    }

    /// The format that a file extension names, in any letter case; nil for an extension we do not know.
    public init?(fileExtension: String) {
        switch fileExtension.lowercased() {
        case "jpg", "jpeg", "jpe", "jfif": self = .jpeg
        case "png", "apng": self = .png
        case "tif", "tiff": self = .tiff
        case "heic", "heif": self = .heic
        case let name:
            guard let format = ImageFormat(rawValue: name) else { return nil }
            self = format
        }
    }

    /// Recognises the format from the full signature; the rest of the bytes is not looked at.
    package static func sniff(_ bytes: inout some ByteSource) -> ImageFormat? {
        if bytes.matches([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], at: 0) { return .png }
        if bytes.matches([0xFF, 0xD8, 0xFF], at: 0) { return .jpeg }
        if bytes.matches("GIF87a", at: 0) || bytes.matches("GIF89a", at: 0) { return .gif }
        if bytes.matches("RIFF", at: 0), bytes.matches("WEBP", at: 8) { return .webp }
        if bytes.matches("ftyp", at: 4) { return sniffBrands(&bytes) }
        if bytes.matches([0x49, 0x49, 0x2A, 0x00], at: 0) || bytes.matches([0x4D, 0x4D, 0x00, 0x2A], at: 0) {
            return .tiff
        }
        if bytes.matches("BM", at: 0), [12, 40, 52, 56, 64, 108, 124].contains(bytes.little32(at: 14)) { return .bmp }
        if bytes.matches([0x00, 0x00, 0x01, 0x00], at: 0), bytes.little16(at: 4) > 0, bytes.byte(at: 9) == 0 {
            return .ico
        }
        if bytes.matches(JXLCodestream.start, at: 0) || bytes.matches(JXLCodestream.signature, at: 0) { return .jxl }
        return ImageHeader.svgRoot(&bytes) == nil ? nil : .svg
    }

    /// ISO/IEC 14496-12, section 4.3: the major brand, then a version, then the compatible brands.
    private static func sniffBrands(_ bytes: inout some ByteSource) -> ImageFormat? {
        let size = min(bytes.big32(at: 0), 256)
        var isHEIF = false
        for place in [8] + Array(stride(from: 16, to: max(size - 3, 16), by: 4)) {
            if bytes.matches("avif", at: place) || bytes.matches("avis", at: place) { return .avif }
            for brand in ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"] as [StaticString] {
                if bytes.matches(brand, at: place) { isHEIF = true }
            }
        }
        return isHEIF ? .heic : nil
    }
}
