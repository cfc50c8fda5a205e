/// A format that images can be encoded in, and what its files can hold.
public enum EncodedFormat: String, Hashable, Sendable, CaseIterable {
    case png, jpeg, gif, webp, avif, heic, tiff, bmp, ico, jxl

    /// `true` when the format stores transparency.
    public var hasAlpha: Bool { self != .jpeg }

    /// `true` when the format supports animations and the worker writes them.
    public var isAnimated: Bool { self == .gif || self == .webp || self == .png }

    /// `true` when there are animations in the format.
    public var hasAnimations: Bool { isAnimated || self == .avif || self == .heic || self == .jxl }

    /// `true` when a file loses something of its pixels, unless it is asked to lose nothing.
    public var isLossy: Bool {
        switch self {
        case .jpeg, .webp, .avif, .heic, .jxl: true
        case .png, .gif, .tiff, .bmp, .ico: false
        }
    }

    /// `true` when a file can hold all colours of eight bits, if it is asked to lose nothing.
    public var isLossless: Bool { self != .jpeg && self != .gif }

    /// `true` when a file holds a colour profile.
    public var hasProfile: Bool { self != .gif && self != .bmp && self != .ico }

    /// `true` when samples of 16 bits are kept in more than eight.
    public var hasSixteenBits: Bool {
        switch self {
        case .png, .tiff, .avif, .heic, .jxl: true
        case .jpeg, .gif, .webp, .bmp, .ico: false
        }
    }

    /// The default quality, 1…100, on the scale of JPEG: every format looks about the same at it.
    public var quality: Int { isLossy ? 80 : 100 }
}
