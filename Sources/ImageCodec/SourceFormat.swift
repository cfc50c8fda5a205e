internal import CVips
internal import ImageRecipes

/// A format of source files, by the name that the server's signature detection uses.
enum SourceFormat: String, CaseIterable {
    case png, jpeg, gif, webp, avif, heic, tiff, bmp, ico, svg, jxl

    /// The decoder of libvips; nil when the decoder is in this module.
    var loader: hv_loader? {
        switch self {
        case .png: hv_png
        case .jpeg: hv_jpeg
        case .gif: hv_gif
        case .webp: hv_webp
        case .avif, .heic: hv_heif
        case .tiff: hv_tiff
        case .svg: hv_svg
        case .jxl: hv_jxl
        case .bmp, .ico: nil
        }
    }

    /// The part of the library that must be prepared before the format can be decoded or encoded.
    var part: CodecPart? { CodecPart(format: rawValue) }

    /// `true` when it is drawn at any size, and has none of its own in pixels.
    var isVector: Bool { self == .svg }

    /// `true` when files of the format store each pixel exactly, so that an opaque result stays lossless too.
    var isLossless: Bool {
        switch self {
        case .png, .gif, .tiff, .bmp, .ico, .svg: true
        case .jpeg, .webp, .avif, .heic, .jxl: false
        }
    }
}

/// The way in which a file keeps its samples, which the results of automatic outputs keep too.
enum SourceCoding {
    /// Whatever the format has.
    case usual
    /// A WebP without loss.
    case losslessWebP
    /// A PNG or GIF whose pixels are numbers of colours.
    case palette

    /// The coding that the first bytes tell.
    init(of file: SourceBytes, _ format: SourceFormat) {
        switch format {
        case .gif: self = .palette
        // The type of colours in IHDR (PNG, 11.2.2).
        case .png where file.byte(25) == 3: self = .palette
        case .webp where Self.isLosslessWebP(file): self = .losslessWebP
        default: self = .usual
        }
    }

    /// `true` when the first picture of a WebP has no loss (RFC 9649, sections 2.5 to 2.7). That of an animation is in a
    /// chunk of its frame.
    ///
    /// - Complexity: O(chunks before the first picture).
    private static func isLosslessWebP(_ file: SourceBytes) -> Bool {
        var place = 12
        while let size = file.little32(place + 4) {
            if file.matches("VP8L", at: place) { return true }
            if file.matches("VP8 ", at: place) { return false }
            place += file.matches("ANMF", at: place) ? 24 : 8 + size + size & 1
        }
        return false
    }
}
