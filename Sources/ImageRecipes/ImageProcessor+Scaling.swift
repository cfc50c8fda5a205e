extension ImageProcessor {
    /// The processor with every length in pixels multiplied by `factor`; fractions, angles and colours are unchanged.
    ///
    /// - Parameter factor: Above 0.
    /// - Throws: ``RecipeError`` when a length exceeds the largest allowed length.
    public func scaled(by factor: Double) throws(RecipeError) -> ImageProcessor {
        switch self {
        case .downsample(let size): return .downsample(try size.scaled(by: factor))
        case .resize(let resize): return .resize(try resize.scaled(by: factor))
        case .crop(let crop): return .crop(try crop.scaled(by: factor))
        case .pad(let pad):
            return .pad(
                try Pad(
                    size: try pad.size.scaled(by: factor), background: pad.background, gravity: pad.gravity,
                    upscale: pad.upscale))
        case .circle(let circle): return .circle(try circle.scaled(by: factor))
        case .roundCorner(let round):
            var target = round.targetSize
            if let size = target { target = try size.scaled(by: factor) }
            return .roundCorner(
                try RoundCorner(
                    radius: round.radius.scaled(by: factor), corners: round.corners, targetSize: target,
                    background: round.background))
        case .blur(let blur): return .blur(try Blur(radius: blur.radius * factor))
        case .sharpen(let sharpen):
            return .sharpen(try Sharpen(radius: sharpen.radius * factor, amount: sharpen.amount))
        case .pixelate(let pixelate): return .pixelate(try pixelate.scaled(by: factor))
        case .border(let border):
            return .border(
                try Border(
                    color: border.color, width: border.width * factor, radius: border.radius.scaled(by: factor),
                    corners: border.corners))
        case .watermark(let mark): return .watermark(try mark.scaled(by: factor))
        case .trim, .flip, .rotate, .overlay, .tint, .colorControls, .gamma, .blackWhite, .blend, .compositing, .format:
            return self
        }
    }
}

extension CornerRadius {
    fileprivate func scaled(by factor: Double) -> CornerRadius {
        if case .pixels(let value) = self { .pixels(value * factor) } else { self }
    }
}
