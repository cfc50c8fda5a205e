internal import CVips
internal import ImageFormats
internal import ImageRecipes

/// Opens a source file: reads its header first, then as few of its pixels as necessary.
final class Decoder {
    let format: ImageFormat
    /// The format of the original image when the source is a lossless intermediate result; otherwise its own format.
    let originalFormat: ImageFormat
    let limits: RenderLimits
    let bytes: SourceBytes

    /// The size as coded, without the orientation applied.
    let coded: Extent
    /// The EXIF orientation, 1…8.
    let orientation: Int
    /// The number of frames of an animation; 1 for stills, also for files with several pages.
    let frameCount: Int
    /// The number of frames or pages that can be requested by number.
    let pageCount: Int
    /// The number of pictures in the file: also those of a sequence that the library does not decode.
    let pictureCount: Int
    /// The display time of each frame in milliseconds; empty for stills.
    let delays: [Int]
    /// The number of times that the animation is played; 0 means forever.
    let loopCount: Int
    /// The way in which the samples of the source are kept.
    let coding: SourceCoding

    private let animation: AnimatedPNG?
    private let own: CodecImage?
    private let opened: CodecImage?
    /// `true` when the picture may be shrunk as it is decoded, by ``CodecImage/decodedHEIF(_:shrink:)``.
    private let shrinksPlanes: Bool

    /// The size with the orientation applied.
    var upright: Extent { orientation >= 5 ? coded.turned : coded }

    /// Reads the header and checks it against the limits.
    init(
        _ source: SourceBytes, format: ImageFormat, originalFormat: ImageFormat? = nil, limits: RenderLimits
    ) throws(RenderFailure) {
        var file = source
        self.limits = limits
        var (hiddenPages, sequenceCount, isAdjusted) = (0, 1, false)
        func probe() -> ImageProbe? { try? ImageProbe(whole: file.bytes) }
        if format == .svg { try SVGGuard.check(file, limits) }
        var animation: AnimatedPNG?
        var own: CodecImage?
        var opened: CodecImage?
        switch format {
        case .bmp:
            own = try BMPDecoder.decode(file, limits)
        case .ico:
            switch try ICODecoder.largest(of: file, limits) {
            case .bitmap(let image): own = image
            case .png(let part): opened = try Decoder.open(part, .png)
            }
        case .png:
            animation = try AnimatedPNG(file)
            opened = try Decoder.open(file, .png)
        case .gif:
            if let clear = GIFTransparency.transparentCopy(of: file) { (file, hiddenPages) = (clear.file, clear.added) }
            opened = try Decoder.open(file, .gif)
        case .jxl:
            let header = try Decoder.open(file, .jxl)
            guard header.colours != .cmyk else {
                throw RenderFailure(.unsupported, "JPEG XL pictures for printing, of inks, are not read.")
            }
            opened = header
        case .avif, .heic:
            var header = try Decoder.open(file, format)
            if header.hasAlpha, hv_is_premultiplied_heif(file.bytes.baseAddress, file.bytes.count) != 0 {
                let depth = Int32(header.depth)
                header = try header.applying { hv_unpremultiply($0, depth) }
            }
            let probe = probe()
            isAdjusted = probe?.isLimitedGray == true
            opened = isAdjusted ? try header.withFullRange() : header
            sequenceCount = probe?.frameCount ?? 1
        case .pnm where file.matches("P1", at: 0):
            file = try PlainBitmap.packed(file, limits)
            opened = try Decoder.open(file, format)
        case .jp2, .pnm: opened = try Decoder.open(file, format).filled(mostSample: probe()?.mostSample)
        case .icns:
            guard let place = probe()?.part else {
                throw RenderFailure(.unsupported, "An ICNS is read only where an icon in it is a PNG or a JPEG 2000.")
            }
            let part = SourceBytes(copying: Array(file.bytes[place]))
            opened = try Decoder.open(part, part.big32(0) == 12 ? .jp2 : .png)
        case .pdf:
            let header = try Decoder.open(file, format)
            sequenceCount = header.pages
            opened = header
        default: opened = try Decoder.open(file, format, limits)
        }
        guard let header = own ?? opened else { throw RenderFailure(.badData, "The picture has no header.") }
        self.format = format
        self.originalFormat = originalFormat ?? format
        self.animation = animation
        self.own = own
        self.opened = opened
        shrinksPlanes = !isAdjusted && [.avif, .heic].contains(format)
        bytes = file
        // What holds everything of another image was not kept in a way of its own, see ``Encoder``.
        coding = originalFormat == nil ? SourceCoding(of: file, format) : .usual
        orientation = header.orientation
        coded = Extent(width: header.width, height: header.height)
        // The primary image of a HEIF file with several images is used.
        pageCount = animation?.frames.count ?? (format.pictures == .one ? 1 : max(1, header.pages - hiddenPages))
        frameCount = format.pictures == .frames ? pageCount : 1
        pictureCount = max(pageCount, sequenceCount)
        loopCount = FrameTiming.plays(animation?.loopCount ?? header.loopCount)
        let storedDelays = animation?.frames.map(\.delay) ?? header.delays
        delays =
            frameCount > 1
            ? (0..<frameCount).map { FrameDelay.shown($0 < storedDelays.count ? storedDelays[$0] : 0) } : []
        // A drawing takes no memory before it is drawn, and a JPEG of one scan is decoded row by row at the size that is
        // asked for: that is checked then. Each of its blocks of 64 pixels takes two bits at least, one for its mean and
        // one for its end (T.81, F.1.2): a file with less than a byte for 256 pixels says that it is larger than it is.
        let isStreamed = format == .jpeg && !header.hasScans && coded.width * coded.height / 256 <= bytes.count
        if !format.isVector, !isStreamed {
            try limits.check(width: coded.width, height: coded.height)
        }
    }

