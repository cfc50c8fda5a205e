internal import Platform

/// The `Accept` field of requests that do not set one, as a pure function.
///
/// It depends on the build, not on a worker's reported formats, and is constant for the life of a process: no worker is
/// started for it, two callers for one image send the same field and can share a download, and an image stored with
/// `Vary: Accept` matches later requests too.
enum AcceptHeader {
    /// The value of the field.
    ///
    /// - Parameter formats: The formats that can be decoded; `nil` for none: then all formats are equal.
    /// - Returns: The types by preference, with weights as browsers send them (RFC 9110, 12.5.1): formats with small
    ///   files first, then the common ones, then the rest. Other images and other types come last, because a wrong
    ///   media type from a server is no reason to fail; so do the formats that no server has beside another one, JPEG 2000,
    ///   PNM, ICNS and PDF.
    static func text(decoding formats: [ImageFormat]?) -> String {
        guard let formats else { return TransportSettings.anyImage }
        let types = ranks.flatMap { rank in
            rank.formats.filter(formats.contains).map { $0.mimeType + rank.weight }
        }
        return (types + ["image/*;q=0.5", "*/*;q=0.1"]).joined(separator: ",")
    }

    private static let ranks: [(formats: [ImageFormat], weight: String)] = [
        ([.avif, .webp], ""), ([.png, .jpeg, .gif, .svg], ";q=0.9"), ([.jxl, .heic, .tiff, .bmp, .ico], ";q=0.8"),
    ]
}
