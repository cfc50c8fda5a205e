import ImageRecipes
import TestSupport
import Testing

/// Kernels, sharpening, squares and middle tones, by their formulas or by what Pillow makes of the same samples.
@Suite struct EffectTests {
    @Test("The nearest pixel is the one at the centre, at any size, also where it is clear")
    func nearest() async throws {
        let bench = try await CodecBench()
        func pixel(_ x: Int, _ y: Int) -> [UInt8] {
            [UInt8(x * 9), UInt8(y * 11), UInt8((x + y) % 2 * 255), UInt8(x % 3 * 100)]
        }
        let source = try bench.file(Drawn.bitmap(24, 17, pixel))
        for (width, height) in [(48, 34), (7, 5), (25, 16), (1, 1), (200, 3), (24, 40)] {
            let step = ImageProcessor.resize(
                try Resize(width: Double(width), height: Double(height), upscale: true, kernel: .nearest))
            for chain in [[step], [.flip(try Flip(horizontal: true)), .flip(try Flip(horizontal: true)), step]] {
                let result = try await bench.pixels(of: source, "bmp", chain)
                #expect(result.width == width && result.height == height)
                for y in 0..<height {
                    for x in 0..<width {
                        let from = pixel((2 * x + 1) * 24 / (2 * width), (2 * y + 1) * 17 / (2 * height))
                        guard result[x, y] != from else { continue }
                        Issue.record("\(width)×\(height) \(x),\(y): \(result[x, y]), not \(from)")
                        return
                    }
                }
            }
        }
        let deep = try await bench.pixels(
            "png-rgb-16bit.png", [.resize(try Resize(width: 20, height: 20, kernel: .nearest))])
        #expect(deep.width == 20 && deep.height == 20)
    }

    @Test("A nearest pixel of a JPEG is one of the whole picture, not of a smaller one")
    func nearestOfJPEG() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("jpeg-photo.jpg")
        let step = ImageProcessor.resize(try Resize(width: 20, height: 15, kernel: .nearest))
        let result = try await bench.pixels("jpeg-photo.jpg", [step])
        for (x, y) in [(0, 0), (7, 9), (19, 14)] { #expect(result[x, y] == whole[x * 16 + 8, y * 16 + 8]) }
    }

    @Test("Each kernel has the weights that it has elsewhere")
    func kernels() async throws {
        let bench = try await CodecBench()
        let row: [UInt8] = (0..<24).map { (x: Int) in UInt8((x * x * 7 + x * 31) % 256) }
        let source = try bench.file(Drawn.bitmap(24, 1) { x, _ in [row[x], row[x], row[x], 255] })
        // Made of the same samples by Pillow 13.0.
        let halves: [(ResizeKernel, [Int])] = [
            (.linear, [29, 127, 159, 119, 135, 175, 79, 135, 215, 63, 127, 148]),
            (.cubic, [20, 131, 165, 113, 132, 187, 64, 132, 236, 42, 131, 151]),
            (.lanczos3, [13, 135, 170, 108, 132, 195, 54, 132, 248, 29, 136, 154]),
        ]
        for (kernel, expected) in halves {
            let step = ImageProcessor.resize(try Resize(width: 12, height: 1, kernel: kernel))
            let result = try await bench.pixels(of: source, "bmp", [step])
            let samples = (0..<12).map { Int(result[$0, 0][0]) }
            // At the edges Pillow leaves out what lies beyond them, and libvips repeats the last pixel.
            let differences = (1..<11).map { abs(samples[$0] - expected[$0]) }
            #expect(differences.allSatisfy { $0 <= 2 }, "\(kernel): \(samples), not \(expected)")
        }
        var made: Set<[UInt8]> = []
        for kernel in ResizeKernel.allCases {
            let step = ImageProcessor.resize(try Resize(width: 11, height: 1, kernel: kernel))
            made.insert(try await bench.pixels(of: source, "bmp", [step]).bytes)
        }
        #expect(made.count == ResizeKernel.allCases.count)
        // Clear pixels lend no colour.
        let half = try bench.file(Drawn.bitmap(40, 12) { x, _ in x < 20 ? [255, 0, 0, 255] : [0, 255, 0, 0] })
        for kernel in ResizeKernel.allCases where kernel != .nearest {
            for size in [(13.0, 7.0), (90, 31)] {
                let step = ImageProcessor.resize(
                    try Resize(width: size.0, height: size.1, upscale: true, kernel: kernel))
                let result = try await bench.pixels(of: half, "bmp", [step])
                for place in stride(from: 0, to: result.bytes.count, by: 4) where result.bytes[place + 3] > 8 {
                    #expect(result.bytes[place + 1] <= 2, "\(kernel) \(Array(result.bytes[place..<place + 4]))")
                }
            }
        }
    }

    @Test("Sharpening adds the difference to the blurred picture, and leaves alpha and plain colours as they are")
    func sharpening() async throws {
        let bench = try await CodecBench()
        for (name, radius, amount) in [("png-rgb.png", 2.0, 1.5), ("png-rgba.png", 1, 1), ("png-gray.png", 20, 0.5)] {
            let whole = try await bench.pixels(name)
            let blurred = try await bench.pixels(name, [.blur(try Blur(radius: radius))])
            let sharp = try await bench.pixels(name, [.sharpen(try Sharpen(radius: radius, amount: amount))])
            #expect(sharp.width == whole.width && sharp.height == whole.height && sharp.likeness(whole) < 50)
            for place in 0..<whole.bytes.count {
                let (before, soft, after) = (whole.bytes[place], blurred.bytes[place], Int(sharp.bytes[place]))
                let exact = Double(before) + amount * (Double(before) - Double(soft))
                let expected = place % 4 == 3 ? Double(before) : min(255, max(0, exact))
                let isClear = whole.bytes[place | 3] == 0
                guard !isClear, abs(expected - Double(after)) > 1 else { continue }
                Issue.record("\(name) \(place): \(after), not \(expected)")
                return
            }
        }
        // A halo is of the edge's own colours: what is clear beside it does not count.
        let half = try bench.file(Drawn.bitmap(20, 4) { x, _ in x < 10 ? [200, 100, 50, 255] : [0, 0, 0, 0] })
        let result = try await bench.pixels(of: half, "bmp", [.sharpen(try Sharpen(radius: 3, amount: 5))])
        #expect((0..<10).allSatisfy { result[$0, 1] == [200, 100, 50, 255] } && result[10, 1][3] == 0)
    }

