internal import CVips
internal import Glibc
internal import ImageFormats
internal import ImageRecipes

/// Writes the frames of an output as a file.
struct Encoder {
    let decoder: Decoder
    let output: RenderOutput
    let library: CodecLibrary

    /// Writes the file and returns its properties.
    func write(_ frames: [CodecImage], to descriptor: Int32) throws(RenderFailure) -> RenderedImage {
        guard !frames.isEmpty else { throw RenderFailure(.processingFailed, "The picture has no such frame.") }
        var (image, bytes) = try output.rule == .pixels ? pixels(frames) : encoded(frames)
        try decoder.limits.check(byteCount: bytes.count)
        image.byteCount = bytes.count
        try OutputFile.write(bytes, to: descriptor)
        return image
    }

    private var delays: [Int] { decoder.delays }

    private func facts(_ format: String, _ frames: [CodecImage], hasAlpha: Bool) -> RenderedImage {
        let isAnimated = frames.count > 1
        return RenderedImage(
            format: format, width: frames[0].width, height: frames[0].height, frameCount: frames.count, byteCount: 0,
            hasAlpha: hasAlpha, delays: isAnimated ? delays : [], loopCount: isAnimated ? decoder.loopCount : 0,
            framesDropped: output.frames == .all ? max(0, decoder.pictureCount - frames.count) : 0)
    }

    /// RGBA of eight bits in sRGB, row by row without gaps, the frames one after another.
    private func pixels(_ frames: [CodecImage]) throws(RenderFailure) -> (RenderedImage, [UInt8]) {
        var bytes: [UInt8] = []
        var hasAlpha = false
        for frame in frames {
            if !hasAlpha { hasAlpha = try !frame.isOpaque() }
            bytes += try frame.rgba()
        }
        var image = facts("rgba", frames, hasAlpha: hasAlpha)
        image.stride = image.width * 4
        return (image, bytes)
    }

    private func encoded(_ frames: [CodecImage]) throws(RenderFailure) -> (RenderedImage, [UInt8]) {
        var isOpaque = true
        for frame in frames where isOpaque { isOpaque = try frame.isOpaque() }
        let (format, encoding) = chosen(isAnimated: frames.count > 1, isOpaque: isOpaque)
        guard library.canWrite(format) else {
            throw RenderFailure(
                .unsupported, "\(format.rawValue) cannot be written by the codec library of this machine.")
        }
        guard decoder.frameCount == 1 || output.frames != .all || format.isAnimated || !format.hasAnimations else {
            let count = decoder.frameCount
            throw RenderFailure(
                .unsupported,
                "It is an animation of \(count) frames, and \(format.rawValue) is written with one here: ask for webp, gif or png, or for one frame (onlyLoadFirstFrame or frame)."
            )
        }
        try format.check(frames[0].extent)
        let kept = format.isAnimated ? frames : Array(frames.prefix(1))
        var ready: [CodecImage] = []
        for frame in kept { ready.append(try prepared(frame, format, encoding, isOpaque: isOpaque)) }
        let hasAlpha = !isOpaque && format.hasAlpha && encoding.background?.alpha != 255
        let bytes = try limited(ready, format, encoding)
        var image = facts(format.rawValue, kept, hasAlpha: hasAlpha)
        // All clear pixels have the same number in a palette. The type of colours is in IHDR (PNG, 11.2.2).
        let losesColours = format == .png && hasAlpha && bytes[25] == 3
        image.isExact =
            !losesColours && image.framesDropped == 0 && holdsAll(of: frames, ready, format, encoding)
        return (image, bytes)
    }

