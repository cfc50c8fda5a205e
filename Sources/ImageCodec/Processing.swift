internal import CVips
internal import Glibc
internal import ImageRecipes

/// The implementation of the processors with operations of libvips. Every image is upright, in grey or RGB, with or
/// without alpha.
enum Processing {
    /// The result of a step; its size is checked before it is computed.
    static func apply(
        _ step: ImageProcessor, _ image: CodecImage, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        switch step {
        case .downsample(let box): return try resized(image, to: Geometry.downsampled(image.extent, to: box), limits)
        case .resize(let resize): return try resized(image, by: resize, limits)
        case .crop, .trim:
            let image = try image.inMemory()
            return try cut(image, to: try part(of: image, by: step) ?? Region(left: 0, top: 0, size: image.extent))
        case .pad(let pad): return try padded(image, pad, limits)
        case .flip(let flip): return try flipped(image, flip)
        case .roundCorner(let round): return try rounded(image, round, limits)
        case .circle(let circle): return try cutToCircle(image, circle, limits)
        case .blur(let blur): return try blurred(image, sigma: blur.radius)
        case .sharpen(let sharpen): return try sharpened(image, sharpen)
        case .pixelate(let pixelate): return try pixelated(image, side: pixelate.size)
        case .overlay(let overlay): return try overlaid(image, overlay)
        case .tint(let color): return try tinted(image, color)
        case .colorControls(let controls):
            return try controlled(
                image, brightness: controls.brightness, contrast: controls.contrast, saturation: controls.saturation,
                exposure: controls.inputEV)
        case .gamma(let gamma):
            return try image.changingColours { (colours) throws(RenderFailure) in
                try mapped(colours) { pow($0, 1 / gamma.gamma) }
            }
        case .blackWhite:
            // Kingfisher's BlackWhiteProcessor is ColorControlsProcessor(brightness: 0, contrast: 1, saturation: 0, inputEV: 0.7).
            return try controlled(image, brightness: 0, contrast: 1, saturation: 0, exposure: 0.7)
        case .border(let border): return try bordered(image, border)
        case .blend(let blend):
            return try composited(image, alpha: blend.alpha, on: blend.background, by: blend.mode.libraryMode)
        case .compositing(let compositing):
            return try composited(
                image, alpha: compositing.alpha, on: compositing.background, by: compositing.operation.libraryMode)
        case .watermark(let watermark): return try watermarked(image, watermark, limits)
        case .rotate(.degrees(let degrees)): return try rotated(image, degrees, limits)
        case .rotate(.auto), .format: return image
        }
    }

    static func resized(
        _ image: CodecImage, to size: Extent, by kernel: ResizeKernel = .lanczos3, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        try limits.check(width: size.width, height: size.height)
        return try image.resized(to: size, by: kernel)
    }

    private static func resized(
        _ image: CodecImage, by resize: Resize, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        let whole = try resized(image, to: Geometry.resized(image.extent, by: resize), by: resize.kernel, limits)
        guard let focus = resize.focus, let width = resize.width, let height = resize.height else { return whole }
        let size = Extent(width: min(width, whole.width), height: min(height, whole.height))
        return try cut(whole.inMemory(), to: Geometry.part(of: whole.extent, size, around: focus))
    }

    /// Rotates an image. Multiples of 90 degrees move pixels; other angles resample them (bicubic) onto a larger canvas
    /// that is transparent elsewhere.
    private static func rotated(
        _ image: CodecImage, _ degrees: Double, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        if degrees.truncatingRemainder(dividingBy: 90) == 0 {
            return degrees == 0 ? image : try image.inMemory().applying { hv_turn($0, Int32(degrees)) }
        }
        let (sine, cosine) = (abs(sin(degrees * .pi / 180)), abs(cos(degrees * .pi / 180)))
        let (width, height) = (Double(image.width), Double(image.height))
        try limits.check(
            width: Int((width * cosine + height * sine).rounded(.up)),
            height: Int((width * sine + height * cosine).rounded(.up)))
        let clear = try image.withAlpha()
        return try clear.premultiplied { (image) throws(RenderFailure) in try image.applying { hv_rotate($0, degrees) }
        }
    }

