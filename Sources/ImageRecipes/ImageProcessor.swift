/// One step of the making of a picture from another.
///
/// Every value is valid: its parts are checked when they are made. Two processors are equal exactly when their identifiers
/// are, and then they make the same pixels. The EXIF orientation is applied, once, before the first of a chain.
public enum ImageProcessor: Hashable, Sendable {
    /// Shrinks the picture while it is decoded until it lies within the size, and never enlarges it.
    case downsample(PixelSize)
    /// Gives the picture another size.
    case resize(Resize)
    /// Takes a part of the picture.
    case crop(Crop)
    /// Makes the corners round and transparent.
    case roundCorner(RoundCorner)
    /// Blurs the picture.
    case blur(Blur)
    /// Lays a colour over the picture.
    case overlay(Overlay)
    /// Gives every pixel that is not transparent the colour, keeping its alpha (Core Image's source-in).
    case tint(RecipeColor)
    /// Changes brightness, contrast, saturation and exposure.
    case colorControls(ColorControls)
    /// Makes greys of the picture: saturation 0 and an exposure of 0.7 stops, as Kingfisher does.
    case blackWhite
    /// Draws a line along the edges.
    case border(Border)
    /// Mixes the picture with a colour below it.
    case blend(Blend)
    /// Lays the picture over a colour.
    case compositing(Compositing)
    /// Turns the picture.
    case rotate(Rotation)
    /// Says what format the result gets. The last of a chain counts, and it changes no pixels.
    case format(FormatChange)

    /// The names on the wire, in the order of the documentation.
    public static let names = [
        "downsample", "resize", "crop", "roundCorner", "blur", "overlay", "tint", "colorControls", "blackWhite",
        "border", "blend", "compositing", "rotate", "format",
    ]

    /// The name on the wire.
    public var name: String {
        switch self {
        case .downsample: "downsample"
        case .resize: "resize"
        case .crop: "crop"
        case .roundCorner: "roundCorner"
        case .blur: "blur"
        case .overlay: "overlay"
        case .tint: "tint"
        case .colorControls: "colorControls"
        case .blackWhite: "blackWhite"
        case .border: "border"
        case .blend: "blend"
        case .compositing: "compositing"
        case .rotate: "rotate"
        case .format: "format"
        }
    }

    /// Whether it leaves every picture as it is, so that a chain is better off without it (B-086).
    public var isIdentity: Bool {
        if case .blur(let blur) = self { blur.radius == 0 } else { false }
    }

    /// Up to so many pixels in a frame a picture is resampled in memory by our own arithmetic; a larger one is streamed
    /// through libvips, whose pixels are a little different.
    public static let mostPixelsInMemory = 2_000_000

    /// Whether it leaves the pixels of every picture alone, once that is upright.
    public var changesNothing: Bool {
        switch self {
        case .format, .rotate(.auto), .rotate(.degrees(0)): true
        default: isIdentity
        }
    }

    /// Whether it begins by giving the picture another size, so that a decoder may do that when it is the first step.
    public var isResampling: Bool {
        switch self {
        case .downsample, .resize: true
        case .roundCorner(let round): round.targetSize != nil
        default: false
        }
    }
}
