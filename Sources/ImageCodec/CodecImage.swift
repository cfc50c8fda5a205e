internal import CVips
internal import ImageRecipes

/// An image of libvips, usually a lazy pipeline whose pixels are computed on demand.
///
/// Each operation returns a new image; none changes its input.
final class CodecImage {
    private let handle: OpaquePointer
    /// The encoded bytes, which must live as long as the pixels are decoded from them.
    private let source: SourceBytes?
    /// `true` when the pixels are computed and in memory.
    private let isInMemory: Bool

    let width: Int
    let height: Int
    /// The part of the width and the height that the picture covers, in pixels: where the last block of what was shrunk during
    /// decoding has fewer pixels than the others, the last column and row stand for less than one.
    var covered: (width: Double, height: Double)
    let bands: Int
    /// The number of bits per sample; 32 for floating point.
    let depth: Int
    let colours: Colours
    let hasAlpha: Bool
    let hasProfile: Bool
    /// `true` for a JPEG of several scans, of which a decoder keeps all coefficients.
    let hasScans: Bool
    /// The EXIF orientation, 1…8.
    let orientation: Int
    /// The number of pages or frames in the file, whether or not they were opened.
    let pages: Int
    let loopCount: Int

    /// The meaning of the samples.
    enum Colours { case gray, rgb, cmyk, other }

    /// Takes ownership of the reference.
    init(_ handle: OpaquePointer, source: SourceBytes? = nil, isInMemory: Bool = false) {
        self.handle = handle
        self.source = source
        self.isInMemory = isInMemory
        var info = hv_info()
        hv_describe(handle, &info)
        width = Int(info.width)
        height = Int(info.height)
        covered = (Double(info.width), Double(info.height))
        bands = Int(info.bands)
        depth = Int(info.depth)
        colours =
            switch info.colours {
            case 1: .gray
            case 3: .rgb
            case 4: .cmyk
            default: .other
            }
        hasAlpha = info.has_alpha != 0
        hasProfile = info.has_profile != 0
        hasScans = info.has_scans != 0
        orientation = Int(info.orientation)
        pages = max(1, Int(info.pages))
        loopCount = max(0, Int(info.loop))
    }

    deinit { hv_release(handle) }

