import ImageRecipes

/// Values to test with.
enum RecipeValues {
    /// A colour that is half transparent.
    static func half() throws -> RecipeColor { RecipeColor(red: 10, green: 11, blue: 12, alpha: 128) }

    /// Every processor, with every kind of parameter.
    static func all() throws -> [ImageProcessor] {
        let size = try PixelSize(width: 200, height: 100)
        let color = try half()
        return [
            .downsample(size), .resize(try Resize(width: 200, height: nil, mode: .aspectFill, upscale: true)),
            .crop(try Crop(size: size, anchorX: 0, anchorY: 0.25)),
            .roundCorner(
                try RoundCorner(radius: .pixels(3), corners: .topLeft, targetSize: size, background: color)),
            .roundCorner(try RoundCorner(radius: .fraction(0.5))), .blur(try Blur(radius: 2.5)),
            .overlay(try Overlay(color: color, fraction: 0.25)), .tint(color),
            .colorControls(try ColorControls(brightness: 0.1, contrast: 1.5, saturation: 0.5, inputEV: -1)),
            .blackWhite, .border(try Border(color: color, width: 1.5, radius: .pixels(2), corners: .bottomLeft)),
            .blend(try Blend(mode: .overlay, alpha: 0.5, background: color)),
            .compositing(try Compositing(operation: .xor, alpha: 0.5)), .rotate(.auto),
            .rotate(try .byDegrees(12.5)),
            .resize(
                try Resize(
                    width: 30, height: 20, mode: .aspectFill, kernel: .mitchell,
                    focus: try FocalPoint(x: 0.25, y: 1))),
            .crop(try Crop(width: 20, height: 10, place: .corner(x: 3, y: 4))),
            .crop(try Crop(width: 0.5, height: 0.25, unit: .fraction, place: .corner(x: 0.5, y: 0))),
            .crop(try Crop(width: 20, height: 10, place: .interest(.entropy))),
            .pad(try Pad(size: size, background: color, gravity: .topRight, upscale: true)),
            .trim(try Trim(tolerance: 2.5)), .flip(try Flip(vertical: true)),
            .circle(try Circle(diameter: 40, background: color)), .sharpen(try Sharpen(radius: 2, amount: 0.5)),
            .pixelate(try Pixelate(size: 8)), .gamma(try Gamma(gamma: 2.2)),
            .watermark(
                try Watermark(
                    data: [1, 2, 3], format: "webp", digest: "0a", gravity: .top, opacity: 0.5, margin: 4, scale: 0.25)),
            .format(try FormatChange(to: .avif, quality: 50)),
        ]
    }

    /// A request that has everything a request can have.
    static func request() throws -> RenderRequest {
        let encoding = Encoding(
            quality: 80, lossless: true, progressive: true, background: try half(), maxBytes: 1000,
            metadata: .none, profile: .sRGB)
        return RenderRequest(
            source: "/tmp/ä b", format: "png", originalFormat: "jpeg",
            outputs: [
                RenderOutput(steps: try all(), frames: .number(7), rule: .automatic(encoding), path: "/tmp/1"),
                RenderOutput(steps: [], frames: .first, rule: .format(.heic, Encoding()), path: "/tmp/2"),
                RenderOutput(steps: [.blackWhite], frames: .all, rule: .pixels, path: "/tmp/3"),
                RenderOutput(steps: [], rule: .nothing, path: ""),
            ],
            limits: RenderLimits(
                maxPixels: 1, maxFrames: 2, maxAnimationPixels: 3, decodeSeconds: 4.5, maxBytes: 5, maxEntityBytes: 6),
            wantsPlaceholder: true)
    }

    /// Messages that have everything a message can have.
    static func messages() throws -> [RenderMessage] {
        let kinds: [RenderFailure.Kind] = [
            .badData, .unsupported, .limit("maxPixels"), .processingFailed, .outOfMemory, .resultFailed,
            .sourceFailed,
        ]
        let image = RenderedImage(
            format: "rgba", width: 3, height: 4, frameCount: 2, byteCount: 96, hasAlpha: true, delays: [100, 40],
            loopCount: 1, stride: 12, isExact: true, framesDropped: 5)
        return [
            .hello(CodecFacts(decodes: ["png", "webp"], encodes: ["png"])), .request(try request()),
            .reply(
                RenderReply(
                    outcomes: [.finished(image)] + kinds.map { .failed(RenderFailure($0, "It is „so“.")) },
                    placeholder: RenderPlaceholder(
                        thumbHash: [1, 2, 3], blurHash: "L~OkV*}Y}Y", dominantColor: try half()))),
            .reply(RenderReply(outcomes: [])),
        ]
    }
}