    /// `true` when a file holds everything of the frames, so that further steps give the same result from it as from
    /// the frames.
    ///
    /// - Parameter ready: The frames as written.
    private func holdsAll(
        of frames: [CodecImage], _ ready: [CodecImage], _ format: EncodedFormat, _ encoding: Encoding
    ) -> Bool {
        guard format.keepsSamples(encoding), encoding.background == nil, ready.count == frames.count,
            // Else the way in which the source is coded decides on results, and the file does not tell it.
            decoder.coding == .usual
        else { return false }
        // Every frame of an animated PNG is read as RGBA of eight bits.
        if frames.count > 1 {
            // The longest display time of a frame in an APNG.
            return format == .png && delays.allSatisfy { $0 <= 65_535 }
                && zip(frames, ready).allSatisfy { before, after in
                    before.bands == 4 && after.bands == 4 && before.depth == 8 && !before.hasProfile
                        && before.metadata.isEmpty
                }
        }
        return zip(frames, ready).allSatisfy { before, after in
            before.bands == after.bands && before.depth == after.depth && before.colours == after.colours
                && before.hasProfile == after.hasProfile
                && before.metadata.isSubset(of: format.metadata(encoding.metadata))
                // The WebP encoder changes the colours of transparent pixels.
                && !(format == .webp && before.hasAlpha)
        }
    }

    /// The format by the rule: that of the request, or the one that suits the result.
    private func chosen(isAnimated: Bool, isOpaque: Bool) -> (EncodedFormat, Encoding) {
        switch output.rule {
        case .format(let format, let encoding): return (format, encoding)
        case .pixels, .nothing: return (.png, Encoding())
        case .automatic(var encoding):
            // What has no loss stays so, unless a quality or a number of bytes is asked for.
            if decoder.coding == .losslessWebP, encoding.quality == nil, encoding.maxBytes == nil,
                library.canWrite(.webp)
            {
                encoding.lossless = true
                return (.webp, encoding)
            }
            if isAnimated {
                let same = EncodedFormat(rawValue: decoder.originalFormat.rawValue)
                return (same?.isAnimated == true ? same ?? .webp : .webp, encoding)
            }
            let becomesOpaque = isOpaque || encoding.background?.alpha == 255
            if becomesOpaque { return (decoder.originalFormat.isLossless ? .png : .jpeg, encoding) }
            // A clear photograph takes some ten times as much as PNG.
            return (decoder.originalFormat == .webp && library.canWrite(.webp) ? .webp : .png, encoding)
        }
    }

    /// A frame converted to a form that the format can store.
    private func prepared(
        _ frame: CodecImage, _ format: EncodedFormat, _ encoding: Encoding, isOpaque: Bool
    ) throws(RenderFailure) -> CodecImage {
        var image = frame
        if encoding.profile == .sRGB || !format.hasProfile { image = try image.inSRGB() }
        if image.depth == 16, !format.hasSixteenBits { image = try image.eightBit() }
        if image.hasAlpha {
            if isOpaque {
                let colours = Int32(image.bands - 1)
                image = try image.applying { hv_extract_bands($0, 0, colours) }
            } else {
                var ground = encoding.background
                if let colour = ground, colour.alpha < 255 {
                    image = try Processing.composited(image, alpha: 1, on: colour, by: hv_over)
                    ground = nil
                }
                if ground != nil || !format.hasAlpha {
                    image = try flattened(image, ground ?? RecipeColor(red: 255, green: 255, blue: 255))
                }
            }
        }
        if format.isAlwaysRGB { image = try image.inRGB() }
        return image
    }

    /// The metadata of the frames that is written to the file.
    private func metadata(_ format: EncodedFormat, _ encoding: Encoding) -> hv_metadata_choice {
        if format == .ico { return hv_no_metadata }
        switch encoding.metadata {
        case .all: return hv_metadata_of_still
        case .withoutPosition: return hv_metadata_without_position
        case .none: return encoding.profile == .keep && format.hasProfile ? hv_profile_only : hv_no_metadata
        }
    }

    private func flattened(_ image: CodecImage, _ ground: RecipeColor) throws(RenderFailure) -> CodecImage {
        let isGray = ground.red == ground.green && ground.green == ground.blue
        let image = isGray ? image : try image.inRGB()
        let colour = image.samples(of: ground)
        let count = Int32(image.bands - 1)
        return try image.applying { hv_flatten($0, colour, count) }
    }

