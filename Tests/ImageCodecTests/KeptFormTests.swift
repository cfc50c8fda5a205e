import Foundation
import ImageRecipes
import TestSupport
import Testing

/// What results keep of the form of their source: no loss, a palette, no size in pixels.
@Suite struct KeptFormTests {
    @Test("A drawing fills the box of a resize, whatever size it gives itself; a picture is not enlarged")
    func fillsBox() async throws {
        let bench = try await CodecBench()
        let text = "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><path d='M0 0h10v10H0'/></svg>"
        let path = try bench.file(Array(text.utf8))
        let fit = try Resize(width: 200, height: 200, mode: .aspectFit)
        let cases: [(Resize, [Int])] = [
            (fit, [200, 100]), (try Resize(width: 200, height: 200, mode: .aspectFill), [400, 200]),
            (try Resize(width: 50, height: 60), [50, 60]), (try Resize(width: nil, height: 30), [60, 30]),
        ]
        for (resize, size) in cases {
            let pixels = try await bench.pixels(of: path, "svg", [.resize(resize)])
            #expect([pixels.width, pixels.height] == size)
        }
        // Drawn at that size, not enlarged: there is nothing between black and clear.
        let pixels = try await bench.pixels(of: path, "svg", [.resize(fit)])
        #expect(pixels[99, 50] == [0, 0, 0, 255])
        #expect(pixels[100, 50][3] == 0)
        let same = try await bench.pixels("png-1x1.png", [.resize(fit)])
        #expect(same.width == 1 && same.height == 1)
        // A stretched one is drawn at the larger scale, which is bounded too.
        let stretched = try await bench.make(path, "svg", [.resize(try Resize(width: 1, height: 30_000))])
        #expect(stretched.outcome.failure?.kind == .limit("maxPixels"))
    }
}
