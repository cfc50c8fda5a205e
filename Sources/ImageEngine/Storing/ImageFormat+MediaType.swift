internal import Platform

extension ImageFormat {
    /// Other media types that servers use for the format.
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
        case .jp2: ["image/jpx", "image/jpm", "image/j2c", "image/jpeg2000", "image/x-jp2"]
        case .pnm: ["image/x-portable-bitmap", "image/x-portable-graymap", "image/x-portable-pixmap"]
        case .icns: ["image/icns"]
        case .pdf: ["application/x-pdf"]
        case .gif, .webp, .tiff: []
        }
    }

    /// `true` when the content type fits the format; unspecific types fit every format.
    func mayBeCalled(_ contentType: String) -> Bool {
        if contentType == mimeType { return true }
        let type = MediaType.essence(contentType)
        return ["", "application/octet-stream", "binary/octet-stream", "application/force-download", mimeType]
            .contains(type) || otherNames.contains(type)
    }
}