    /// The file, with its quality lowered until it is no larger than requested.
    ///
    /// - Complexity: At most eight encodings, by a binary search for the quality.
    private func limited(
        _ frames: [CodecImage], _ format: EncodedFormat, _ encoding: Encoding
    ) throws(RenderFailure) -> [UInt8] {
        let first = try bytes(frames, format, encoding, quality: encoding.quality ?? format.quality)
        guard let most = encoding.maxBytes, first.count > most else { return first }
        var best: [UInt8]?
        if format.isLossy, !encoding.lossless {
            var (low, high) = (1, (encoding.quality ?? format.quality) - 1)
            while low <= high {
                let middle = (low + high) / 2
                let tried = try bytes(frames, format, encoding, quality: middle)
                if tried.count <= most {
                    best = tried
                    low = middle + 1
                } else {
                    high = middle - 1
                }
            }
        }
        guard let best else {
            throw RenderFailure(
                .limit("cacheSerializer.maxBytes"),
                "The \(format.rawValue) cannot be made smaller than \(most) bytes; allow more, ask for a smaller picture or for another format."
            )
        }
        return best
    }

    private func bytes(
        _ frames: [CodecImage], _ format: EncodedFormat, _ encoding: Encoding, quality: Int
    ) throws(RenderFailure) -> [UInt8] {
        var how = hv_encoding(
            quality: Int32(format.encoderQuality(quality)), lossless: encoding.lossless ? 1 : 0,
            full_colours: encoding.lossless || quality > 90 ? 1 : 0, progressive: encoding.progressive ? 1 : 0,
            effort: Int32(format.effort), metadata: metadata(format, encoding), hevc: format == .heic ? 1 : 0)
        switch format {
        case .bmp:
            let frame = frames[0]
            return try BMPEncoder.encode(
                frame.samples(), width: frame.width, height: frame.height, hasAlpha: frame.hasAlpha)
        case .ico:
            let frame = frames[0]
            let png = try frame.withAlpha().encoded(hv_png, how)
            return ICOEncoder.encode(png: png, size: frame.extent)
        default: break
        }
        guard let library = format.library else {
            throw RenderFailure(.unsupported, "There is no encoder for \(format.rawValue).")
        }
        guard frames.count > 1 else { return try still(frames[0], format, library, how) }
        if format == .png {
            var stills: [[UInt8]] = []
            for frame in frames { stills.append(try frame.encoded(hv_png, how)) }
            return try AnimatedPNG.assembled(stills, delays: delays, loopCount: decoder.loopCount)
        }
        let height = Int32(frames[0].height)
        let delays = delays.map { Int32($0) }
        // The metadata of an animation is that of its first frame.
        let bare = try CodecImage.stacked(frames).applying { hv_choose_metadata($0, how.metadata) }
        how.metadata = hv_every_metadata
        let strip = try bare.applying {
            hv_animate($0, height, delays, Int32(delays.count), Int32(decoder.loopCount))
        }
        return try strip.encoded(library, how)
    }
}

extension Encoder {
    /// The mean square by which a palette may change the samples: 40 dB, which is not seen.
    private static var mostDifference: Double { 65_025 / 10_000 }

