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
