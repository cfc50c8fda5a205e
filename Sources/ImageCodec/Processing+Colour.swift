internal import CVips
internal import Glibc
internal import ImageRecipes

extension Processing {
    /// out = fraction × image + (1 − fraction) × colour where the image is not transparent; a translucent colour covers
    /// proportionally less.
    ///
    /// Kingfisher's OverlayImageProcessor: the colour with alpha 1 − fraction, drawn source-atop.
    static func overlaid(_ image: CodecImage, _ overlay: Overlay) throws(RenderFailure) -> CodecImage {
        let image = try image.inRGB()
        let weight = (1 - overlay.fraction) * Double(overlay.color.alpha) / 255
        let colour = image.samples(of: overlay.color)
        return try linear(image, scale: Array(repeating: 1 - weight, count: 3), offset: colour.map { $0 * weight })
    }

    /// Gives every pixel the colour; alpha = image's × colour's (Core Image's CISourceInCompositing of the colour with
    /// the image).
    static func tinted(_ image: CodecImage, _ color: RecipeColor) throws(RenderFailure) -> CodecImage {
        let image = try image.inRGB()
        let clear = color.alpha == 255 ? image : try image.withAlpha()
        return try linear(
            clear, scale: [0, 0, 0], offset: image.samples(of: color), alphaScale: Double(color.alpha) / 255)
    }

    /// Saturation, contrast and brightness, in the terms of CIColorControls, then exposure, in those of CIExposureAdjust.
    ///
    /// With sRGB values in 0…1 and Y = 0.2126 R + 0.7152 G + 0.0722 B (Rec. 709):
    /// c₁ = Y + saturation × (c − Y); c₂ = (c₁ − ½) × contrast + ½ + brightness; out = encode(decode(c₂) × 2^inputEV),
    /// where decode and encode are sRGB's transfer function (IEC 61966-2-1). Each value is clipped to 0…1.
    static func controlled(
        _ image: CodecImage, brightness: Double, contrast: Double, saturation: Double, exposure: Double
    ) throws(RenderFailure) -> CodecImage {
        try image.inRGB().changingColours { (image) throws(RenderFailure) in
            var result = image
            if saturation != 1 {
                let luma = [0.2126, 0.7152, 0.0722]
                var matrix: [Double] = []
                for row in 0..<3 {
                    for column in 0..<3 {
                        matrix.append((1 - saturation) * luma[column] + (row == column ? saturation : 0))
                    }
                }
                result = try result.applying { hv_recombine($0, matrix, 3) }.applying {
                    hv_cast($0, Int32(image.depth))
                }
            }
            guard brightness != 0 || contrast != 1 || exposure != 0 else { return result }
            let gain = pow(2, exposure)
            return try mapped(result) { sample in
                let value = (sample - 0.5) * contrast + 0.5 + brightness
                return exposure == 0 ? value : SRGB.encoded(SRGB.decoded(min(1, max(0, value))) * gain)
            }
        }
    }

    /// The image without alpha, each of its samples, as 0…1, put through a function, rounded and clipped.
    static func mapped(
        _ image: CodecImage, _ function: (Double) -> Double
    ) throws(RenderFailure) -> CodecImage {
        let most = image.depth == 16 ? 65_535.0 : 255.0
        let table = (0...Int(most)).map { (min(1, max(0, function(Double($0) / most))) * most).rounded() }
        if image.depth == 16 {
            let samples = table.map { UInt16($0) }
            return try image.applying { hv_map($0, samples, Int32(samples.count), 16) }
        }
        let samples = table.map { UInt8($0) }
        return try image.applying { hv_map($0, samples, Int32(samples.count), 8) }
    }

    /// An unsharp mask: image + amount × (image − image blurred). The alpha stays as it is, and transparent pixels do not
    /// count in the blurred image.
    static func sharpened(_ image: CodecImage, _ sharpen: Sharpen) throws(RenderFailure) -> CodecImage {
        let image = try image.inMemory()
        let count = Int32(image.hasAlpha ? image.bands - 1 : image.bands)
        let blurred = try blurred(image, sigma: sharpen.radius).applying { hv_extract_bands($0, 0, count) }
        return try image.changingColours { (colours) throws(RenderFailure) in
            try colours.applying(with: blurred) { hv_sharpen($0, $1, sharpen.amount, Int32(image.depth)) }
        }
    }

    /// The image as squares of one colour, the mean of each.
    static func pixelated(_ image: CodecImage, side: Int) throws(RenderFailure) -> CodecImage {
        let (across, down) = (Int32(min(side, image.width)), Int32(min(side, image.height)))
        return try image.inMemory().premultiplied { (image) throws(RenderFailure) in
            try image.applying { hv_pixelate($0, across, down) }
        }
    }

    /// The image with an opacity, composited onto a background of one colour, or onto a transparent one.
    static func composited(
        _ image: CodecImage, alpha: Double, on ground: RecipeColor?, by mode: hv_mode
    ) throws(RenderFailure) -> CodecImage {
        let image = try image.eightBit().inRGB().withAlpha()
        let source = alpha == 1 ? image : try linear(image, scale: [1, 1, 1], offset: [0, 0, 0], alphaScale: alpha)
        let colour = ground ?? RecipeColor(red: 0, green: 0, blue: 0, alpha: 0)
        let base = try image.applying { hv_fill($0, image.samples(of: colour) + [Double(colour.alpha)], 4) }
        return try base.applying(with: source) { hv_composite($0, $1, mode) }
    }

    /// in × scale + offset for the colours of an RGB image, and in × alphaScale for its alpha.
    static func linear(
        _ image: CodecImage, scale: [Double], offset: [Double], alphaScale: Double = 1
    ) throws(RenderFailure) -> CodecImage {
        let scale = image.hasAlpha ? scale + [alphaScale] : scale
        let offset = image.hasAlpha ? offset + [0] : offset
        return try image.applying { hv_linear($0, scale, offset, Int32(scale.count), Int32(image.depth)) }
    }
}

/// The transfer function of sRGB (IEC 61966-2-1).
enum SRGB {
    static func decoded(_ value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    static func encoded(_ value: Double) -> Double {
        value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055
    }
}

extension BlendMode {
    /// The mode in the library.
    var libraryMode: hv_mode {
        switch self {
        case .normal: hv_over
        case .multiply: hv_multiply
        case .screen: hv_screen
        case .overlay: hv_overlay
        case .darken: hv_darken
        case .lighten: hv_lighten
        case .colorDodge: hv_colour_dodge
        case .colorBurn: hv_colour_burn
        case .hardLight: hv_hard_light
        case .softLight: hv_soft_light
        case .difference: hv_difference
        case .exclusion: hv_exclusion
        }
    }
}

extension CompositingOperation {
    /// The mode in the library.
    var libraryMode: hv_mode {
        switch self {
        case .clear: hv_clear
        case .copy: hv_source
        case .sourceOver: hv_over
        case .sourceIn: hv_in
        case .sourceOut: hv_out
        case .sourceAtop: hv_atop
        case .destinationOver: hv_below_over
        case .destinationIn: hv_below_in
        case .destinationOut: hv_below_out
        case .destinationAtop: hv_below_atop
        case .xor: hv_xor
        case .plusLighter: hv_add
        }
    }
}
