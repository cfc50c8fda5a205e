@testable import ImageCodec
import ImageRecipes
import Testing

@Suite struct GeometryTests {
    private let size = Extent(width: 400, height: 300)

    @Test("Downsampling fits a picture into a box and never enlarges it")
    func downsampling() throws {
        for (width, height, expected) in [
            (200.0, 200.0, Extent(width: 200, height: 150)), (100, 30, Extent(width: 40, height: 30)),
            (4000, 4000, size), (1, 1, Extent(width: 1, height: 1)), (400, 1, Extent(width: 1, height: 1)),
        ] as [(Double, Double, Extent)] {
            #expect(Geometry.downsampled(size, to: try PixelSize(width: width, height: height)) == expected)
        }
    }

    @Test("Resizing stretches, fits or fills, follows a single side, and enlarges only when asked")
    func resizing() throws {
        let cases: [(Double?, Double?, ResizeMode, Bool, Int, Int)] = [
            (100, 100, .none, false, 100, 100), (800, 100, .none, false, 400, 100), (800, 100, .none, true, 800, 100),
            (100, 100, .aspectFit, false, 100, 75), (100, 100, .aspectFill, false, 133, 100),
            (800, 800, .aspectFit, false, 400, 300), (800, 800, .aspectFit, true, 800, 600),
            (800, 800, .aspectFill, true, 1067, 800), (nil, 150, .none, false, 200, 150),
            (200, nil, .none, false, 200, 150),
            (nil, 600, .none, true, 800, 600),
        ]
        for (width, height, mode, upscale, expectedWidth, expectedHeight) in cases {
            let resize = try Resize(width: width, height: height, mode: mode, upscale: upscale)
            #expect(Geometry.resized(size, by: resize) == Extent(width: expectedWidth, height: expectedHeight))
        }
    }

    @Test("Steps that begin alike are one step, and what changes nothing is none")
    func plans() throws {
        let small = ImageProcessor.downsample(try PixelSize(width: 10, height: 10))
        let blur = ImageProcessor.blur(try Blur(radius: 2))
        let png = ImageProcessor.format(try FormatChange(to: .png))
        let plan = RenderPlan([
            (0, [small, blur]), (1, [small, .rotate(.auto), .blackWhite]), (2, [blur]), (3, [png]),
            (4, [small, blur, png]),
            (5, [blur, small]),
        ])
        #expect(plan.nodes.map(\.step) == [small, blur, .blackWhite, blur, small])
        #expect(plan.nodes.map(\.outputs) == [[], [0, 4], [1], [2], [5]])
        #expect(plan.roots == [0, 3] && plan.plain == [3] && plan.hasSeveralReaders)
        #expect(plan.outputs(below: 0) == [0, 4, 1])
        #expect(!RenderPlan([(0, [small, blur]), (1, [small])]).hasSeveralReaders)
    }

    @Test("A frame of up to 11 ms is shown for 100 ms")
    func delays() {
        #expect([0, 10, 11, 12, 50, 1000].map(FrameDelay.shown) == [100, 100, 100, 12, 50, 1000])
    }

    @Test("Limits are judged without overflow, and name themselves")
    func limits() throws {
        let limits = RenderLimits()
        for (width, height, frames, name) in [
            (50_001, 1000, 1, "maxPixels"), (.max, .max, 1, "maxPixels"), (10, 10, 2001, "maxFrames"),
            (1000, 1000, 251, "maxAnimationPixels"), (7000, 7000, .max, "maxFrames"),
        ] as [(Int, Int, Int, String)] {
            let failure = #expect(throws: RenderFailure.self) {
                try limits.check(width: width, height: height, frames: frames)
            }
            #expect(failure?.kind == .limit(name) && failure?.reason.contains(name) == true)
        }
        try limits.check(width: 10_000, height: 5_000)
    }
}
