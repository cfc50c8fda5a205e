import ImageRecipes
import TestSupport
import Testing

/// What the processors make of pixels, by their formulas; `png-1x1.png` is one pixel of (214, 69, 52).
@Suite struct ProcessorTests {
    private static let black = RecipeColor(red: 0, green: 0, blue: 0)
    private static let blue = RecipeColor(red: 10, green: 20, blue: 250)

    @Test("Processors that only change colours follow their formulas on a single pixel")
    func colours() async throws {
        let bench = try await CodecBench()
        let half = RecipeColor(red: 0, green: 0, blue: 255, alpha: 128)
        let cases: [(ImageProcessor, [UInt8])] = [
            (.overlay(try Overlay(color: Self.black)), [107, 35, 26, 255]),
            (.overlay(try Overlay(color: Self.blue, fraction: 0.25)), [61, 32, 201, 255]),
            (.overlay(try Overlay(color: Self.blue, fraction: 1)), [214, 69, 52, 255]),
            (.overlay(try Overlay(color: half, fraction: 0)), [107, 34, 154, 255]),
            (.tint(Self.blue), [10, 20, 250, 255]),
            (.tint(half), [0, 0, 255, 128]),
            // Y = 0.2126 · 214 + 0.7152 · 69 + 0.0722 · 52 = 98.6
            (.colorControls(try ColorControls(saturation: 0)), [99, 99, 99, 255]),
            (.colorControls(try ColorControls(brightness: 0.1)), [240, 95, 78, 255]),
            (.colorControls(try ColorControls(contrast: 2)), [255, 11, 0, 255]),
            // One stop more light: 52 is 0.0343 of it, doubled 0.0685, which is 74.
            (.colorControls(try ColorControls(inputEV: 1)), [255, 97, 74, 255]),
            // 99 is 0.1248 of the light, times 2^0.7 0.2027, which is 124.
            (.blackWhite, [124, 124, 124, 255]),
            // (214 / 255)^½ = 0.9161, (69 / 255)^½ = 0.5202, (52 / 255)^½ = 0.4516
            (.gamma(try Gamma(gamma: 2)), [234, 133, 115, 255]),
            (.gamma(try Gamma(gamma: 0.5)), [180, 19, 11, 255]),
            (.sharpen(try Sharpen(radius: 3, amount: 10)), [214, 69, 52, 255]),
            (.pixelate(try Pixelate(size: 9)), [214, 69, 52, 255]), (.trim(try Trim()), [214, 69, 52, 255]),
            (.flip(try Flip(horizontal: true, vertical: true)), [214, 69, 52, 255]),
            (.crop(try Crop(width: 9, height: 9, place: .interest(.smart))), [214, 69, 52, 255]),
            (.crop(try Crop(width: 9, height: 9, place: .interest(.entropy))), [214, 69, 52, 255]),
            (
                .crop(try Crop(width: 0.1, height: 0.1, unit: .fraction, place: .corner(x: 0.9, y: 0.9))),
                [214, 69, 52, 255]
            ),
            (.pad(try Pad(size: try PixelSize(width: 1, height: 1))), [214, 69, 52, 255]),
            (
                .blend(try Blend(mode: .multiply, background: RecipeColor(red: 128, green: 128, blue: 128))),
                [107, 35, 26, 255]
            ),
            (
                .blend(try Blend(mode: .screen, background: RecipeColor(red: 128, green: 128, blue: 128))),
                [235, 162, 154, 255]
            ),
            (.blend(try Blend(mode: .normal, alpha: 0.5, background: Self.black)), [107, 35, 26, 255]),
            (
                .blend(try Blend(mode: .difference, background: RecipeColor(red: 255, green: 0, blue: 52))),
                [41, 69, 0, 255]
            ),
            (.blend(try Blend(mode: .multiply)), [214, 69, 52, 255]),
            (.compositing(try Compositing(operation: .clear, background: Self.blue)), [0, 0, 0, 0]),
            (.compositing(try Compositing(operation: .copy, background: Self.blue)), [214, 69, 52, 255]),
            (.compositing(try Compositing(operation: .destinationOver, background: Self.blue)), [10, 20, 250, 255]),
            (.compositing(try Compositing(operation: .xor, background: Self.blue)), [0, 0, 0, 0]),
            (.compositing(try Compositing(operation: .sourceIn)), [0, 0, 0, 0]),
            (.compositing(try Compositing(operation: .plusLighter, background: Self.blue)), [224, 89, 255, 255]),
        ]
        for (processor, expected) in cases {
            let pixel = try await bench.pixels("png-1x1.png", [processor]).bytes
            #expect(pixel.count == 4)
            for (ours, theirs) in zip(pixel, expected) {
                #expect(abs(Int(ours) - Int(theirs)) <= 1, "\(processor.identifier): \(pixel), not \(expected)")
            }
        }
    }