    /// The result of a libvips operation on this image.
    func applying(_ operation: (OpaquePointer) -> OpaquePointer?) throws(RenderFailure) -> CodecImage {
        guard let result = operation(handle) else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, source: source)
    }

    /// The result of a libvips operation on this image and another.
    func applying(
        with other: CodecImage, _ operation: (OpaquePointer, OpaquePointer) -> OpaquePointer?
    ) throws(RenderFailure) -> CodecImage {
        guard let result = operation(handle, other.handle) else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, source: source ?? other.source)
    }

    /// The image with its pixels in memory, decoded if necessary. Damage in the source is reported here.
    func inMemory() throws(RenderFailure) -> CodecImage {
        if isInMemory { return self }
        guard let result = hv_materialise(handle) else { throw .ofLibrary(.badData) }
        return CodecImage(result, isInMemory: true).covering(covered)
    }

    /// This image, of which the picture covers so many pixels.
    func covering(_ covered: (width: Double, height: Double)) -> CodecImage {
        self.covered = covered
        return self
    }

    /// The image resampled by this module's own arithmetic; nil when it is not suited for that: it must have 8 bits,
    /// and be small or in memory.
    func resampled(to size: Extent) throws(RenderFailure) -> CodecImage? {
        guard depth == 8, isInMemory || width * height <= ImageProcessor.mostPixelsInMemory else { return nil }
        // The weights of more pixels than that are too small for their fixed point.
        let most = 1000
        if width > most * size.width || height > most * size.height {
            let between = Extent(
                width: width > most * size.width ? most / 4 * size.width : width,
                height: height > most * size.height ? most / 4 * size.height : height)
            return try resampled(to: between)?.resampled(to: size)
        }
        let ready = try inMemory()
        let result = withExtendedLifetime(ready) {
            hv_resample(ready.handle, covered.width, covered.height, Int32(size.width), Int32(size.height))
        }
        guard let result else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, isInMemory: true)
    }

    /// The image of another size, in which each pixel is the one of this image at its centre; in memory.
    func nearest(to size: Extent) throws(RenderFailure) -> CodecImage {
        let ready = try inMemory()
        let result = withExtendedLifetime(ready) { hv_nearest(ready.handle, Int32(size.width), Int32(size.height)) }
        guard let result else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, isInMemory: true)
    }

    /// The part of that size that is the most interesting.
    func mostInteresting(_ size: Extent, _ interest: Crop.Interest) throws(RenderFailure) -> Region {
        var (left, top): (Int32, Int32) = (0, 0)
        let byEntropy: Int32 = interest == .entropy ? 1 : 0
        guard hv_find_interest(handle, Int32(size.width), Int32(size.height), byEntropy, &left, &top) == 0 else {
            throw .ofLibrary(.processingFailed)
        }
        return Region(left: Int(left), top: Int(top), size: size)
    }

    /// The rectangle outside of which no sample differs from that of the first pixel by more than `tolerance`; nil when
    /// there is none.
    func bounds(_ tolerance: Double) throws(RenderFailure) -> Region? {
        var (left, top, width, height): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        guard hv_find_bounds(handle, tolerance, &left, &top, &width, &height) == 0 else {
            throw .ofLibrary(.processingFailed)
        }
        guard width > 0 else { return nil }
        return Region(left: Int(left), top: Int(top), size: Extent(width: Int(width), height: Int(height)))
    }

    /// The images one below the other; all must have the same size and sample format.
    static func stacked(_ images: [CodecImage]) throws(RenderFailure) -> CodecImage {
        var handles: [OpaquePointer?] = images.map(\.handle)
        let result = withExtendedLifetime(images) { hv_stack(&handles, Int32(handles.count)) }
        guard let result else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, isInMemory: true)
    }

    /// An image of 8-bit samples.
    static func pixels(_ samples: [UInt8], width: Int, height: Int, bands: Int) throws(RenderFailure) -> CodecImage {
        precondition(samples.count == width * height * bands)
        guard let result = hv_from_pixels(samples, Int32(width), Int32(height), Int32(bands)) else {
            throw .ofLibrary(.outOfMemory)
        }
        return CodecImage(result, isInMemory: true)
    }

    /// The kinds of metadata of an image besides the profile.
    struct Metadata: OptionSet {
        let rawValue: Int32
        static let exif = Metadata(rawValue: 1)
        static let xmp = Metadata(rawValue: 2)
        static let iptc = Metadata(rawValue: 4)
        /// The place where the picture was taken or the notes of the camera's maker, in one of the others.
        static let position = Metadata(rawValue: 8)
    }

    /// The metadata of the image besides the profile.
    var metadata: Metadata { Metadata(rawValue: hv_carried_metadata(handle)) }

    /// The pixels of a baseline JPEG whose header this is, shrunk during decoding, in memory; nil when libvips must
    /// decode it.
    func decodedJPEG(_ bytes: SourceBytes, shrink: Int) -> CodecImage? {
        hv_decode_jpeg(handle, bytes.bytes.baseAddress, bytes.count, Int32(shrink))
            .map { CodecImage($0, isInMemory: true) }
    }

    /// The pixels of an AVIF or HEIC whose header this is, shrunk during decoding, in memory; nil when libvips must decode
    /// it.
    func decodedHEIF(_ bytes: SourceBytes, shrink: Int) -> CodecImage? {
        hv_decode_heif(handle, bytes.bytes.baseAddress, bytes.count, Int32(shrink))
            .map { CodecImage($0, isInMemory: true) }
    }

    /// The delays of the frames in milliseconds, as stored in the file.
    var delays: [Int] {
        var values = [Int32](repeating: 0, count: pages)
        let count = hv_delays(handle, &values, Int32(values.count))
        return values.prefix(max(0, Int(count))).map { Int($0) }
    }

    /// The samples, row by row, of an 8-bit image.
    func samples() throws(RenderFailure) -> [UInt8] {
        var count = 0
        guard let bytes = hv_pixels(handle, &count) else { throw .ofLibrary(.badData) }
        defer { hv_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The samples that red, green and blue of a colour have in the image, by its profile.
    func samples(of colour: RecipeColor) -> [Double] {
        var samples = [0.0, 0, 0]
        hv_samples_of_colour(handle, [colour.red, colour.green, colour.blue], &samples)
        return samples
    }

    /// RGBA of eight bits in sRGB, row by row.
    func rgba() throws(RenderFailure) -> [UInt8] {
        let bytes = try inSRGB().eightBit().inRGB().withAlpha().samples()
        guard bytes.count == width * height * 4 else {
            throw RenderFailure(.unsupported, "Its samples cannot be turned to RGBA of eight bits.")
        }
        return bytes
    }

    /// The encoded file.
    func encoded(_ format: hv_loader, _ how: hv_encoding) throws(RenderFailure) -> [UInt8] {
        var how = how
        var count = 0
        guard let bytes = hv_save(handle, format, &how, &count) else { throw .ofLibrary(.processingFailed) }
        defer { hv_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// A PNG with a palette; nil when the image does not suit that, or would differ too much, by a mean square over all
    /// samples.
    func encodedWithPalette(_ how: hv_encoding, mostDifference: Double) -> [UInt8]? {
        var how = how
        var count = 0
        guard let bytes = hv_save_palette(handle, &how, mostDifference, &count) else { return nil }
        defer { hv_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The image with the full range of samples, in place of a limited one: 16…235 in eight bits become 0…255, and so in
    /// more bits, whose highest are these eight (ITU-T H.273, section 8.3). Alpha has the full range.
    func withFullRange() throws(RenderFailure) -> CodecImage {
        let most = depth == 16 ? 65_535.0 : 255
        let unit = depth == 16 ? 256.0 : 1
        let scale = most / (219 * unit)
        let colours = hasAlpha ? bands - 1 : bands
        let scales = (0..<bands).map { $0 < colours ? scale : 1 }
        let offsets = (0..<bands).map { $0 < colours ? -16 * unit * scale : 0 }
        return try applying { hv_linear($0, scales, offsets, Int32(bands), Int32(depth)) }
    }

    /// The image with samples up to the largest of their bits, in place of ones up to `most`.
    func filled(mostSample most: Int?) throws(RenderFailure) -> CodecImage {
        let full = depth == 16 ? 65_535 : 255
        guard let most, most < full, depth <= 16 else { return self }
        let scales = [Double](repeating: Double(full) / Double(most), count: bands)
        let offsets = [Double](repeating: 0, count: bands)
        return try applying { hv_linear($0, scales, offsets, Int32(bands), Int32(depth)) }
    }

    /// `true` when no pixel is translucent. Examines every pixel if there is an alpha channel.
    func isOpaque() throws(RenderFailure) -> Bool {
        guard hasAlpha else { return true }
        let answer = hv_is_opaque(handle, Int32(depth))
        guard answer >= 0 else { throw .ofLibrary(.badData) }
        return answer == 1
    }
}

extension RenderFailure {
    /// The failure that libvips reports, as a plain sentence for the known cases.
    static func ofLibrary(_ kind: Kind) -> RenderFailure {
        var text = ""
        if let bytes = hv_take_error() {
            text = String(cString: bytes)
            hv_free(bytes)
        }
        if hv_was_killed() != 0 { return .tookTooLong }
        let first = text.split(separator: "\n").first.map(String.init) ?? "the library gives no reason"
        if text.contains("out of memory") || text.contains("unable to allocate") {
            return RenderFailure(.outOfMemory, "There is not enough memory for the picture (\(first)).")
        }
        switch kind {
        case .badData where namesMissingFeature(text):
            return RenderFailure(.unsupported, "It cannot be decoded here (\(first)).")
        case .badData: return RenderFailure(.badData, "The picture is damaged or cut off (\(first)).")
        default: return RenderFailure(kind, "The picture could not be processed (\(first)).")
        }
    }

    /// `true` when a library says that it lacks what the picture needs, which is no damage: the words that libvips, libtiff,
    /// libjpeg and libheif have for that.
    private static func namesMissingFeature(_ text: String) -> Bool {
        let text = text.lowercased()
        // libvips says the last of a TIFF of more than 32 bits a sample.
        let words = [
            "unsupported", "not supported", "not implemented", "not configured", "samples out of range", "encrypted",
        ]
        return words.contains { text.contains($0) }
    }

    /// The failure for a passed deadline.
    static var tookTooLong: RenderFailure {
        RenderFailure(
            .limit("decodeSeconds"), "Decoding took longer than decodeSeconds allows; raise it for pictures like this.")
    }
}
