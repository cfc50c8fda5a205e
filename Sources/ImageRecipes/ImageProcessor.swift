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
    /// Makes the image fit within a size and lays it on a ground of exactly that size.
    case pad(Pad)
    /// Removes margins of the colour of the first pixel.
    case trim(Trim)
    /// Exchanges left and right, top and bottom, or both.
    case flip(Flip)
    /// Rotates the image.
    case rotate(Rotation)
    /// Rounds the corners and makes them transparent.
    case roundCorner(RoundCorner)
    /// Cuts out the largest circle around the middle.
    case circle(Circle)
    /// Blurs the image.
    case blur(Blur)
    /// Sharpens the image.
    case sharpen(Sharpen)
    /// Makes squares of one colour.
    case pixelate(Pixelate)
    /// Draws a colour over the image.
    case overlay(Overlay)
    /// Gives every pixel that is not transparent the colour and keeps its alpha (Core Image's source-in).
    case tint(RecipeColor)
    /// Changes brightness, contrast, saturation and exposure.
    case colorControls(ColorControls)
    /// Makes the middle tones lighter or darker.
    case gamma(Gamma)
    /// Converts the image to greys: saturation 0 and an exposure of 0.7 stops, as Kingfisher does.
    case blackWhite
    /// Draws a line along the edges.
    case border(Border)
    /// Blends the image with a colour below it.
    case blend(Blend)
    /// Composites the image with a colour by a Porter–Duff operation.
    case compositing(Compositing)
    /// Lays another picture over the image.
    case watermark(Watermark)
    /// Sets the format of the result. The last one of a chain applies; it changes no pixels.
    case format(FormatChange)

    /// The names in the protocol, in the order of the documentation.
    public static let names = [
        "downsample", "resize", "crop", "pad", "trim", "flip", "rotate", "roundCorner", "circle", "blur", "sharpen",
        "pixelate", "overlay", "tint", "colorControls", "gamma", "blackWhite", "border", "blend", "compositing",
        "watermark", "format",
    ]

    /// The name in the protocol.
    public var name: String {
        switch self {
        case .downsample: "downsample"
        case .resize: "resize"
        case .crop: "crop"
        case .pad: "pad"
        case .trim: "trim"
        case .flip: "flip"
        case .rotate: "rotate"
        case .roundCorner: "roundCorner"
        case .circle: "circle"
        case .blur: "blur"
        case .sharpen: "sharpen"
        case .pixelate: "pixelate"
        case .overlay: "overlay"
        case .tint: "tint"
        case .colorControls: "colorControls"
        case .gamma: "gamma"
        case .blackWhite: "blackWhite"
        case .border: "border"
        case .blend: "blend"
        case .compositing: "compositing"
        case .watermark: "watermark"
        case .format: "format"
        }
    }

    /// `true` when the processor leaves every image unchanged, so that it can be removed from a chain.
    public var isIdentity: Bool {
        switch self {
        case .blur(let blur): blur.radius == 0
        case .sharpen(let sharpen): sharpen.radius == 0 || sharpen.amount == 0
        case .pixelate(let pixelate): pixelate.size == 1
        case .gamma(let gamma): gamma.gamma == 1
        case .watermark(let watermark): watermark.opacity == 0
        default: false
        }
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
        case .downsample, .pad: true
        // The nearest pixel is one of the original, which a decoder that shrinks does not deliver.
        case .resize(let resize): resize.kernel != .nearest
        case .roundCorner(let round): round.targetSize != nil
        case .circle(let circle): circle.diameter != nil
        default: false
        }
    }

    /// `true` when the part that the processor takes depends on the pixels: of an animation, one part is taken of all frames.
    public var dependsOnPixels: Bool {
        switch self {
        case .trim: true
        case .crop(let crop): if case .interest = crop.place { true } else { false }
        default: false
        }
    }

    /// `true` when the processor may make pixels of an opaque image transparent.
    public var makesAlpha: Bool {
        switch self {
        case .roundCorner(let round): round.background?.alpha != 255
        case .circle(let circle): circle.background?.alpha != 255
        case .pad(let pad): pad.background?.alpha != 255
        case .rotate(.degrees(let degrees)): degrees.truncatingRemainder(dividingBy: 90) != 0
        default: false
        }
    }
}
