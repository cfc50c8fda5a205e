internal import ImageRecipes

extension EncodedFormat {
    /// The number on the scale of the format's encoder with which a picture looks about like a JPEG of `quality`.
    ///
    /// Each encoder counts in its own way: HEIC looks at 46 as JPEG does at 80. ``looksLikeJPEG`` lies on lines
    /// between the numbers that were measured.
    func encoderQuality(_ quality: Int) -> Int {
        let points = looksLikeJPEG
        guard let upper = points.firstIndex(where: { $0.jpeg >= quality }), upper > 0 else { return quality }
        let (low, high) = (points[upper - 1], points[upper])
        let part = Double(quality - low.jpeg) / Double(high.jpeg - low.jpeg)
        return Int((Double(low.own) + part * Double(high.own - low.own)).rounded())
    }

    /// Numbers of JPEG's scale, with those of the format's encoder that give the same structural similarity (SSIM) of the
    /// light: the mean over 20 photographs of 600 × 400, by `Tests/Benchmarks/quality.py --scale` with libjpeg-turbo 2.1,
    /// libwebp 1.2, libaom 3.6, x265 3.5 and libjxl 0.7. The ends are those of the scales.
    private var looksLikeJPEG: [(jpeg: Int, own: Int)] {
        switch self {
        case .webp:
            [
                (1, 1), (20, 11), (30, 27), (40, 39), (50, 54), (60, 67), (70, 76), (80, 84), (90, 92), (95, 98),
                (100, 100),
            ]
        case .avif:
            [
                (1, 1), (20, 23), (30, 33), (40, 39), (50, 45), (60, 49), (70, 55), (80, 63), (90, 81), (95, 90),
                (100, 100),
            ]
        case .heic:
            [
                (1, 1), (20, 18), (30, 25), (40, 29), (50, 33), (60, 36), (70, 40), (80, 46), (90, 55), (95, 64),
                (98, 73), (100, 100),
            ]
        case .jxl:
            [
                (1, 1), (20, 13), (30, 22), (40, 39), (50, 53), (60, 63), (70, 72), (80, 81), (90, 91), (95, 96),
                (100, 100),
            ]
        case .png, .jpeg, .gif, .tiff, .bmp, .ico: []
        }
    }
}
