internal import CVips
internal import ImageFormats
internal import ImageRecipes

extension ImageFormat {
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
        case .jp2: hv_jp2
        case .pnm: hv_pnm
        case .pdf: hv_pdf
        case .bmp, .ico, .icns: nil
        }
    }

    /// The part of the library that must be prepared before the format can be decoded or encoded.
    var part: CodecPart? { CodecPart(format: rawValue) }

    /// The name of the decoder in libvips, where not every build of the library has it.
    var operation: String? {
        switch self {
        case .jp2: "jp2kload_source"
        case .pnm: "ppmload_source"
        default: nil
        }
    }

    /// `true` when files of the format store each pixel exactly, so that an opaque result stays lossless too.
    var isLossless: Bool {
        switch self {
        case .png, .gif, .tiff, .bmp, .ico, .svg, .pnm, .icns, .pdf: true
        case .jpeg, .webp, .avif, .heic, .jxl, .jp2: false
        }
    }
}