    @Test("A square has the mean of its pixels by their alpha, and the grid begins at the first pixel")
    func squares() async throws {
        let bench = try await CodecBench()
        func pixel(_ x: Int, _ y: Int) -> [UInt8] { [UInt8(x * 20), UInt8(y * 20), 7, x < 8 ? 255 : 128] }
        let source = try bench.file(Drawn.bitmap(12, 8, pixel))
        let result = try await bench.pixels(of: source, "bmp", [.pixelate(try Pixelate(size: 4))])
        #expect(result.width == 12 && result.height == 8)
        for y in 0..<8 {
            for x in 0..<12 {
                let expected = [x / 4 * 80 + 30, y / 4 * 80 + 30, 7, x < 8 ? 255 : 128]
                guard !zip(result[x, y], expected).allSatisfy({ abs(Int($0) - $1) <= 1 }) else { continue }
                Issue.record("\(x) \(y): \(result[x, y]), not \(expected)")
                return
            }
        }
        // A clear pixel has no say, and a square may be larger than the picture, or end outside of it.
        let clear = try bench.file(Drawn.bitmap(5, 2) { x, _ in x < 4 ? [100, 50, 0, 255] : [0, 255, 255, 0] })
        let ragged = try await bench.pixels(of: clear, "bmp", [.pixelate(try Pixelate(size: 3))])
        #expect(ragged.width == 5 && ragged.height == 2 && ragged[0, 1] == [100, 50, 0, 255])
        #expect(Array(ragged[3, 0][0..<2]) == [100, 50] && ragged[3, 0][3] < 255)
        let one = try await bench.pixels(of: clear, "bmp", [.pixelate(try Pixelate(size: 65_535))])
        #expect(one.width == 5 && one.height == 2 && one[0, 0] == one[4, 1] && one[0, 0][3] == 204)
        let wide = try await bench.pixels("png-1x64.png", [.pixelate(try Pixelate(size: 60_000))])
        #expect(wide.width == 1 && wide.height == 64 && wide[0, 0] == wide[0, 63])
    }

    @Test("A square that is cut off by an edge has the mean of the pixels that there are")
    func raggedSquares() async throws {
        let bench = try await CodecBench()
        let source = try bench.file(
            Drawn.bitmap(12, 13) { x, y in x == 11 || y == 12 ? [255, 90, 0, 255] : [0, 0, 0, 255] })
        let result = try await bench.pixels(of: source, "bmp", [.pixelate(try Pixelate(size: 10))])
        // Of 2 × 10 pixels a half, of 10 × 3 a third, of 2 × 3 two thirds.
        for (place, part) in [((0, 0), 0.0), ((11, 9), 1 / 2.0), ((0, 12), 1 / 3.0), ((11, 12), 2 / 3.0)] {
            let pixel = result[place.0, place.1]
            #expect(
                abs(Double(pixel[0]) - 255 * part) <= 1 && abs(Double(pixel[1]) - 90 * part) <= 1, "\(place): \(pixel)")
        }
    }

    @Test("The radius of a blur is the standard deviation of what a point becomes", arguments: [1.0, 2, 6, 15, 20])
    func deviations(radius: Double) async throws {
        let bench = try await CodecBench()
        let width = Int(radius * 12) + 2
        let source = try bench.file(
            Drawn.bitmap(width, 3) { x, _ in x < width / 2 ? [0, 0, 0, 255] : [255, 255, 255, 255] })
        let result = try await bench.pixels(of: source, "bmp", [.blur(try Blur(radius: radius))])
        // The differences along an edge are the weights.
        let weights = (1..<width).map { Double(result[$0, 1][0]) - Double(result[$0 - 1, 1][0]) }
        let variance = weights.enumerated().reduce(0.0) { sum, weight in
            let distance = Double(weight.offset + 1) - Double(width / 2)
            return sum + distance * distance * weight.element / 255
        }
        #expect(abs(variance.squareRoot() / radius - 1) < 0.04, "\(variance.squareRoot())")
    }

    @Test("Middle tones change in greys and deep samples alike, and alpha does not")
    func gammas() async throws {
        let bench = try await CodecBench()
        for name in ["png-gray.png", "png-gray-alpha.png", "png-rgb-16bit.png", "png-gray-16bit.png", "png-rgba.png"] {
            let whole = try await bench.pixels(name)
            let light = try await bench.pixels(name, [.gamma(try Gamma(gamma: 2))])
            for place in 0..<whole.bytes.count {
                let before = Double(whole.bytes[place]) / 255
                let expected = place % 4 == 3 ? before : before.squareRoot()
                // A step of eight bits is as much as sixteen bits may differ by; near black the root is steep.
                let slack = name.contains("16bit") ? max(2, 130 / max(1, before.squareRoot() * 255) * 2) : 1
                guard abs(expected * 255 - Double(light.bytes[place])) > slack else { continue }
                Issue.record("\(name) \(place): \(light.bytes[place]), not \(expected * 255)")
                return
            }
        }
    }
}
