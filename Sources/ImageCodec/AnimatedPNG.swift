internal import CVips
internal import ImageRecipes

/// Animated PNGs (the APNG specification, version 1.0, and PNG's third edition). libvips supports still PNGs only, so
/// this type splits the file into stills, and assembles it from stills.
struct AnimatedPNG {
    /// One frame as stored in the file.
    struct Frame {
        var width, height, left, top: Int
        /// The display time in milliseconds.
        var delay: Int
        var dispose: Int
        var blend: Int
        /// The ranges of the file that hold the coded pixels.
        var parts: [Range<Int>] = []
    }

    private(set) var frames: [Frame] = []
    /// The number of times that the animation is played; 0 means forever.
    private(set) var loopCount = 0
    private let file: SourceBytes
    private let canvas: Extent
    /// The chunks that every frame needs, besides the header.
    private var shared: [Range<Int>] = []

    /// The animation in a file; nil if it is a still image.
    init?(_ file: SourceBytes) throws(RenderFailure) {
        self.file = file
        var place = 8
        var announced: Int?
        var seesPixels = false
        var hidesDefault = false
        guard file.big32(0) == 0x8950_4E47, file.big32(8) == 13, file.big32(12) == Chunk.IHDR,
            let width = file.big32(16), let height = file.big32(20)
        else { return nil }
        canvas = Extent(width: width, height: height)
        while let length = file.big32(place), let kind = file.big32(place + 4) {
            let end = place + 12 + length
            guard end <= file.count else { throw BMPDecoder.damaged("a part of it ends outside of the file") }
            let body = (place + 8)..<(place + 8 + length)
            switch kind {
            // The first chunk is the header; any other one of that name is none.
            case Chunk.IHDR: break
            case Chunk.acTL:
                guard !seesPixels, length == 8 else { break }
                announced = file.big32(place + 8)
                loopCount = file.big32(place + 12) ?? 0
            case Chunk.fcTL:
                guard announced != nil, length == 26 else { break }
                frames.append(try control(place + 8))
            case Chunk.IDAT:
                guard announced != nil else { return nil }
                seesPixels = true
                // Pixels before the first fcTL are the still image for decoders without animation support.
                if frames.isEmpty { hidesDefault = true } else { frames[frames.count - 1].parts.append(body) }
            case Chunk.fdAT:
                guard length >= 4 else { throw BMPDecoder.damaged("a frame is cut off") }
                if !frames.isEmpty { frames[frames.count - 1].parts.append((place + 12)..<body.upperBound) }
            case Chunk.IEND: break
            default:
                if !seesPixels, frames.isEmpty || kind == Chunk.PLTE || kind == Chunk.tRNS {
                    shared.append(place..<end)
                }
            }
            if kind == Chunk.IEND { break }
            place = end
        }
        guard let announced, announced > 0, frames.count == announced, frames.allSatisfy({ !$0.parts.isEmpty }),
            announced > 1 || hidesDefault
        else {
            // One frame that is the still image is that; an animation with inconsistent chunks is shown as a still, as
            // in browsers.
            return nil
        }
    }

    private func control(_ place: Int) throws(RenderFailure) -> Frame {
        guard let width = file.big32(place + 4), let height = file.big32(place + 8), let left = file.big32(place + 12),
            let top = file.big32(place + 16), let numerator = file.big16(place + 20),
            let denominator = file.big16(place + 22), let dispose = file.byte(place + 24),
            let blend = file.byte(place + 25), width > 0, height > 0, left + width <= canvas.width,
            top + height <= canvas.height
        else { throw BMPDecoder.damaged("a frame lies outside of the picture") }
        let delay = numerator * 1000 / (denominator == 0 ? 100 : denominator)
        return Frame(
            width: width, height: height, left: left, top: top, delay: delay, dispose: dispose, blend: blend)
    }

    // MARK: - Frames

    /// One complete frame. The frames before it are drawn too, because it may build on them.
    func frame(_ number: Int, _ limits: RenderLimits) throws(RenderFailure) -> CodecImage {
        var result: CodecImage?
        try eachFrame(limits, upTo: number) { (index, frame) throws(RenderFailure) in
            if index == number { result = frame }
        }
        guard let result else { throw RenderFailure(.processingFailed, "The picture has \(frames.count) frames.") }
        return result
    }

    /// Calls `body` with every complete frame, in order.
    func eachFrame(
        _ limits: RenderLimits, upTo last: Int = .max, _ body: (Int, CodecImage) throws(RenderFailure) -> Void
    ) throws(RenderFailure) {
        try limits.check(width: canvas.width, height: canvas.height)
        var pixels = [UInt8](repeating: 0, count: canvas.width * canvas.height * 4)
        for (index, frame) in frames.enumerated() where index <= last {
            let samples = try decoded(frame)
            let before = frame.dispose == 2 ? pixels : []
            draw(samples, frame, on: &pixels)
            try body(index, try .pixels(pixels, width: canvas.width, height: canvas.height, bands: 4))
            switch frame.dispose {
            case 1: clear(frame, on: &pixels)
            case 2: if index == 0 { clear(frame, on: &pixels) } else { pixels = before }
            default: break
            }
        }
    }

