public import ImageRecipes

/// What codec workers read and write.
///
/// Announced without starting one: that would cost every client what few need. A worker whose library lacks something says
/// so when it starts, and from then on that counts.
public struct CodecFormats: Sendable, Equatable {
    /// The formats that are decoded.
    public let decoded: [ImageFormat]
    /// The formats that are written, and known again when they are read.
    public let encoded: [EncodedFormat]

    /// What the workers of this build read and write, where the library lacks nothing.
    public init() {
        decoded = ImageFormat.allCases
        encoded = EncodedFormat.allCases.filter { ImageFormat(rawValue: $0.rawValue) != nil }
    }

    /// What a worker has said of itself, as far as it is of use here.
    init(_ facts: CodecFacts) {
        let all = CodecFormats()
        decoded = all.decoded.filter { facts.decodes.contains($0.rawValue) }
        encoded = all.encoded.filter { facts.encodes.contains($0.rawValue) }
    }
}
