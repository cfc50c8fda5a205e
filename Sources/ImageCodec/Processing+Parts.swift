internal import CVips
internal import ImageRecipes

extension Processing {
    /// The part of the image that a crop or a trim takes; nil for all of it. The pixels are in memory.
    static func part(of image: CodecImage, by step: ImageProcessor) throws(RenderFailure) -> Region? {
        switch step {
        case .crop(let crop):
            let size = Geometry.partSize(of: image.extent, crop)
            switch crop.place {
            case .anchor(let x, let y): return Geometry.part(of: image.extent, size, anchorX: x, anchorY: y)
            case .corner(let x, let y): return try Geometry.rectangle(of: image.extent, crop, x: x, y: y)
            case .interest(let interest):
                return size == image.extent ? nil : try image.mostInteresting(size, interest)
            }
        case .trim(let trim):
            // Premultiplied, all transparent pixels are alike.
            let depth = Int32(image.depth)
            let plain = try image.hasAlpha ? image.applying { hv_premultiply($0, depth) }.inMemory() : image
            return try plain.bounds(trim.tolerance * (image.depth == 16 ? 257 : 1))
        default: return nil
        }
    }

    /// A rectangle of an image.
    static func cut(_ image: CodecImage, to part: Region) throws(RenderFailure) -> CodecImage {
        if part.size == image.extent { return image }
        return try image.applying {
            hv_crop($0, Int32(part.left), Int32(part.top), Int32(part.size.width), Int32(part.size.height))
        }
    }

    /// The image, made to fit, on a ground of exactly a size.
    static func padded(_ image: CodecImage, _ pad: Pad, _ limits: RenderLimits) throws(RenderFailure) -> CodecImage {
        let size = Extent(width: pad.size.width, height: pad.size.height)
        try limits.check(width: size.width, height: size.height)
        let fitted = try resized(image, to: Geometry.fitted(image.extent, by: pad), limits).inRGB()
        let place = Geometry.part(
            of: size, fitted.extent, anchorX: pad.gravity.horizontal, anchorY: pad.gravity.vertical)
        func laid(_ image: CodecImage, _ samples: [Double]) throws(RenderFailure) -> CodecImage {
            try image.applying {
                hv_embed(
                    $0, Int32(place.left), Int32(place.top), Int32(size.width), Int32(size.height), samples,
                    Int32(samples.count))
            }
        }
        if let colour = pad.background, colour.alpha == 255, !fitted.hasAlpha {
            return try laid(fitted, fitted.samples(of: colour))
        }
        return try grounded(try laid(fitted.withAlpha(), [0, 0, 0, 0]), on: pad.background)
    }

    static func flipped(_ image: CodecImage, _ flip: Flip) throws(RenderFailure) -> CodecImage {
        var image = try image.inMemory()
        if flip.horizontal { image = try image.applying { hv_flip($0, 0) } }
        if flip.vertical { image = try image.applying { hv_flip($0, 1) } }
        return image
    }
}
