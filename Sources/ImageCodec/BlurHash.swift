internal import Glibc

/// BlurHash (blurha.sh): an image as a few cosine waves in a text of base 83; a port of the reference encoder.
enum BlurHash {
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)

    /// The hash of RGBA samples that are not premultiplied, in 28 letters: four waves along the longer side, three along the
    /// other.
    ///
    /// The format has no alpha: the mean colour, weighted by alpha, is the background of transparent pixels.
    static func hash(of rgba: [UInt8], width: Int, height: Int) -> String {
        let (across, down) = width >= height ? (4, 3) : (3, 4)
        let light = (0...255).map { SRGB.decoded(Double($0) / 255) }
        var pixels: [[Double]] = stride(from: 0, to: rgba.count, by: 4).map { place in
            (0..<3).map { light[Int(rgba[place + $0])] }
        }
        let alphas = stride(from: 3, to: rgba.count, by: 4).map { Double(rgba[$0]) / 255 }
        let weight = alphas.reduce(0, +)
        if weight < Double(alphas.count) {
            let mean = (0..<3).map { band in
                weight > 0 ? zip(pixels, alphas).reduce(0) { $0 + $1.0[band] * $1.1 } / weight : 0
            }
            for place in pixels.indices {
                let alpha = alphas[place]
                for band in 0..<3 { pixels[place][band] = pixels[place][band] * alpha + mean[band] * (1 - alpha) }
            }
        }
        var terms: [[Double]] = []
        for waveY in 0..<down {
            for waveX in 0..<across {
                terms.append(wave(pixels, width, height, waveX, waveY, isMean: terms.isEmpty))
            }
        }
        let most = terms.dropFirst().joined().map(abs).max() ?? 0
        let step = max(0, min(82, Int((most * 166 - 0.5).rounded(.down))))
        let scale = Double(step + 1) / 166
        var letters = encoded(across - 1 + (down - 1) * 9, 1) + encoded(step, 1)
        letters += encoded(terms[0].reduce(0) { $0 << 8 | Int(SRGB.encoded(min(1, max(0, $1))) * 255 + 0.5) }, 4)
        for term in terms.dropFirst() {
            let number = term.reduce(0) { sum, value in
                let part = value / scale
                let root = part.magnitude.squareRoot() * (part < 0 ? -1 : 1)
                return sum * 19 + max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
            }
            letters += encoded(number, 2)
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// The part of each colour that a wave has.
    private static func wave(
        _ pixels: [[Double]], _ width: Int, _ height: Int, _ waveX: Int, _ waveY: Int, isMean: Bool
    ) -> [Double] {
        let cosines = (0..<width).map { cos(.pi * Double(waveX) * Double($0) / Double(width)) }
        var sums = [0.0, 0, 0]
        for y in 0..<height {
            let factor = cos(.pi * Double(waveY) * Double(y) / Double(height))
            for x in 0..<width {
                for band in 0..<3 { sums[band] += cosines[x] * factor * pixels[y * width + x][band] }
            }
        }
        return sums.map { $0 * (isMean ? 1 : 2) / Double(width * height) }
    }

    private static func encoded(_ value: Int, _ length: Int) -> [UInt8] {
        var (letters, rest) = ([UInt8](), value)
        for _ in 0..<length {
            letters.insert(digits[rest % 83], at: 0)
            rest /= 83
        }
        return letters
    }
}
