import TestSupport
import Testing

@testable import ImageFormats

/// When the frames of an animation are shown, read from its header.
@Suite struct FrameTimingTests {
    private func header(_ bytes: [UInt8]) throws -> ImageHeader { try bytes.withUnsafeBytes { try ImageHeader($0) } }

    @Test func whatIsMissingOrTooShortIsATenthOfASecond() throws {
        let timing = try #require(try header(animatedGIF([nil, 0, 1, 2, 500], loops: 0)).timing)
        #expect(timing.delays == [100, 100, 100, 20, 5000] && timing.loopCount == 0)
    }

    @Test func stillsHaveNoneAndOfVeryLongAnimationsItIsNotKept() throws {
        #expect(try header(animatedGIF([5], loops: 0)).timing == nil)
        for picture in Fixtures.valid where picture.frameCount == 1 {
            #expect(try header(picture.bytes).timing == nil, "\(picture)")
        }
        #expect(try header(animatedGIF(Array(repeating: 5, count: 2000), loops: 0)).timing?.delays.count == 2000)
        #expect(try header(animatedGIF(Array(repeating: 5, count: 2001), loops: 0)).timing == nil)
    }

    @Test("An animation is played as often as 16 bits say, or for ever, whatever its file says")
    func mostPlays() throws {
        #expect(try header(animatedGIF([5, 5], loops: 65_535)).timing?.loopCount == 65_535)
        let bytes = try Fixtures.bytes("png-animated.png")
        let place = try #require((0..<bytes.count - 4).first { Array(bytes[$0..<($0 + 4)]) == Array("acTL".utf8) })
        for (said, known): (UInt32, Int) in [
            (0, 0), (65_535, 65_535), (65_536, 65_535), (1 << 31, 65_535), (.max, 65_535),
        ] {
            var file = bytes
            file.replaceSubrange((place + 8)..<(place + 12), with: big32(said))
            #expect(try header(file).timing?.loopCount == known, "\(said)")
        }
    }

    @Test func theNoteIsReadAsItWasWritten() throws {
        for (delays, line) in [
            ([100, 100, 100, 40], "7 100x3,40"), ([12], "7 12"), ([1, 2, 2, 1], "7 1,2x2,1"),
            (Array(repeating: 20, count: 2000), "7 20x2000"),
        ] {
            let timing = FrameTiming(delays: delays, loopCount: 7)
            #expect(timing.text == line)
            #expect(FrameTiming(text: line[...]) == timing)
        }
        for text in [
            "", "1", "1 ", "-1 5", "1 x", "1 5x", "1 5x0", "1 5x2001", "1 5x1500,5x501", "1 5x2x3", "1 -5",
            "99999999999999999999 5", "1 5 5",
        ] {
            #expect(FrameTiming(text: text[...]) == nil, "\(text)")
        }
    }
}