    /// The frame's own pixels as RGBA, decoded from a still PNG that is assembled from its chunks.
    private func decoded(_ frame: Frame) throws(RenderFailure) -> [UInt8] {
        var still: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        let size = Chunk.big32(frame.width) + Chunk.big32(frame.height)
        Chunk.append(Chunk.IHDR, size + file.bytes[24..<29], to: &still)
        for chunk in shared { still += file.bytes[chunk] }
        for part in frame.parts { Chunk.append(Chunk.IDAT, Array(file.bytes[part]), to: &still) }
        Chunk.append(Chunk.IEND, [], to: &still)
        let source = SourceBytes(copying: still)
        guard let handle = hv_load(hv_png, source.bytes.baseAddress, source.count, 1, 1, 0, 1, 1, 2, 0) else {
            throw .ofLibrary(.badData)
        }
        let image = CodecImage(handle, source: source)
        guard image.width == frame.width, image.height == frame.height else {
            throw BMPDecoder.damaged("a frame has another size than it says")
        }
        return try image.inMemory().rgba()
    }

    private func draw(_ samples: [UInt8], _ frame: Frame, on pixels: inout [UInt8]) {
        for y in 0..<frame.height {
            for x in 0..<frame.width {
                let from = (y * frame.width + x) * 4
                let to = ((frame.top + y) * canvas.width + frame.left + x) * 4
                let alpha = Int(samples[from + 3])
                if frame.blend == 0 || alpha == 255 || pixels[to + 3] == 0 {
                    for band in 0..<4 { pixels[to + band] = samples[from + band] }
                } else if alpha > 0 {
                    let below = Int(pixels[to + 3]) * (255 - alpha)
                    let sum = alpha * 255 + below
                    for band in 0..<3 {
                        let mixed = Int(samples[from + band]) * alpha * 255 + Int(pixels[to + band]) * below
                        pixels[to + band] = UInt8((mixed + sum / 2) / sum)
                    }
                    pixels[to + 3] = UInt8((sum + 127) / 255)
                }
            }
        }
    }

    private func clear(_ frame: Frame, on pixels: inout [UInt8]) {
        for y in frame.top..<(frame.top + frame.height) {
            let start = (y * canvas.width + frame.left) * 4
            for place in start..<(start + frame.width * 4) { pixels[place] = 0 }
        }
    }

    // MARK: - Writing

    /// An animation of complete frames, each a PNG of the same size and pixel format.
    static func assembled(_ stills: [[UInt8]], delays: [Int], loopCount: Int) throws(RenderFailure) -> [UInt8] {
        var file: [UInt8] = []
        var sequence = 0
        for (index, still) in stills.enumerated() {
            let bytes = SourceBytes(copying: still)
            guard let width = bytes.big32(16), let height = bytes.big32(20) else {
                throw RenderFailure(.processingFailed, "A frame could not be written.")
            }
            var place = 8
            var hasControl = false
            if index == 0 { file += still.prefix(8) }
            while let length = bytes.big32(place), let kind = bytes.big32(place + 4) {
                let end = place + 12 + length
                guard end <= still.count else { break }
                if kind == Chunk.IDAT {
                    if !hasControl {
                        hasControl = true
                        let delay = min(index < delays.count ? delays[index] : 100, 65_535)
                        var control = Chunk.big32(sequence) + Chunk.big32(width) + Chunk.big32(height)
                        control += Chunk.big32(0) + Chunk.big32(0)
                        control += [UInt8(delay >> 8), UInt8(delay & 255), 0x03, 0xE8, 0, 0]
                        Chunk.append(Chunk.fcTL, control, to: &file)
                        sequence += 1
                    }
                    if index == 0 {
                        file += still[place..<end]
                    } else {
                        Chunk.append(Chunk.fdAT, Chunk.big32(sequence) + still[(place + 8)..<(end - 4)], to: &file)
                        sequence += 1
                    }
                } else if index == 0, kind != Chunk.IEND {
                    file += still[place..<end]
                    if kind == Chunk.IHDR {
                        Chunk.append(Chunk.acTL, Chunk.big32(stills.count) + Chunk.big32(loopCount), to: &file)
                    }
                }
                place = end
            }
        }
        Chunk.append(Chunk.IEND, [], to: &file)
        return file
    }

    /// The chunks of PNG files.
    enum Chunk {
        static let IHDR = 0x4948_4452
        static let PLTE = 0x504C_5445
        static let tRNS = 0x7452_4E53
        static let IDAT = 0x4944_4154
        static let IEND = 0x4945_4E44
        static let acTL = 0x6163_544C
        static let fcTL = 0x6663_544C
        static let fdAT = 0x6664_4154

        static func big32(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

        /// Appends a chunk with its length and checksum.
        static func append(_ kind: Int, _ body: [UInt8], to file: inout [UInt8]) {
            file += big32(body.count)
            let start = file.count
            file += big32(kind) + body
            file += big32(Int(checksum(file[start...])))
        }

        /// CRC-32 (PNG, annex D).
        static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
            ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
        }

        private static let table: [UInt32] = (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
        }
    }
}
