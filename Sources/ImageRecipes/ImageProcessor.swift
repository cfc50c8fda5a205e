/// One step that transforms an image.
///
/// Every value is valid: its parts are checked at initialisation. Two processors are equal exactly when their
/// identifiers are, and then they produce the same pixels. The EXIF orientation is applied once, before the first step
/// of a chain.
public enum ImageProcessor: Hashable, Sendable {
    /// Shrinks the image during decoding until it fits within the size; never enlarges it.
    case downsample(PixelSize)
    /// Changes the size of the image.
    case resize(Resize)
    /// Cuts out a part of the image.
    case crop(Crop)
    /// Rounds the corners and makes them transparent.
    case roundCorner(RoundCorner)
    /// Blurs the image.
    case blur(Blur)
    /// Draws a colour over the image.
    case overlay(Overlay)
    /// Gives every pixel that is not transparent the colour and keeps its alpha (Core Image's source-in).
    case tint(RecipeColor)
    /// Changes brightness, contrast, saturation and exposure.
    case colorControls(ColorControls)
    /// Converts the image to greys: saturation 0 and an exposure of 0.7 stops, as Kingfisher does.
    case blackWhite
    /// Draws a line along the edges.
    case border(Border)
    /// Blends the image with a colour below it.
    case blend(Blend)
    /// Composites the image with a colour by a Porter–Duff operation.
    case compositing(Compositing)
    /// Rotates the image.
    case rotate(Rotation)
    /// Sets the format of the result. The last one of a chain applies; it changes no pixels.
    case format(FormatChange)

    /// The names in the protocol, in the order of the documentation.
    public static let names = [
        "downsample", "resize", "crop", "roundCorner", "blur", "overlay", "tint", "colorControls", "blackWhite",
        "border", "blend", "compositing", "rotate", "format",
    ]

    /// The name in the protocol.
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

    /// `true` when the processor leaves every image unchanged, so that it can be removed from a chain.
    public var isIdentity: Bool {
        if case .blur(let blur) = self { blur.radius == 0 } else { false }
    }

    /// The number of pixels in a frame up to which an image is resampled in memory by this module's own arithmetic.
    /// Larger images are streamed through libvips, whose pixels differ slightly.
    public static let mostPixelsInMemory = 2_000_000

    /// `true` when the processor leaves the pixels of every upright image unchanged.
    public var changesNothing: Bool {
        switch self {
        case .format, .rotate(.auto), .rotate(.degrees(0)): true
        default: isIdentity
        }
    }

    /// `true` when the processor first changes the size of the image, so that as a first step the decoder can do that.
    public var isResampling: Bool {
        switch self {
        case .downsample, .resize: true
        case .roundCorner(let round): round.targetSize != nil
        default: false
        }
    }
}
