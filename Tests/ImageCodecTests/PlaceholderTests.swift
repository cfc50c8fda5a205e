@testable import ImageCodec
import ImageRecipes
import TestSupport
import Testing

@Suite struct PlaceholderTests {
    @Test("A placeholder is the ThumbHash of the reference implementation and the most frequent colour")
    func values() async throws {
        let bench = try await CodecBench()
        let reply = try await bench.worker.render(
            RenderRequest(source: Fixtures.folder + "/png-1x1.png", format: "png", outputs: [], wantsPlaceholder: true))
        #expect(reply.outcomes.isEmpty)
        #expect(reply.placeholder?.dominantColor == RecipeColor(red: 214, green: 69, blue: 52))
        let clear = try await bench.worker.render(
            RenderRequest(source: Fixtures.folder + "/png-rgba.png", format: "png", outputs: [], wantsPlaceholder: true)
        )
        let hash = try #require(clear.placeholder?.thumbHash)
        #expect((20...27).contains(hash.count))
        // A plain colour, by blurhash 1.1.5.
        #expect(reply.placeholder?.blurHash == "L~OkV*}Y}Y}Y}Y}Y}Y}Y}Y}Y}Y}Y")
        #expect(clear.placeholder?.blurHash.count == 28)
    }

    @Test("A gradient has the hash that the reference implementation gives it")
    func reference() {
        // Made of the same samples by thumbhash-python 1.0.1.
        var opaque: [UInt8] = []
        var clear: [UInt8] = []
        for y in 0..<24 {
            for x in 0..<32 {
                opaque += [UInt8(x * 8), UInt8(y * 10), UInt8((x * y) % 256), 255]
                clear += [UInt8(x * 8), UInt8(y * 10), UInt8((x * y) % 256), UInt8(255 - x * 4)]
            }
        }
        #expect(
            hexadecimal(ThumbHash.hash(of: opaque, width: 32, height: 24))
                == "db180e1d9a6076877088888688678887f3a40ff788")
        #expect(
            hexadecimal(ThumbHash.hash(of: clear, width: 32, height: 24))
                == "9af88914922b507660888668485ff9608ff888788878878807")
    }

    @Test(
        "A gradient, wide or tall, has the BlurHash that a reference implementation gives it; what is clear has no say")
    func blurHash() {
        func gradient(_ width: Int, _ height: Int) -> [UInt8] {
            var samples: [UInt8] = []
            for y in 0..<height {
                for x in 0..<width { samples += [UInt8(x * 8), UInt8(y * 10), UInt8((x * y) % 256), 255] }
            }
            return samples
        }
        // Made of the same samples by blurhash 1.1.5 of Python, with four waves along the longer side and three along the other.
        #expect(BlurHash.hash(of: gradient(32, 24), width: 32, height: 24) == "LxH27h2lwtX3mAWUjwfAgFfmfTfi")
        #expect(BlurHash.hash(of: gradient(24, 25), width: 24, height: 25) == "TtCt,iBMsQl@ahjwgFfmfTnib0jp")
        let plain: [UInt8] = [214, 69, 52, 255, 214, 69, 52, 255]
        let clear: [UInt8] = [214, 69, 52, 255, 0, 255, 0, 0]
        let whole = BlurHash.hash(of: plain, width: 2, height: 1)
        #expect(BlurHash.hash(of: clear, width: 2, height: 1) == whole)
        #expect(BlurHash.hash(of: [1, 2, 3, 0], width: 1, height: 1).prefix(6).dropFirst(2) == "0000")
    }

    @Test("The colour is the mean of the most frequent ones, each pixel counting by its alpha")
    func dominant() {
        let red: [UInt8] = [200, 16, 16, 255]
        let faint: [UInt8] = [0, 0, 255, 10]
        #expect(Placeholder.dominant(of: red + faint + faint + faint) == RecipeColor(red: 200, green: 16, blue: 16))
        #expect(
            Placeholder.dominant(of: [200, 16, 16, 255, 202, 18, 18, 255]) == RecipeColor(red: 201, green: 17, blue: 17)
        )
        #expect(Placeholder.dominant(of: [1, 2, 3, 0]) == RecipeColor(red: 0, green: 0, blue: 0, alpha: 0))
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
