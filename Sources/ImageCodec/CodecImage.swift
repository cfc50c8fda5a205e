internal import CVips
internal import ImageRecipes

/// A picture of libvips, most often a recipe whose pixels are made when they are asked for.
///
/// Each operation gives a new picture; none changes its own.
final class CodecImage {
    private let handle: OpaquePointer
    /// What must live as long as the pixels: the bytes they are decoded from.
    private let source: SourceBytes?
    /// Whether the pixels are made and in memory.
    private let isInMemory: Bool

    let width: Int
    let height: Int
    let bands: Int
    /// Bits a sample, 32 for floating point.
    let depth: Int
    let colours: Colours
    let hasAlpha: Bool
    let hasProfile: Bool
    /// EXIF orientation, 1…8.
    let orientation: Int
    /// How many pages or frames the file has, whether or not they were opened.
    let pages: Int
    let loopCount: Int

    /// What the samples stand for.
    enum Colours { case gray, rgb, cmyk, other }

    /// Takes the reference over.
    init(_ handle: OpaquePointer, source: SourceBytes? = nil, isInMemory: Bool = false) {
        self.handle = handle
        self.source = source
        self.isInMemory = isInMemory
        var info = hv_info()
        hv_describe(handle, &info)
        width = Int(info.width)
        height = Int(info.height)
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
        orientation = Int(info.orientation)
        pages = max(1, Int(info.pages))
        loopCount = max(0, Int(info.loop))
    }

    deinit { hv_release(handle) }

    /// What an operation of libvips makes of the picture.
    func made(_ operation: (OpaquePointer) -> OpaquePointer?) throws(RenderFailure) -> CodecImage {
        guard let result = operation(handle) else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, source: source)
    }

    /// What an operation makes of this picture and another.
    func made(
        with other: CodecImage, _ operation: (OpaquePointer, OpaquePointer) -> OpaquePointer?
    ) throws(RenderFailure) -> CodecImage {
        guard let result = operation(handle, other.handle) else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, source: source ?? other.source)
    }

    /// The picture with its pixels in memory, decoded if they were not; what is wrong with the source shows here.
    func inMemory() throws(RenderFailure) -> CodecImage {
        if isInMemory { return self }
        guard let result = hv_materialise(handle) else { throw .ofLibrary(.badData) }
        return CodecImage(result, isInMemory: true)
    }

    /// The picture resampled by our own arithmetic if it is one that this is made for: small or in memory, of 8 bits.
    func resampled(to size: Extent) throws(RenderFailure) -> CodecImage? {
        guard depth == 8, isInMemory || width * height <= ImageProcessor.mostPixelsInMemory else { return nil }
        let ready = try inMemory()
        let result = withExtendedLifetime(ready) {
            hv_resample(ready.handle, Int32(size.width), Int32(size.height))
        }
        guard let result else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, isInMemory: true)
    }

    /// One picture below the other; all have one size and one kind of samples.
    static func stacked(_ images: [CodecImage]) throws(RenderFailure) -> CodecImage {
        var handles: [OpaquePointer?] = images.map(\.handle)
        let result = withExtendedLifetime(images) { hv_stack(&handles, Int32(handles.count)) }
        guard let result else { throw .ofLibrary(.processingFailed) }
        return CodecImage(result, isInMemory: true)
    }

    /// A picture of 8-bit samples.
    static func pixels(_ samples: [UInt8], width: Int, height: Int, bands: Int) throws(RenderFailure) -> CodecImage {
        precondition(samples.count == width * height * bands)
        guard let result = hv_from_pixels(samples, Int32(width), Int32(height), Int32(bands)) else {
            throw .ofLibrary(.outOfMemory)
        }
        return CodecImage(result, isInMemory: true)
    }

    /// What the picture carries besides pixels and profile.
    struct Metadata: OptionSet {
        let rawValue: Int32
        static let exif = Metadata(rawValue: 1)
        static let xmp = Metadata(rawValue: 2)
        static let iptc = Metadata(rawValue: 4)
    }

    /// What the picture carries besides pixels and profile.
    var metadata: Metadata { Metadata(rawValue: hv_carried_metadata(handle)) }

    /// The pixels of a plain JPEG of which this is the header, shrunk while they are decoded, in memory; nil where libvips is to try.
    func decodedJPEG(_ bytes: SourceBytes, shrink: Int) -> CodecImage? {
        hv_decode_jpeg(handle, bytes.bytes.baseAddress, bytes.count, Int32(shrink))
            .map { CodecImage($0, isInMemory: true) }
    }

    /// The first picture of a JPEG XL, as it is shown, in memory.
    static func decodedJXL(_ bytes: SourceBytes) throws(RenderFailure) -> CodecImage {
        guard let result = hv_decode_jxl(bytes.bytes.baseAddress, bytes.count) else { throw .ofLibrary(.badData) }
        return CodecImage(result, isInMemory: true)
    }

    /// The delays of the frames in milliseconds, as the file has them.
    var delays: [Int] {
        var values = [Int32](repeating: 0, count: pages)
        let count = hv_delays(handle, &values, Int32(values.count))
        return values.prefix(max(0, Int(count))).map { Int($0) }
    }

    /// The samples, row by row, of a picture of 8 bits.
    func samples() throws(RenderFailure) -> [UInt8] {
        var count = 0
        guard let bytes = hv_pixels(handle, &count) else { throw .ofLibrary(.badData) }
        defer { hv_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The encoded file.
    func encoded(_ format: hv_loader, _ how: hv_encoding) throws(RenderFailure) -> [UInt8] {
        var how = how
        var count = 0
        guard let bytes = hv_save(handle, format, &how, &count) else { throw .ofLibrary(.processingFailed) }
        defer { hv_free(bytes) }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// Whether no pixel is translucent. Looks at every pixel, if there is an alpha channel.
    func isOpaque() throws(RenderFailure) -> Bool {
        guard hasAlpha else { return true }
        let answer = hv_is_opaque(handle, Int32(depth))
        guard answer >= 0 else { throw .ofLibrary(.badData) }
        return answer == 1
    }
}

extension RenderFailure {
    /// What the library says went wrong, as a sentence without its jargon where we know it.
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
        case .badData: return RenderFailure(.badData, "The picture is damaged or cut off (\(first)).")
        default: return RenderFailure(kind, "The picture could not be processed (\(first)).")
        }
    }

    /// The deadline passed.
    static var tookTooLong: RenderFailure {
        RenderFailure(
            .limit("decodeSeconds"), "Decoding took longer than decodeSeconds allows; raise it for pictures like this.")
    }
}
