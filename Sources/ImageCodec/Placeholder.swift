internal import Glibc
internal import ImageRecipes

/// Computes the preview that is shown until the image is loaded.
enum Placeholder {
    /// The longest side of the image that the preview is computed from, in pixels.
    static let side = 100.0

    /// The output that renders the input of the computation.
    static func output() throws(RenderFailure) -> RenderOutput {
        guard let box = try? PixelSize(width: side, height: side) else {
            throw RenderFailure(.processingFailed, "There is no placeholder.")
        }
        return RenderOutput(steps: [.downsample(box)], frames: .first, rule: .pixels, path: "")
    }

    /// The placeholder of a small image.
    static func of(_ image: CodecImage) throws(RenderFailure) -> RenderPlaceholder {
        let rgba = try image.rgba()
        return RenderPlaceholder(
            thumbHash: ThumbHash.hash(of: rgba, width: image.width, height: image.height),
            blurHash: BlurHash.hash(of: rgba, width: image.width, height: image.height),
            dominantColor: dominant(of: rgba))
    }

    /// The mean of the most frequent of 4,096 colours (four bits per channel), each pixel weighted by its alpha.
    static func dominant(of rgba: [UInt8]) -> RecipeColor {
        var sums = [(weight: Int, red: Int, green: Int, blue: Int)](repeating: (0, 0, 0, 0), count: 4096)
        for place in stride(from: 0, to: rgba.count, by: 4) {
            let (red, green, blue, alpha) = (
                Int(rgba[place]), Int(rgba[place + 1]), Int(rgba[place + 2]), Int(rgba[place + 3])
            )
            let bin = (red >> 4) << 8 | (green >> 4) << 4 | blue >> 4
            sums[bin].weight += alpha
            sums[bin].red += red * alpha
            sums[bin].green += green * alpha
            sums[bin].blue += blue * alpha
        }
        var most = sums[0]
        for sum in sums where sum.weight > most.weight { most = sum }
        guard most.weight > 0 else { return RecipeColor(red: 0, green: 0, blue: 0, alpha: 0) }
        func mean(_ sum: Int) -> UInt8 { UInt8(clamping: (sum + most.weight / 2) / most.weight) }
        return RecipeColor(red: mean(most.red), green: mean(most.green), blue: mean(most.blue))
    }
}

/// ThumbHash (evanw.github.io/thumbhash): an image as a few cosine waves in about 25 bytes; a port of the reference
/// encoder.
enum ThumbHash {
    /// The hash of RGBA samples that are not premultiplied; at most 100 pixels in each direction.
    static func hash(of rgba: [UInt8], width: Int, height: Int) -> [UInt8] {
        // The mean colour, weighted by alpha, is the background of transparent pixels.
        var (meanRed, meanGreen, meanBlue, meanAlpha) = (0.0, 0.0, 0.0, 0.0)
        for place in stride(from: 0, to: rgba.count, by: 4) {
            let alpha = Double(rgba[place + 3]) / 255
            meanRed += alpha / 255 * Double(rgba[place])
            meanGreen += alpha / 255 * Double(rgba[place + 1])
            meanBlue += alpha / 255 * Double(rgba[place + 2])
            meanAlpha += alpha
        }
        if meanAlpha > 0 {
            meanRed /= meanAlpha
            meanGreen /= meanAlpha
            meanBlue /= meanAlpha
        }
        let hasAlpha = meanAlpha < Double(width * height)
        let longest = Double(max(width, height))
        let most = hasAlpha ? 5.0 : 7.0
        let across = max(1, Int((most * Double(width) / longest).rounded()))
        let down = max(1, Int((most * Double(height) / longest).rounded()))

        var (lightness, yellowBlue, redGreen, alphas): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
        for place in stride(from: 0, to: rgba.count, by: 4) {
            let alpha = Double(rgba[place + 3]) / 255
            let red = meanRed * (1 - alpha) + alpha / 255 * Double(rgba[place])
            let green = meanGreen * (1 - alpha) + alpha / 255 * Double(rgba[place + 1])
            let blue = meanBlue * (1 - alpha) + alpha / 255 * Double(rgba[place + 2])
            lightness.append((red + green + blue) / 3)
            yellowBlue.append((red + green) / 2 - blue)
            redGreen.append(red - green)
            alphas.append(alpha)
        }
        let l = Waves(lightness, width, height, max(3, across), max(3, down))
        let p = Waves(yellowBlue, width, height, 3, 3)
        let q = Waves(redGreen, width, height, 3, 3)
        let a = hasAlpha ? Waves(alphas, width, height, 5, 5) : nil

        let isLandscape = width > height
        let head =
            rounded(63 * l.mean) | rounded(31.5 + 31.5 * p.mean) << 6 | rounded(31.5 + 31.5 * q.mean) << 12
            | rounded(31 * l.scale) << 18 | (hasAlpha ? 1 << 23 : 0)
        let second =
            (isLandscape ? down : across) | rounded(63 * p.scale) << 3 | rounded(63 * q.scale) << 9
            | (isLandscape ? 1 << 15 : 0)
        var bytes = [head, head >> 8, head >> 16, second, second >> 8].map { UInt8(truncatingIfNeeded: $0) }
        if let a { bytes.append(UInt8(rounded(15 * a.mean) | rounded(15 * a.scale) << 4)) }
        var isSecondHalf = false
        for wave in [l, p, q] + (a.map { [$0] } ?? []) {
            for term in wave.terms {
                let value = UInt8(rounded(15 * term))
                if isSecondHalf { bytes[bytes.count - 1] |= value << 4 } else { bytes.append(value) }
                isSecondHalf.toggle()
            }
        }
        return bytes
    }

    private static func rounded(_ value: Double) -> Int { Int((value).rounded()) }

    /// A channel as cosine waves: its mean, and the other terms scaled to 0…1.
    private struct Waves {
        var mean = 0.0
        var terms: [Double] = []
        var scale = 0.0

        init(_ channel: [Double], _ width: Int, _ height: Int, _ across: Int, _ down: Int) {
            for waveY in 0..<down {
                var waveX = 0
                while waveX * down < across * (down - waveY) {
                    var sum = 0.0
                    let cosines = (0..<width).map {
                        cos(.pi / Double(width) * Double(waveX) * (Double($0) + 0.5))
                    }
                    for y in 0..<height {
                        let factor = cos(.pi / Double(height) * Double(waveY) * (Double(y) + 0.5))
                        for x in 0..<width { sum += channel[y * width + x] * cosines[x] * factor }
                    }
                    sum /= Double(width * height)
                    if waveX > 0 || waveY > 0 {
                        terms.append(sum)
                        scale = max(scale, abs(sum))
                    } else {
                        mean = sum
                    }
                    waveX += 1
                }
            }
            if scale > 0 { terms = terms.map { 0.5 + 0.5 / scale * $0 } }
        }
    }
}