    /// The smallest scale at which the library draws.
    private static let smallestScale = 0.001

    private static func open(
        _ bytes: SourceBytes, _ format: ImageFormat, _ limits: RenderLimits = RenderLimits(), shrink: Int = 1,
        scale: Double = 1, page: Int = 0, pages: Int = 1
    ) throws(RenderFailure) -> CodecImage {
        guard let loader = format.loader else {
            throw RenderFailure(.unsupported, "There is no decoder for \(format).")
        }
        guard
            let handle = hv_load(
                loader, bytes.bytes.baseAddress, bytes.count, Int32(shrink), scale, Int32(page), Int32(pages), 1, 2,
                // The library's own limits are about as strict as the default limits here, so they are lifted only when
                // a request raises those.
                limits.maxEntityBytes > RenderLimits().maxEntityBytes ? 1 : 0)
        else { throw .ofLibrary(.badData) }
        return CodecImage(handle, source: bytes)
    }

    /// A still image: frame `page`, at least as large as `target` if that is given (as coded), and no larger than
    /// necessary.
    ///
    /// Its pixels can be read once, from top to bottom. JPEG, AVIF and HEIC are shrunk by 2, 4 or 8 during decoding, always
    /// leaving a factor of two to the resampling that follows, as vipsthumbnail does with JPEG; WebP is scaled by its decoder; SVG is drawn
    /// at the size. Of a progressive JPEG that is shrunk by 8, only the first scan is read, where that is fine
    /// enough.
    func still(page: Int = 0, target: Extent? = nil) throws(RenderFailure) -> CodecImage {
        if let own { return own }
        if let animation { return try marked(animation.frame(page, limits)) }
        let target = target ?? coded
        let across = Double(coded.width) / Double(target.width)
        let down = Double(coded.height) / Double(target.height)
        let factor = min(across, down)
        switch format {
        case .jpeg:
            if factor >= 16, let opened, let eighth = ProgressiveJPEG.eighth(of: bytes) {
                let (size, bands) = (eighth.size, eighth.bands)
                let plain = try CodecImage.pixels(eighth.samples, width: size.width, height: size.height, bands: bands)
                return try plain.applying(with: opened) { hv_with_metadata($0, $1) }.covering(covered(by: 8))
            }
            let shrink = shrink(by: factor)
            let decoded = coded.scaled(by: 1 / Double(shrink))
            try limits.check(width: decoded.width, height: decoded.height)
            let isSmall = decoded.width * decoded.height <= ImageProcessor.mostPixelsInMemory
            if isSmall, let image = opened?.decodedJPEG(bytes, shrink: shrink) {
                return image.covering(covered(by: shrink))
            }
            return try Decoder.open(bytes, .jpeg, shrink: shrink).covering(covered(by: shrink))
        case .avif, .heic:
            let shrink = shrinksPlanes ? shrink(by: factor) : 1
            if shrink > 1, let image = opened?.decodedHEIF(bytes, shrink: shrink) {
                return image.covering(covered(by: shrink))
            }
            if let opened { return opened }
            return try Decoder.open(bytes, format)
        // Its decoder would mix the colours of transparent pixels, which nobody sees, into others.
        case .webp where pageCount == 1 && factor > 1 && opened?.hasAlpha == false:
            return try Decoder.open(bytes, .webp, scale: 1 / factor)
        case .svg, .pdf:
            try limits.check(width: target.width, height: target.height)
            // What the library cannot draw smaller is drawn larger, and so is what is stretched, if that is allowed.
            let scale = max(1 / factor, Self.smallestScale)
            if scale * factor > 1 { try limits.check(width: coded.width, height: coded.height) }
            let drawn = coded.scaled(by: scale)
            try limits.check(width: drawn.width, height: drawn.height)
            return try Decoder.open(bytes, format, limits, scale: scale)
        case .jxl: return try JXLPictures.picture(page, of: bytes)
        case .gif, .webp, .tiff:
            if page == 0, let opened { return opened }
            return try Decoder.open(bytes, format, page: page)
        default:
            if let opened { return opened }
            return try Decoder.open(bytes, format)
        }
    }

