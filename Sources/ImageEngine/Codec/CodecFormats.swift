public import ImageRecipes

/// The formats that codec workers read and write.
///
/// They are announced without starting a worker, because most clients need none. A worker whose library lacks a format
/// reports that when it starts; from then on its report applies.
public struct CodecFormats: Sendable, Equatable {
    /// The formats that workers decode.
    public let decoded: [ImageFormat]
    /// The formats that workers write and the engine recognises when it reads them.
    public let encoded: [EncodedFormat]

    /// The `Accept` field of requests that do not set one, with weights as browsers send them (RFC 9110, 12.5.1): formats
    /// with small files first, then the common ones, then the rest. Other images and other types come last, because a wrong
    /// media type from a server is no reason to fail; so do the formats that no server has beside another one, JPEG 2000,
    /// PNM, ICNS and PDF.
    ///
    /// It depends on the build, not on a worker's report: no worker is started for it, two callers for one image send the
    /// same field and can share a download, and an image stored with `Vary: Accept` matches later requests too.
    static let accept =
        "image/avif,image/webp,image/png;q=0.9,image/jpeg;q=0.9,image/gif;q=0.9,image/svg+xml;q=0.9,"
        + "image/jxl;q=0.8,image/heic;q=0.8,image/tiff;q=0.8,image/bmp;q=0.8,image/x-icon;q=0.8,image/*;q=0.5,*/*;q=0.1"

    /// The formats of this build's workers, with a complete library.
    public init() {
        decoded = ImageFormat.allCases
        encoded = EncodedFormat.allCases.filter { ImageFormat(rawValue: $0.rawValue) != nil }
    }

    /// The formats that a worker has reported, as far as the engine can use them.
    init(_ facts: CodecFacts) {
        let all = CodecFormats()
        decoded = all.decoded.filter { facts.decodes.contains($0.rawValue) }
        encoded = all.encoded.filter { facts.encodes.contains($0.rawValue) }
    }
}