    /// A Gaussian blur whose standard deviation is the radius (Kingfisher approximates the same by three box filters).
    ///
    /// Above 8 pixels the image is blurred at a reduced size at which the radius is 4: the details that this loses are
    /// blurred away anyway.
    static func blurred(_ image: CodecImage, sigma: Double) throws(RenderFailure) -> CodecImage {
        guard sigma > 0 else { return image }
        return try image.premultiplied { (image) throws(RenderFailure) in
            guard sigma > 8 else { return try image.applying { hv_blur($0, sigma) } }
            let small = image.extent.scaled(by: 4 / sigma)
            let shrunk = try image.plainlyResized(to: small).inMemory()
            return try shrunk.applying { hv_blur($0, 4) }.inMemory().plainlyResized(to: image.extent)
        }
    }
}

extension CodecImage {
    var extent: Extent { Extent(width: width, height: height) }

    /// The image with an alpha channel, opaque if it had none.
    func withAlpha() throws(RenderFailure) -> CodecImage { hasAlpha ? self : try applying { hv_add_alpha($0) } }

    /// The image with 8 bits per sample.
    func eightBit() throws(RenderFailure) -> CodecImage {
        guard depth != 8 else { return self }
        return colours == .gray ? try applying { hv_to_gray($0, 8) } : try applying { hv_to_rgb($0, 8) }
    }

    /// The image in RGB. A grey profile does not apply to RGB, so it is applied first.
    func inRGB() throws(RenderFailure) -> CodecImage {
        guard colours == .gray else { return self }
        return try hasProfile ? inSRGB() : applying { hv_to_rgb($0, Int32(depth)) }
    }

    /// The image in sRGB, by its profile if it has one; without a profile grey stays grey.
    func inSRGB() throws(RenderFailure) -> CodecImage {
        guard hasProfile else { return self }
        return try applying { hv_to_srgb_profile($0, Int32(depth)) }
    }

    /// The result of an operation on the image with premultiplied alpha, so that the colours of transparent pixels do
    /// not bleed into others.
    func premultiplied(
        _ operation: (CodecImage) throws(RenderFailure) -> CodecImage
    ) throws(RenderFailure) -> CodecImage {
        guard hasAlpha else {
            let result = try operation(self)
            return result.depth == depth ? result : try result.applying { hv_cast($0, Int32(depth)) }
        }
        let result = try operation(try applying { hv_premultiply($0, Int32(depth)) })
        return try result.applying { hv_unpremultiply($0, Int32(depth)) }
    }

    /// The result of an operation on the colours alone; the alpha stays as it is.
    func changingColours(
        _ operation: (CodecImage) throws(RenderFailure) -> CodecImage
    ) throws(RenderFailure) -> CodecImage {
        guard hasAlpha else { return try operation(self) }
        let count = Int32(bands - 1)
        let alpha = try applying { hv_extract_bands($0, count, 1) }
        return try operation(try applying { hv_extract_bands($0, 0, count) }).applying(with: alpha) {
            hv_join_bands($0, $1)
        }
    }

    /// The image resampled; by default with a Lanczos kernel of three lobes.
    func resized(to size: Extent, by kernel: ResizeKernel = .lanczos3) throws(RenderFailure) -> CodecImage {
        guard size != extent else { return self }
        if kernel == .nearest { return try nearest(to: size) }
        if kernel == .lanczos3, let result = try resampled(to: size) { return result }
        return try premultiplied { [covered] (image) throws(RenderFailure) in
            try image.covering(covered).plainlyResized(to: size, by: kernel)
        }
    }

    /// The image resampled without regard to alpha: it has no alpha channel, or its colours are premultiplied.
    func plainlyResized(
        to size: Extent, by kernel: ResizeKernel = .lanczos3
    ) throws(RenderFailure) -> CodecImage {
        guard size != extent else { return self }
        if kernel == .lanczos3, !hasAlpha, let result = try resampled(to: size) { return result }
        let result = try applying {
            hv_resize(
                $0, Double(size.width) / covered.width, Double(size.height) / covered.height, kernel.rawValue)
        }
        guard result.extent != size else { return result }
        return try result.applying { hv_fit($0, Int32(size.width), Int32(size.height)) }
    }
}
