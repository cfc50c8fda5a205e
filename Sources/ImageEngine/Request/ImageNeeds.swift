/// What a result must hold of its image.
public struct ImageNeeds: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Needs with the given bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A file that exists when the result does.
    public static let file = ImageNeeds(rawValue: 1)
    /// The bytes; even where the disk cannot be written, as long as the image can be had.
    public static let bytes = ImageNeeds(rawValue: 2)
    /// A file of raw pixels instead of an image; see ``PixelFile``.
    public static let pixels = ImageNeeds(rawValue: 4)
}
