internal import Platform

/// The `Accept` of requests that say nothing themselves: pure.
///
/// It is the same for the whole life of a process, and by the build, not by what a worker says of itself: no worker is
/// started for it, two callers who ask for one image always send the same, so that they may share a download, and what was
/// stored by `Vary: Accept` suits the next request as it suited the first.
enum AcceptHeader {
    /// The text of the field.
    ///
    /// - Parameter formats: What is decoded here; nil when nothing is, for then every picture is as good as any other.
    /// - Returns: Types in the order in which they are wanted, with weights as browsers give them (RFC 9110, 12.5.1): small
    ///   files first, then what the web is made of, then the rest; other pictures and other things last, for a server
    ///   that calls its pictures something else is no reason to fail.
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