    /// The file of one frame. A PNG has a palette where that loses nothing and takes fewer bytes, and where the source is a
    /// picture with a palette, if it is not seen.
    private func still(
        _ frame: CodecImage, _ format: EncodedFormat, _ library: hv_loader, _ how: hv_encoding
    ) throws(RenderFailure) -> [UInt8] {
        guard format == .png, frame.depth == 8, frame.bands >= 3 else {
            let bytes = try frame.encoded(library, how)
            // libheif writes a file without a picture, and no error, where its encoder refuses the size: x265 one with a side
            // below 32 and another above some 4,200 pixels, because of the levels of HEVC.
            if library == hv_heif, (try? bytes.withUnsafeBytes { try ImageProbe(whole: $0) }) == nil {
                throw RenderFailure(
                    .processingFailed,
                    "\(format.rawValue) cannot be written with \(frame.width) × \(frame.height) pixels here; ask for another format, webp or png for example, or resize it."
                )
            }
            return bytes
        }
        let ready = try frame.inMemory()
        var isAutomatic = false
        if case .automatic = output.rule { isAutomatic = true }
        if isAutomatic, decoder.coding == .palette,
            let bytes = ready.encodedWithPalette(how, mostDifference: Self.mostDifference)
        {
            return bytes
        }
        let whole = try ready.encoded(library, how)
        let bytes = ready.encodedWithPalette(how, mostDifference: 0)
        return bytes.map { $0.count < whole.count ? $0 : whole } ?? whole
    }
}

extension EncodedFormat {
    /// `true` when grey images are converted to RGB.
    var isAlwaysRGB: Bool {
        switch self {
        case .gif, .webp, .avif, .heic, .bmp, .ico: true
        case .png, .jpeg, .tiff, .jxl: false
        }
    }

    /// `true` when a file with this encoding is decoded to the same samples. AVIF and HEIC convert colours even in
    /// lossless mode; a BMP or ICO is rarely the source of further steps.
    func keepsSamples(_ encoding: Encoding) -> Bool {
        switch self {
        case .png, .tiff: true
        case .webp: encoding.lossless
        case .jpeg, .gif, .avif, .heic, .jxl, .bmp, .ico: false
        }
    }

    /// The longest side that is written, in pixels; nil where it is that of every picture.
    private var longestSide: Int? {
        switch self {
        case .ico: 256
        case .webp: 16_383
        // libvips reads no longer side of what libheif has written.
        case .avif, .heic: 16_384
        case .jpeg: 65_500
        case .gif: 65_535
        // Level 5 of the codestream (ISO/IEC 18181-1, annex M).
        case .jxl: 1 << 18
        case .png, .tiff, .bmp: nil
        }
    }

    /// Throws if a file of the format cannot hold a picture of that size.
    func check(_ size: Extent) throws(RenderFailure) {
        guard let most = longestSide, max(size.width, size.height) > most else { return }
        throw RenderFailure(
            .processingFailed,
            "\(rawValue) is written with at most \(most) × \(most) pixels here, and the picture has \(size.width) × \(size.height); ask for another format, png for example, or resize it, with downsample for example."
        )
    }

    /// The metadata that the encoder writes of those that are chosen.
    func metadata(_ chosen: Encoding.Metadata) -> CodecImage.Metadata {
        switch self {
        case _ where chosen == .none: []
        case .png, .webp, .jxl: chosen == .all ? [.exif, .xmp, .position] : [.exif, .xmp]
        case .tiff: chosen == .all ? [.xmp, .iptc, .position] : [.xmp, .iptc]
        case .jpeg, .gif, .avif, .heic, .bmp, .ico: []
        }
    }

    /// The effort of the encoder, on its own scale. That of AVIF takes a third of the time of the next one, and a tenth more
    /// bytes: with it, libaom codes as fast as in other programs (its speed 6), in which it takes as many bytes or more.
    var effort: Int {
        switch self {
        case .png, .ico: 6
        case .gif, .avif: 3
        case .webp, .heic: 4
        case .jxl: 5
        case .jpeg, .tiff, .bmp: 0
        }
    }

    /// The encoder of libvips; nil when the encoder is in this module.
    var library: hv_loader? { ImageFormat(rawValue: rawValue)?.loader }
}

/// The file of an output, which the server has created and removes after a failure.
enum OutputFile {
    /// Writes all bytes.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(RenderFailure) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw RenderFailure(
                    .resultFailed, "The result cannot be written: \(String(cString: strerror(errno))).")
            }
            written += count
        }
    }
}