    @Test("Translucent pictures and colours blend and composite as the formulas of the W3C say")
    func translucent() async throws {
        let bench = try await CodecBench()
        let sky = RecipeColor(red: 64, green: 128, blue: 192)
        let veil = RecipeColor(red: 64, green: 128, blue: 192, alpha: 128)
        let cases: [([UInt8], ImageProcessor, [Int])] = [
            ([255, 255, 255, 128], .blend(try Blend(mode: .multiply, background: sky)), [64, 128, 192, 255]),
            (
                [255, 255, 255, 255], .blend(try Blend(mode: .darken, alpha: 0.5, background: sky)),
                [64, 128, 192, 255]
            ),
            ([255, 0, 0, 255], .blend(try Blend(mode: .lighten, alpha: 0.5, background: sky)), [160, 128, 192, 255]),
            ([0, 0, 0, 128], .blend(try Blend(mode: .screen, background: veil)), [43, 85, 128, 192]),
            (
                [252, 252, 252, 255], .blend(try Blend(mode: .exclusion, alpha: 0.48, background: Self.black)),
                [121, 121, 121, 255]
            ),
            ([200, 100, 50, 128], .blend(try Blend(mode: .normal, background: sky)), [132, 114, 121, 255]),
            ([200, 100, 50, 128], .blend(try Blend(mode: .hardLight)), [200, 100, 50, 128]),
            // Of opaque colours: 144/255 above one half, and below, by 9.1.6 to 9.1.9.
            ([200, 100, 50, 255], .blend(try Blend(mode: .overlay, background: sky)), [100, 101, 154, 255]),
            ([200, 100, 50, 255], .blend(try Blend(mode: .hardLight, background: sky)), [173, 100, 75, 255]),
            ([200, 100, 50, 255], .blend(try Blend(mode: .colorDodge, background: sky)), [255, 211, 239, 255]),
            ([200, 100, 50, 255], .blend(try Blend(mode: .colorBurn, background: sky)), [11, 0, 0, 255]),
            ([200, 100, 50, 255], .blend(try Blend(mode: .softLight, background: sky)), [100, 114, 163, 255]),
            (
                [0, 128, 30, 255], .compositing(try Compositing(operation: .sourceAtop, background: veil)),
                [0, 128, 30, 128]
            ),
            ([0, 255, 30, 255], .compositing(try Compositing(operation: .destinationAtop)), [0, 255, 30, 255]),
            (
                [255, 0, 30, 128], .compositing(try Compositing(operation: .destinationAtop, background: sky)),
                [64, 128, 192, 128]
            ),
            (
                [255, 0, 30, 128], .compositing(try Compositing(operation: .sourceIn, background: veil)),
                [255, 0, 30, 64]
            ),
            (
                [255, 0, 30, 128], .compositing(try Compositing(operation: .sourceOut, background: veil)),
                [255, 0, 30, 64]
            ),
            (
                [255, 0, 30, 128], .compositing(try Compositing(operation: .destinationOut, background: veil)),
                [64, 128, 192, 64]
            ),
            (
                [255, 0, 30, 128], .compositing(try Compositing(operation: .xor, background: veil)),
                [160, 64, 111, 128]
            ),
            (
                [255, 0, 30, 128], .compositing(try Compositing(operation: .plusLighter, background: veil)),
                [160, 64, 111, 255]
            ),
            (
                [255, 255, 255, 128],
                .border(try Border(color: RecipeColor(red: 255, green: 255, blue: 255, alpha: 64), width: 1)),
                [255, 255, 255, 160]
            ),
        ]
        for (pixel, processor, expected) in cases {
            let source = try bench.file(Drawn.bitmap(1, 1) { _, _ in pixel })
            let result = try await bench.pixels(of: source, "bmp", [processor])[0, 0].map(Int.init)
            #expect(
                zip(result, expected).allSatisfy { abs($0 - $1) <= 1 },
                "\(processor.identifier): \(result), not \(expected)")
        }
    }

    @Test("A crop has the very pixels of its part, by its anchor, and no more than there are")
    func crops() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgb.png")
        for (x, y, left, top) in [(0.0, 0.0, 0, 0), (1, 1, 41, 27), (0.5, 0.5, 21, 14), (0.25, 0.75, 10, 20)] {
            let crop = try Crop(size: try PixelSize(width: 20, height: 10), anchorX: x, anchorY: y)
            let part = try await bench.pixels("png-rgb.png", [.crop(crop)])
            #expect(part.width == 20 && part.height == 10)
            #expect(part[0, 0] == whole[left, top] && part[19, 9] == whole[left + 19, top + 9], "\(x) \(y)")
        }
        let large = try Crop(size: try PixelSize(width: 600, height: 10))
        let wide = try await bench.pixels("png-rgb.png", [.crop(large)])
        #expect(wide.width == 61 && wide.height == 10)
    }

    @Test("Quarter turns move pixels clockwise; other angles lay bare clear corners")
    func rotation() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgb.png")
        let quarter = try await bench.pixels("png-rgb.png", [.rotate(try .byDegrees(90))])
        #expect(quarter.width == 37 && quarter.height == 61)
        #expect(quarter[36, 0] == whole[0, 0] && quarter[0, 60] == whole[60, 36])
        let back = try await bench.pixels("png-rgb.png", [.rotate(try .byDegrees(180)), .rotate(try .byDegrees(-180))])
        #expect(back == whole)
        let oblique = try await bench.pixels("png-rgb.png", [.rotate(try .byDegrees(45))])
        #expect(oblique[0, 0][3] == 0 && oblique[oblique.width / 2, oblique.height / 2][3] == 255)
    }

    @Test("Round corners are clear or of the colour below, only those asked for, and the middle stays")
    func corners() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgb.png")
        let round = try RoundCorner(radius: .pixels(12), corners: [.topLeft, .bottomRight])
        let result = try await bench.pixels("png-rgb.png", [.roundCorner(round)])
        #expect(result[0, 0][3] == 0 && result[60, 36][3] == 0)
        #expect(result[60, 0] == whole[60, 0] && result[0, 36] == whole[0, 36] && result[30, 18] == whole[30, 18])
        let ground = try RoundCorner(radius: .fraction(0.5), background: Self.blue)
        let flat = try await bench.pixels("png-rgb.png", [.roundCorner(ground)])
        #expect(flat[0, 0] == [10, 20, 250, 255] && flat[30, 18] == whole[30, 18])
        let circle = try RoundCorner(radius: .fraction(0.5), targetSize: try PixelSize(width: 20, height: 20))
        let small = try await bench.pixels("png-rgb.png", [.roundCorner(circle)])
        #expect(small.width == 20 && small.height == 20 && small[0, 0][3] == 0 && small[10, 10][3] == 255)
        #expect(small[10, 0][3] > 128 && small[0, 10][3] > 128)
    }

    @Test("A border lies inside of the picture, as wide as asked, and the rest stays")
    func borders() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgb.png")
        let result = try await bench.pixels("png-rgb.png", [.border(try Border(color: Self.blue, width: 4))])
        for place in [(0, 0), (3, 20), (60, 36), (30, 3), (57, 18)] {
            #expect(result[place.0, place.1] == [10, 20, 250, 255])
        }
        for place in [(4, 4), (30, 18), (56, 32)] { #expect(result[place.0, place.1] == whole[place.0, place.1]) }
    }

    @Test("Blur keeps a plain colour, the mean, and the alpha of what is opaque, at any radius")
    func blurs() async throws {
        let bench = try await CodecBench()
        let plain: [ImageProcessor] = [.tint(Self.blue)]
        let whole = try await bench.pixels("png-rgb.png")
        for radius in [0.5, 3, 15, 40, 500] {
            let blur = ImageProcessor.blur(try Blur(radius: radius))
            let flat = try await bench.pixels("png-rgb.png", plain + [blur])
            #expect(flat[0, 0] == [10, 20, 250, 255] && flat[60, 36] == [10, 20, 250, 255], "\(radius)")
            let blurred = try await bench.pixels("png-rgb.png", [blur])
            #expect(blurred.width == whole.width && blurred.height == whole.height)
            #expect(stride(from: 3, to: blurred.bytes.count, by: 4).allSatisfy { blurred.bytes[$0] == 255 })
            if radius > 1 { #expect(blurred.likeness(whole) < 40) }
        }
    }

    @Test("A clear pixel's colour does not bleed into its neighbours when a picture shrinks")
    func premultiplication() async throws {
        let bench = try await CodecBench()
        let round = ImageProcessor.roundCorner(try RoundCorner(radius: .pixels(18)))
        let small = try await bench.pixels(
            "png-rgb.png", [.tint(Self.blue), round, .downsample(try PixelSize(width: 20, height: 20))])
        for place in stride(from: 0, to: small.bytes.count, by: 4) where small.bytes[place + 3] > 16 {
            #expect(abs(Int(small.bytes[place]) - 10) <= 8 && abs(Int(small.bytes[place + 2]) - 250) <= 8)
        }
    }

    @Test("Every processor takes gray, 16-bit, palette, clear and CMYK pictures")
    func kinds() async throws {
        let bench = try await CodecBench()
        let size = try PixelSize(width: 20, height: 20)
        let mark = Drawn.animation(9, 9, frames: 1) { _, _, _ in [255, 0, 0, 128] }
        let all: [ImageProcessor] = [
            .watermark(try Watermark(data: mark, format: "png", digest: "mark")),
            .downsample(size), .resize(try Resize(width: 10, height: 30, upscale: true)), .crop(try Crop(size: size)),
            .roundCorner(try RoundCorner(radius: .pixels(5))), .blur(try Blur(radius: 2)),
            .overlay(try Overlay(color: Self.blue)), .tint(Self.blue),
            .colorControls(try ColorControls(contrast: 1.5, saturation: 2)),
            .blackWhite, .border(try Border(color: Self.blue, width: 2)),
            .blend(try Blend(mode: .overlay, background: Self.blue)),
            .compositing(try Compositing(operation: .sourceOver, background: Self.blue)), .rotate(try .byDegrees(30)),
            .pad(try Pad(size: try PixelSize(width: 90, height: 50), background: Self.blue)), .pad(try Pad(size: size)),
            .trim(try Trim()), .flip(try Flip(vertical: true)), .circle(try Circle(background: Self.blue)),
            .sharpen(try Sharpen()), .pixelate(try Pixelate(size: 7)), .gamma(try Gamma(gamma: 2.2)),
            .crop(try Crop(width: 10, height: 10, place: .interest(.smart))),
            .crop(try Crop(width: 10, height: 10, place: .interest(.entropy))),
            .crop(try Crop(width: 0.5, height: 0.5, unit: .fraction, place: .corner(x: 0.5, y: 0.5))),
            .resize(try Resize(width: 9, height: 90, upscale: true, kernel: .nearest)),
            .resize(try Resize(width: 9, height: 90, upscale: true, kernel: .mitchell)),
        ]
        #expect(Set(all.map(\.name)) == Set(ImageProcessor.names).subtracting(["format"]))
        for name in [
            "png-gray.png", "png-gray-alpha.png", "png-rgb-16bit.png", "png-gray-16bit.png", "png-palette-trns.png",
            "png-rgba.png", "jpeg-cmyk.jpg", "jpeg-gray.jpg", "png-icc-exif.png", "avif-10bit.avif", "gif-animated.gif",
        ] {
            for processor in all {
                let pixels = try await bench.pixels(name, [processor])
                #expect(!pixels.bytes.isEmpty, "\(name) \(processor.identifier)")
            }
        }
    }
}
