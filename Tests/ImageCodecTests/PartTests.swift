import ImageRecipes
import TestSupport
import Testing

/// Parts of pictures: rectangles, what is interesting, margins; and pictures on larger grounds.
@Suite struct PartTests {
    private static let blue = RecipeColor(red: 10, green: 20, blue: 250)

    private func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ unit: Crop.Unit = .pixels
    ) throws -> ImageProcessor {
        .crop(try Crop(width: width, height: height, unit: unit, place: .corner(x: x, y: y)))
    }

    @Test("A rectangle has the very pixels of its place; parts that adjoin fit together")
    func rectangles() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgb.png")
        let part = try await bench.pixels("png-rgb.png", [try rectangle(41, 27, 20, 10)])
        #expect(part.width == 20 && part.height == 10)
        #expect(part[0, 0] == whole[41, 27] && part[19, 9] == whole[60, 36])
        var columns: [[UInt8]] = []
        for third in 0..<3 {
            let x = [0, 0.3333, 0.6666][third]
            let part = try await bench.pixels("png-rgb.png", [try rectangle(x, 0.5, 0.3333, 0.5, .fraction)])
            for x in 0..<part.width { columns.append(part[x, 0]) }
            // Half of 37 rows is 18.5: the part begins with row 19.
            #expect(part.height == 18)
        }
        #expect(columns == (0..<61).map { whole[$0, 19] })
        let sliver = try await bench.pixels("png-rgb.png", [try rectangle(0.9999, 0, 0.0001, 1, .fraction)])
        #expect(sliver.width == 1 && sliver.height == 37 && sliver[0, 5] == whole[60, 5])
    }

    @Test("A rectangle that is not within the picture is refused with the size of the picture")
    func outside() async throws {
        let bench = try await CodecBench()
        for (x, y, width, height) in [(42.0, 0.0, 20.0, 10.0), (0, 28, 20, 10), (61, 0, 1, 1), (0, 0, 62, 37)] {
            let made = try await bench.make(
                Fixtures.folder + "/png-rgb.png", "png", [try rectangle(x, y, width, height)])
            #expect(made.outcome.failure?.kind == .processingFailed, "\(x) \(y)")
            #expect(made.outcome.failure?.reason.contains("61 × 37") == true, "\(made.outcome)")
            #expect(made.outcome.failure?.reason.contains("\(Int(width)) × \(Int(height))") == true)
        }
    }

    @Test("The most interesting part is where something is, also on a grey, deep or clear ground")
    func interesting() async throws {
        let bench = try await CodecBench()
        for ground: [UInt8] in [[120, 120, 120, 255], [0, 0, 0, 0]] {
            let source = try bench.file(
                Drawn.bitmap(200, 60) { x, y in
                    guard (150..<180).contains(x), (20..<40).contains(y) else { return ground }
                    return (x / 3 + y / 3) % 2 == 0 ? [250, 40, 30, 255] : [255, 230, 20, 255]
                })
            for interest in Crop.Interest.allCases {
                let step = ImageProcessor.crop(try Crop(width: 60, height: 60, place: .interest(interest)))
                for chain in [[step], [.flip(try Flip(vertical: true)), step]] {
                    let part = try await bench.pixels(of: source, "bmp", chain)
                    #expect(part.width == 60 && part.height == 60)
                    let coloured = stride(from: 0, to: part.bytes.count, by: 4).count { part.bytes[$0] > 200 }
                    #expect(coloured > 550, "\(interest) finds \(coloured) of 600 pixels")
                }
                // A part of the whole picture is the picture.
                let most = try Crop(width: 1, height: 1, unit: .fraction, place: .interest(interest))
                let all = try await bench.pixels(of: source, "bmp", [.crop(most)])
                #expect(all.width == 200 && all.height == 60)
            }
        }
    }

    /// A picture of 50 × 40 with a margin that is noisy by up to 6, and within it an area of 20 × 10 at 12, 9, whose first
    /// column is one dot.
    private static func framed(_ x: Int, _ y: Int) -> [UInt8] {
        let isInside = (13..<32).contains(x) && (9..<19).contains(y) || x == 12 && y == 14
        return isInside ? [200, 30, 30, 255] : [UInt8(240 + (x * y) % 7), 240, 240, 255]
    }

    @Test("Margins of the colour of the first pixel go, and nothing else; a picture of one colour stays")
    func trimming() async throws {
        let bench = try await CodecBench()
        func trimmed(
            _ tolerance: Double, _ pixel: (Int, Int) -> [UInt8], before: [ImageProcessor] = []
        ) async throws -> Pixels {
            let source = try bench.file(Drawn.bitmap(50, 40, pixel))
            return try await bench.pixels(of: source, "bmp", before + [.trim(try Trim(tolerance: tolerance))])
        }
        let part = try await trimmed(10, Self.framed)
        #expect(part.width == 20 && part.height == 10)
        #expect(part[0, 5] == [200, 30, 30, 255] && part[0, 0][0] >= 240 && part[19, 9] == [200, 30, 30, 255])
        let gray = try await trimmed(10, Self.framed, before: [.blackWhite])
        #expect(gray.width == 20 && gray.height == 10)
        let exact = try await trimmed(0, Self.framed)
        #expect(exact.width == 48 && exact.height == 39, "only the first row and the outer columns are of one colour")
        let plain = try await trimmed(10) { _, _ in [9, 9, 9, 255] }
        #expect(plain.width == 50 && plain.height == 40)
        // What is clear has no colour.
        let clear = try await trimmed(10) { x, y in
            Self.framed(x, y)[0] == 200 ? [200, 30, 30, 255] : [UInt8(x * 5), UInt8(y * 6), 0, 0]
        }
        #expect(clear.width == 20 && clear.height == 10)
        let edge = try await trimmed(10) { x, _ in x == 49 ? [0, 0, 0, 255] : [255, 255, 255, 255] }
        #expect(edge.width == 1 && edge.height == 40)
    }

    @Test("All frames of an animation are cut alike: at the margins that all have, and around what the first one shows")
    func frames() async throws {
        let bench = try await CodecBench()
        // A dot that moves to the right; the second frame has none.
        func dot(_ frame: Int, _ x: Int, _ y: Int) -> [UInt8] {
            let start = 10 + frame * 10
            let isThere = frame != 1 && x >= start && x < start + 5 && y >= 20 && y < 25
            return isThere ? [UInt8(200 + frame), 0, 0, 255] : [255, 255, 255, 255]
        }
        let source = try bench.file(Drawn.animation(60, 40, frames: 3, dot))
        let chains: [[ImageProcessor]] = [
            [], [.flip(try Flip(horizontal: true, vertical: true)), .rotate(try .byDegrees(180))],
        ]
        for chain in chains {
            let trimmed = try await bench.pixels(of: source, "png", chain + [.trim(try Trim())])
            try #require(trimmed.width == 25 && trimmed.height == 5 && trimmed.frames == 3)
            #expect(trimmed.frame(0)[0, 0] == [200, 0, 0, 255] && trimmed.frame(2)[24, 4] == [202, 0, 0, 255])
            #expect(trimmed.frame(1)[0, 0] == [255, 255, 255, 255])
        }
        for interest in Crop.Interest.allCases {
            let step = ImageProcessor.crop(try Crop(width: 30, height: 40, place: .interest(interest)))
            let smart = try await bench.pixels(of: source, "png", [step])
            #expect(smart.width == 30 && smart.height == 40 && smart.frames == 3)
            let first = try await bench.pixels(of: source, "png", [step], frames: .first)
            #expect(first == smart.frame(0))
            let dots: [Int] = (0..<30).filter { (x: Int) in smart.frame(0)[x, 22][0] == 200 }
            let moved: [Int] = (0..<30).filter { (x: Int) in smart.frame(2)[x, 22][0] == 202 }
            let expected: [Int] = dots.map { $0 + 20 }.filter { $0 < 30 }
            // The dot of the last frame is 20 pixels to the right of the first one's, as in the whole picture.
            #expect(!dots.isEmpty && moved == expected, "\(dots) \(moved)")
        }
        let blank = try bench.file(Drawn.animation(6, 4, frames: 2) { _, _, _ in [1, 2, 3, 255] })
        let same = try await bench.pixels(of: blank, "png", [.trim(try Trim())])
        #expect(same.width == 6 && same.height == 4 && same.frames == 2)
        // A step that fails before fails the picture, not the worker.
        let failed = try await bench.make(source, "png", [try rectangle(50, 0, 20, 10), .trim(try Trim())])
        #expect(failed.outcome.failure?.reason.contains("60 × 40") == true)
    }

    @Test(
        "A picture is laid on a ground of exactly the size, whole, where it should be, and the ground shows through it")
    func padding() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgb.png")
        for gravity in Gravity.allCases {
            let size = try PixelSize(width: 81, height: 57)
            let pad = try Pad(size: size, background: Self.blue, gravity: gravity)
            let result = try await bench.pixels("png-rgb.png", [.pad(pad)])
            let (left, top) = (Int(gravity.horizontal * 20), Int(gravity.vertical * 20))
            #expect(result.width == 81 && result.height == 57)
            for y in 0..<57 {
                for x in 0..<81 {
                    let isInside = (left..<left + 61).contains(x) && (top..<top + 37).contains(y)
                    guard result[x, y] != (isInside ? whole[x - left, y - top] : [10, 20, 250, 255]) else { continue }
                    Issue.record("\(gravity) \(x) \(y): \(result[x, y])")
                    return
                }
            }
        }
        let size = try PixelSize(width: 30, height: 40)
        let clear = try await bench.pixels("png-rgb.png", [.pad(try Pad(size: size))])
        let small = try await bench.pixels("png-rgb.png", [.downsample(size)])
        #expect(small.width == 30 && small.height == 18 && clear.width == 30 && clear.height == 40)
        #expect(clear[0, 0][3] == 0 && clear[0, 39][3] == 0 && clear[0, 11] == small[0, 0])
        let large = try await bench.pixels(
            "png-rgb.png", [.pad(try Pad(size: try PixelSize(width: 122, height: 100), upscale: true))])
        #expect(large[0, 12][3] == 0 && large[0, 13][3] == 255 && large[121, 86][3] == 255 && large[0, 87][3] == 0)
        // Half of red on blue.
        let half = try bench.file(Drawn.bitmap(4, 4) { _, _ in [255, 0, 0, 128] })
        for (alpha, expected) in [(UInt8(255), [128, 0, 127, 255]), (128, [171, 0, 84, 192])] {
            let ground = RecipeColor(red: 0, green: 0, blue: 255, alpha: alpha)
            let pad = try Pad(size: try PixelSize(width: 8, height: 4), background: ground)
            let result = try await bench.pixels(of: half, "bmp", [.pad(pad)])
            #expect(result[0, 0] == [0, 0, 255, alpha])
            #expect(zip(result[4, 2], expected).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(result[4, 2])")
        }
    }

    @Test("A flip exchanges left and right, top and bottom, or both, and keeps every pixel")
    func flips() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgba.png")
        for (horizontal, vertical) in [(true, false), (false, true), (true, true)] {
            let flip = ImageProcessor.flip(try Flip(horizontal: horizontal, vertical: vertical))
            let result = try await bench.pixels("png-rgba.png", [flip])
            for (x, y) in [(0, 0), (5, 9), (whole.width - 1, 3)] {
                let from = (horizontal ? whole.width - 1 - x : x, vertical ? whole.height - 1 - y : y)
                #expect(result[x, y] == whole[from.0, from.1])
            }
            let again = try await bench.pixels("png-rgba.png", [flip, flip])
            #expect(again == whole)
        }
    }

    @Test("A circle is as large as the picture allows or as asked, around its middle, on nothing or on a colour")
    func circles() async throws {
        let bench = try await CodecBench()
        let whole = try await bench.pixels("png-rgb.png")
        let result = try await bench.pixels("png-rgb.png", [.circle(try Circle())])
        #expect(result.width == 37 && result.height == 37)
        #expect(result[0, 0][3] == 0 && result[36, 36][3] == 0 && result[18, 18] == whole[30, 18])
        let area = stride(from: 3, to: result.bytes.count, by: 4).reduce(0.0) { $0 + Double(result.bytes[$1]) / 255 }
        #expect(abs(area - .pi * 18.5 * 18.5) < 5, "\(area)")
        let small = try await bench.pixels("png-rgb.png", [.circle(try Circle(diameter: 16, background: Self.blue))])
        #expect(small.width == 16 && small.height == 16 && small[0, 0] == [10, 20, 250, 255] && small[8, 8][3] == 255)
        let large = try await bench.pixels("jpeg-large.jpg", [.circle(try Circle(diameter: 64))])
        let fill = try RoundCorner(radius: .fraction(0.5), targetSize: try PixelSize(width: 64, height: 64))
        let same = try await bench.pixels("jpeg-large.jpg", [.roundCorner(fill)])
        #expect(large == same)
    }

    @Test("What exceeds a size is cut off around the focal point, and a JPEG is still decoded at a smaller size for it")
    func focus() async throws {
        let bench = try await CodecBench()
        func filled(_ focus: FocalPoint?, _ width: Double, _ height: Double) throws -> ImageProcessor {
            .resize(try Resize(width: width, height: height, mode: .aspectFill, focus: focus))
        }
        for name in ["jpeg-photo.jpg", "jpeg-large.jpg", "png-rgb.png"] {
            let plain = try await bench.pixels(name, [try filled(nil, 30, 30)])
            #expect(plain.width > 30 && plain.height == 30)
            for (x, left) in [(0.0, 0), (1, plain.width - 30), (0.5, (plain.width - 29) / 2), (0.1, 0)] {
                let result = try await bench.pixels(name, [try filled(try FocalPoint(x: x, y: 0.3), 30, 30)])
                let cut = try await bench.pixels(
                    name, [try filled(nil, 30, 30), try rectangle(Double(left), 0, 30, 30)])
                #expect(result.width == 30 && result == cut, "\(name) \(x)")
            }
        }
        let tall = try await bench.pixels("png-rgb.png", [try filled(try FocalPoint(y: 1), 61, 10)])
        let whole = try await bench.pixels("png-rgb.png")
        #expect(tall.height == 10 && tall[7, 9] == whole[7, 36])
        // Not enlarged, it is cut where it exceeds the size.
        let wide = try await bench.pixels("png-rgb.png", [try filled(try FocalPoint(x: 0), 50, 50)])
        #expect(wide.width == 50 && wide.height == 37 && wide[49, 3] == whole[49, 3])
    }

    @Test("The orientation that EXIF says comes before them all, as before the others", arguments: 2...8)
    func orientation(_ number: Int) async throws {
        let bench = try await CodecBench()
        let chains: [[ImageProcessor]] = [
            [try rectangle(4, 6, 40, 20)], [.crop(try Crop(width: 30, height: 30, place: .interest(.entropy)))],
            [.pad(try Pad(size: try PixelSize(width: 40, height: 40), background: Self.blue, gravity: .topLeft))],
            [.flip(try Flip(horizontal: true))], [.circle(try Circle(diameter: 20))],
            [.pixelate(try Pixelate(size: 9))],
            [.resize(try Resize(width: 20, height: 20, mode: .aspectFill, focus: FocalPoint(x: 0.2)))],
            [.resize(try Resize(width: 31, height: 50, upscale: true, kernel: .nearest))],
            [.resize(try Resize(width: 31, height: nil, kernel: .cubic))],
        ]
        for chain in chains {
            let upright = try await bench.pixels("jpeg-orientation-1.jpg", chain)
            let turned = try await bench.pixels("jpeg-orientation-\(number).jpg", chain)
            #expect(turned.normalised.likeness(upright.normalised) > 28, "\(chain.identifier)")
        }
    }
}
