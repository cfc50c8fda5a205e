public import ImageRecipes

/// What codec workers of this version read and write.
///
/// Announced without starting one: that would cost every client what few need. A worker whose library lacks one of them
/// says so in its error.
public enum CodecFormats {
    /// The formats that are decoded.
    public static let decoded = ImageFormat.allCases
    /// The formats that are written, and known again when they are read.
    public static let encoded = EncodedFormat.allCases.filter { ImageFormat(rawValue: $0.rawValue) != nil }
}