    /// A frame of an animated PNG, which is in sRGB, with the other metadata of its file, also the orientation.
    private func marked(_ frame: CodecImage) throws(RenderFailure) -> CodecImage {
        guard let opened, orientation > 1 || !opened.metadata.isEmpty else { return frame }
        return try frame.applying(with: opened) { hv_with_metadata_alone($0, $1) }
    }

    /// What the picture covers of its pixels when it is shrunk during decoding.
    private func covered(by shrink: Int) -> (width: Double, height: Double) {
        (Double(coded.width) / Double(shrink), Double(coded.height) / Double(shrink))
    }

    /// The factor by which a picture is shrunk during decoding, to become smaller by `factor`: a factor of two is left to the
    /// resampling, unless more pixels than are allowed would be decoded.
    private func shrink(by factor: Double) -> Int {
        var shrink = factor >= 16 ? 8 : factor >= 8 ? 4 : factor >= 4 ? 2 : 1
        while shrink < 8, Double(2 * shrink) <= factor,
            coded.width * coded.height > limits.maxPixels * shrink * shrink
        { shrink *= 2 }
        return shrink
    }

    /// Calls `body` with every frame, in order, each in memory.
    func eachFrame(_ body: (Int, CodecImage) throws(RenderFailure) -> Void) throws(RenderFailure) {
        if let animation {
            return try animation.eachFrame(limits) { (index, frame) throws(RenderFailure) in
                try body(index, try marked(frame))
            }
        }
        if format == .jxl {
            let pictures = try JXLPictures(bytes)
            for index in 0..<frameCount { try body(index, try pictures.next()) }
            return
        }
        let strip = try Decoder.open(bytes, format, pages: -1)
        for index in 0..<frameCount {
            let frame = try strip.applying {
                hv_crop($0, 0, Int32(index * self.coded.height), Int32(self.coded.width), Int32(self.coded.height))
            }
            try body(index, try frame.inMemory())
        }
    }
}
