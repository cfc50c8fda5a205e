import ImageRecipes
import TestSupport
import Testing

/// Pictures in memory are resampled here and not by libvips (T14).
@Suite struct ResampleTests {
    private func size(_ width: Double, _ height: Double) throws -> ImageProcessor {
        .resize(try Resize(width: width, height: height, mode: .none, upscale: true))
    }

    @Test("What is clear lends its neighbours no colour, smaller or larger")
    func clearPixels() async throws {
        let bench = try await CodecBench()
        let source = try bench.file(Drawn.bitmap(40, 12) { x, _ in x < 20 ? [255, 0, 0, 255] : [0, 255, 0, 0] })
        for target in [(10.0, 3.0), (13, 7), (90, 31)] {
            let pixels = try await bench.pixels(of: source, "bmp", [try size(target.0, target.1)])
            #expect(pixels[0, 0] == [255, 0, 0, 255] && pixels[Int(target.0) - 1, 0][3] == 0)
            for place in stride(from: 0, to: pixels.bytes.count, by: 4) where pixels.bytes[place + 3] > 0 {
                #expect(Array(pixels.bytes[place..<(place + 3)]) == [255, 0, 0], "\(target) \(place)")
            }
        }
    }

    @Test("A plain colour stays what it is, whatever its alpha")
    func plainColours() async throws {
        let bench = try await CodecBench()
        for alpha: UInt8 in [1, 77, 128, 254] {
            let source = try bench.file(Drawn.bitmap(33, 19) { _, _ in [200, 100, 51, alpha] })
            for target in [(1.0, 1.0), (7, 5), (32, 20), (100, 3)] {
                let pixels = try await bench.pixels(of: source, "bmp", [try size(target.0, target.1)])
                for place in stride(from: 0, to: pixels.bytes.count, by: 4) {
                    let pixel = pixels.bytes[place..<(place + 4)].map { Int($0) }
                    #expect(pixel[3] == Int(alpha))
                    // What is nearly clear has few colours.
                    let slack = alpha == 1 ? 2 : 1
                    #expect(zip(pixel, [200, 100, 51]).allSatisfy { abs($0 - $1) <= slack }, "\(alpha) \(pixel)")
                }
            }
        }
    }

    @Test("Every small size can be made of every other, and a shape that is all height or width too")
    func sizes() async throws {
        let bench = try await CodecBench()
        for (width, height) in [(1, 1), (2, 9), (17, 8), (1, 700), (700, 1)] {
            let source = try bench.file(
                Drawn.bitmap(width, height) { x, y in [UInt8(x & 255), UInt8(y & 255), 9, 200] })
            for target in [(1.0, 1.0), (8, 8), (9, 1), (1, 9), (23, 40)] {
                let pixels = try await bench.pixels(of: source, "bmp", [try size(target.0, target.1)])
                #expect(pixels.width == Int(target.0) && pixels.height == Int(target.1))
                #expect(pixels.bytes.count == pixels.width * pixels.height * 4)
            }
        }
    }

    @Test("A pixel is the mean of however many it stands for", arguments: [4_000, 20_000, 60_000])
    func means(length: Int) async throws {
        let bench = try await CodecBench()
        for (width, height) in [(length, 1), (1, length)] {
            for isWhite in [{ (place: Int) in place < length / 2 }, { place in place % 2 == 1 }] {
                let samples = (0..<length).map { isWhite($0) ? UInt8(255) : 0 }
                let source = try bench.file(ascii("P5 \(width) \(height) 255\n") + samples)
                let pixel = try await bench.pixels(of: source, "pnm", [try size(1, 1)])[0, 0]
                #expect(abs(Int(pixel[0]) - 128) <= 2, "\(width) × \(height): \(pixel)")
            }
        }
    }

    @Test("What lies in the middle stays there, whatever the kernel and the depth", arguments: ResizeKernel.allCases)
    func middles(kernel: ResizeKernel) async throws {
        let bench = try await CodecBench()
        func isWhite(_ x: Int, _ y: Int) -> Bool { (9..<11).contains(x) && (9..<11).contains(y) }
        let places = (0..<400).map { isWhite($0 % 20, $0 / 20) }
        for (most, samples) in [
            (255, places.map { $0 ? [UInt8(255)] : [0] }), (65_535, places.map { $0 ? [255, 255] : [0, 0] }),
        ] {
            let source = try bench.file(ascii("P5 20 20 \(most)\n") + samples.flatMap(\.self))
            for (width, height) in [(40.0, 40.0), (160, 160), (4, 40), (20, 40), (10, 10)] {
                let step = ImageProcessor.resize(
                    try Resize(width: width, height: height, mode: .none, upscale: true, kernel: kernel))
                let result = try await bench.pixels(of: source, "pnm", [step])
                var (sum, across, down) = (0, 0, 0)
                for y in 0..<result.height {
                    for x in 0..<result.width {
                        let sample = Int(result[x, y][0])
                        sum += sample
                        across += sample * (2 * x + 1 - result.width)
                        down += sample * (2 * y + 1 - result.height)
                    }
                }
                // A tenth of a pixel, of which the numbers are doubles.
                let slack = sum / 5
                #expect(
                    kernel == .nearest || abs(across) <= slack && abs(down) <= slack, "\(most) \(width) × \(height)")
            }
        }
    }
}
