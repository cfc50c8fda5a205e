import Foundation
import ImageRecipes
import TestSupport
import Testing

/// Pictures that are laid over others.
@Suite struct WatermarkTests {
    private let red: [UInt8] = [255, 0, 0, 255]

    /// A picture of one colour, as a file.
    private func plain(_ width: Int, _ height: Int, _ colour: [UInt8]) -> [UInt8] {
        Drawn.animation(width, height, frames: 1) { _, _, _ in colour }
    }

    private func mark(
        _ width: Int, _ height: Int, _ colour: [UInt8]? = nil, _ gravity: Gravity = .bottomRight, opacity: Double = 1,
        margin: Double = 0, scale: Double? = nil
    ) throws -> ImageProcessor {
        .watermark(
            try Watermark(
                data: plain(width, height, colour ?? red), format: "png", digest: "\(width)x\(height)",
                gravity: gravity, opacity: opacity, margin: margin, scale: scale))
    }

    /// The rectangle of the red pixels: left, top, width, height.
    private func place(_ pixels: Pixels) -> [Int] {
        var (xs, ys): (Set<Int>, Set<Int>) = ([], [])
        for y in 0..<pixels.height {
            for x in 0..<pixels.width where pixels[x, y] == red {
                xs.insert(x)
                ys.insert(y)
            }
        }
        guard let left = xs.min(), let right = xs.max(), let top = ys.min(), let bottom = ys.max() else { return [] }
        return [left, top, right - left + 1, bottom - top + 1]
    }

    @Test("It lies where gravity and margin say, in its own size, in a part of the width, or as large as there is room")
    func places() async throws {
        let bench = try await CodecBench()
        let source = try bench.file(plain(40, 30, [0, 0, 255, 255]))
        let cases: [(ImageProcessor, [Int])] = [
            (try mark(4, 2), [36, 28, 4, 2]), (try mark(4, 2, nil, .topLeft), [0, 0, 4, 2]),
            (try mark(4, 2, nil, .topLeft, margin: 3), [3, 3, 4, 2]),
            (try mark(4, 2, nil, .bottomRight, margin: 3), [33, 25, 4, 2]),
            (try mark(4, 2, nil, .center, margin: 3), [18, 14, 4, 2]),
            (try mark(4, 2, nil, .top, margin: 1, scale: 0.5), [10, 1, 20, 10]),
            (try mark(80, 20, nil, .left), [0, 10, 40, 10]), (try mark(4, 4, nil, .left, scale: 1), [0, 0, 30, 30]),
            (try mark(80, 80, nil, .right, margin: 5), [15, 5, 20, 20]),
            (try mark(4, 4, nil, .right, margin: 500), [19, 14, 1, 1]),
        ]
        for (step, expected) in cases {
            let pixels = try await bench.pixels(of: source, "png", [step])
            #expect(pixels.width == 40 && pixels.height == 30)
            #expect(place(pixels) == expected, "\(step.identifier)")
        }
    }

    @Test("It is as opaque as it is to be, over clear ground too, and clear parts of it change nothing")
    func opacity() async throws {
        let bench = try await CodecBench()
        let blue = try bench.file(plain(8, 8, [0, 0, 255, 255]))
        let half = try await bench.pixels(of: blue, "png", [try mark(4, 4, nil, .topLeft, opacity: 0.5)])
        #expect(abs(Int(half[1, 1][0]) - 128) <= 1 && abs(Int(half[1, 1][2]) - 127) <= 1 && half[1, 1][3] == 255)
        let clear = try bench.file(plain(8, 8, [0, 0, 0, 0]))
        let over = try await bench.pixels(of: clear, "png", [try mark(4, 4, [255, 0, 0, 128], .topLeft)])
        #expect(over[1, 1] == [255, 0, 0, 128] && over[6, 6][3] == 0)
        let nothing = try await bench.pixels(of: blue, "png", [try mark(4, 4, [255, 0, 0, 0])])
        #expect(try await nothing == bench.pixels(of: blue, "png"))
    }

    @Test("It lies on every frame of an animation, on gray and on samples of 16 bits")
    func kinds() async throws {
        let bench = try await CodecBench()
        let step = try mark(6, 4, nil, .topLeft)
        let frames = try await bench.pixels("gif-animated.gif", [step])
        #expect(frames.frames == 4 && (0..<4).allSatisfy { place(frames.frame($0)) == [0, 0, 6, 4] })
        for name in ["png-gray.png", "png-rgb-16bit.png", "png-gray-16bit.png", "jpeg-cmyk.jpg"] {
            let pixels = try await bench.pixels(name, [step])
            #expect(pixels[0, 0] == red && pixels[5, 3] == red && pixels[7, 5] != red, "\(name)")
            let straight = try await bench.pixels(name)
            #expect(pixels[20, 20] == straight[20, 20], "\(name)")
        }
        let deep = try await bench.encode("png-rgb-16bit.png", [step], .format(.png, Encoding()))
        #expect(try Data(contentsOf: URL(fileURLWithPath: deep.path))[24] == 16)
    }

    @Test("One that is torn fails alone, and its identifier tells the bytes")
    func torn() async throws {
        let bench = try await CodecBench()
        let step = ImageProcessor.watermark(
            try Watermark(data: Array(plain(90, 90, red).prefix(60)), format: "png", digest: "ab"))
        let failure = try await bench.make(Fixtures.folder + "/png-rgb.png", "png", [step]).outcome.failure
        #expect(failure?.reason.contains("watermark") == true && failure?.kind == .processingFailed)
        #expect(step.identifier == "watermark.1(image=ab,gravity=bottomRight,opacity=1,margin=0)")
        #expect(throws: RecipeError.self) { try Watermark(data: [], format: "svg", digest: "") }
        #expect(throws: RecipeError.self) {
            try Watermark(data: Array(repeating: 0, count: 1 + 256 << 10), format: "png", digest: "")
        }
    }
}
