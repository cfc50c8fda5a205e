extension ImageProcessor {
    /// The version of the processor's algorithm. It increases when the same parameters give different pixels, so that
    /// no cache serves old ones.
    public var version: Int {
        switch self {
        // Translucent colours are blended as the W3C says, squares at the edges have their own mean, and a blur is as wide as
        // its radius.
        case .blend, .compositing, .pixelate, .blur, .sharpen: 2
        default: 1
        }
    }

    /// The canonical name of the processor and its parameters.
    ///
    /// It is a part of the names of cached files: the text of a version never changes, because that would orphan users'
    /// caches.
    public var identifier: String {
        let parameters = fields.map { "\($0)=\($1)" }.joined(separator: ",")
        return "\(name).\(version)(\(parameters))"
    }

    /// The parameters in the order of the identifier, without those that are `nil`.
    private var fields: [(String, String)] {
        func optional(_ name: String, _ text: String?) -> [(String, String)] { text.map { [(name, $0)] } ?? [] }
        func number(_ value: Double) -> String { RecipeValue.text(value) }
        switch self {
        case .downsample(let size): return [("width", "\(size.width)"), ("height", "\(size.height)")]
        case .resize(let resize):
            return optional("width", resize.width?.description) + optional("height", resize.height?.description)
                + [("mode", resize.mode.rawValue), ("upscale", "\(resize.upscale)")]
                + optional("kernel", resize.kernel == .lanczos3 ? nil : resize.kernel.rawValue)
                + optional("focus", resize.focus.map { "\(number($0.x))x\(number($0.y))" })
        case .crop(let crop):
            let size = [("width", number(crop.width)), ("height", number(crop.height))]
            let unit = optional("unit", crop.unit == .pixels ? nil : crop.unit.rawValue)
            switch crop.place {
            // `x` and `y` have always been those of the anchor here.
            case .anchor(let x, let y): return size + unit + [("x", number(x)), ("y", number(y))]
            case .corner(let x, let y): return size + unit + [("left", number(x)), ("top", number(y))]
            case .interest(let interest): return size + unit + [("anchor", interest.rawValue)]
            }
        case .pad(let pad):
            return [("width", "\(pad.size.width)"), ("height", "\(pad.size.height)")]
                + optional("background", pad.background?.text)
                + [("gravity", pad.gravity.rawValue), ("upscale", "\(pad.upscale)")]
        case .trim(let trim): return [("tolerance", number(trim.tolerance))]
        case .flip(let flip): return [("horizontal", "\(flip.horizontal)"), ("vertical", "\(flip.vertical)")]
        case .circle(let circle):
            return optional("diameter", circle.diameter?.description) + optional("background", circle.background?.text)
        case .sharpen(let sharpen): return [("radius", number(sharpen.radius)), ("amount", number(sharpen.amount))]
        case .pixelate(let pixelate): return [("size", "\(pixelate.size)")]
        case .gamma(let gamma): return [("gamma", number(gamma.gamma))]
        case .roundCorner(let round):
            return [("radius", round.radius.text), ("corners", round.corners.text)]
                + optional("target", round.targetSize.map { "\($0.width)x\($0.height)" })
                + optional("background", round.background?.text)
        case .blur(let blur): return [("radius", number(blur.radius))]
        case .overlay(let overlay): return [("color", overlay.color.text), ("fraction", number(overlay.fraction))]
        case .tint(let color): return [("color", color.text)]
        case .colorControls(let controls):
            return [
                ("brightness", number(controls.brightness)), ("contrast", number(controls.contrast)),
                ("saturation", number(controls.saturation)), ("inputEV", number(controls.inputEV)),
            ]
        case .blackWhite: return []
        case .border(let border):
            return [
                ("color", border.color.text), ("width", number(border.width)), ("radius", border.radius.text),
                ("corners", border.corners.text),
            ]
        case .blend(let blend):
            return [("mode", blend.mode.rawValue), ("alpha", number(blend.alpha))]
                + optional("background", blend.background?.text)
        case .compositing(let compositing):
            return [("mode", compositing.operation.rawValue), ("alpha", number(compositing.alpha))]
                + optional("background", compositing.background?.text)
        case .watermark(let watermark):
            return [
                ("image", watermark.digest), ("gravity", watermark.gravity.rawValue),
                ("opacity", number(watermark.opacity)), ("margin", "\(watermark.margin)"),
            ] + optional("scale", watermark.scale.map(number))
        case .rotate(.auto): return [("degrees", "auto")]
        case .rotate(.degrees(let degrees)): return [("degrees", number(degrees))]
        case .format(let change):
            return [("to", change.format.rawValue)] + optional("quality", change.quality?.description)
        }
    }
}

extension [ImageProcessor] {
    /// The identifiers joined by `|>`; empty for an empty chain. The order is significant.
    public var identifier: String { map(\.identifier).joined(separator: "|>") }

    /// The chain without steps that change nothing.
    public var canonical: [ImageProcessor] { filter { !$0.isIdentity } }
}
