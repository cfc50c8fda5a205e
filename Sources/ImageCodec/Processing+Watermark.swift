internal import CVips
internal import ImageFormats
internal import ImageRecipes

extension Processing {
    /// The image with another picture laid over it, which is shrunk where it does not fit between the margins.
    static func watermarked(
        _ image: CodecImage, _ watermark: Watermark, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        let room = Extent(
            width: max(1, image.width - 2 * watermark.margin), height: max(1, image.height - 2 * watermark.margin))
        let picture = try picture(of: watermark, within: room, over: image.width, limits)
        let base = try image.inRGB().inMemory()
        let ready = try picture.applying { hv_cast($0, 8) }
        let part = Geometry.part(
            of: room, ready.extent, anchorX: watermark.gravity.horizontal, anchorY: watermark.gravity.vertical)
        let (left, top) = (
            (image.width - room.width) / 2 + part.left, (image.height - room.height) / 2 + part.top
        )
        let depth = Int32(base.depth)
        let laid = try ready.applying(with: base) {
            hv_from_srgb($0, $1, depth)
        }.applying {
            hv_embed($0, Int32(left), Int32(top), Int32(base.width), Int32(base.height), [0, 0, 0, 0], 4)
        }
        let result = try base.withAlpha().applying(with: laid) { hv_composite($0, $1, hv_over) }
        return base.hasAlpha ? result : try result.applying { hv_extract_bands($0, 0, 3) }
    }

    /// The picture in RGBA of eight bits, at its size, as opaque as it is to be; the first frame of an animation.
    private static func picture(
        of watermark: Watermark, within room: Extent, over width: Int, _ limits: RenderLimits
    ) throws(RenderFailure) -> CodecImage {
        guard let format = ImageFormat(rawValue: watermark.format) else {
            throw RenderFailure(.unsupported, "\(watermark.format) is not a format for watermarks.")
        }
        let whole: CodecImage
        do throws(RenderFailure) {
            let decoder = try Decoder(SourceBytes(copying: watermark.data), format: format, limits: limits)
            whole = try Upright.whole(try decoder.still()).inSRGB().eightBit().inRGB().withAlpha().inMemory()
        } catch {
            // Not a fault of the image that it is laid over.
            guard error.kind == .badData else { throw error }
            throw RenderFailure(.processingFailed, "The picture of the watermark cannot be decoded: \(error.reason)")
        }
        var size = whole.extent
        if let scale = watermark.scale { size = size.scaled(by: Double(width) * scale / Double(size.width)) }
        let excess = max(Double(size.width) / Double(room.width), Double(size.height) / Double(room.height))
        if excess > 1 { size = size.scaled(by: 1 / excess) }
        size = Extent(width: min(size.width, room.width), height: min(size.height, room.height))
        let sized = try resized(whole, to: size, limits)
        let opacity = watermark.opacity
        return opacity == 1 ? sized : try sized.applying { hv_linear($0, [1, 1, 1, opacity], [0, 0, 0, 0], 4, 8) }
    }
}
