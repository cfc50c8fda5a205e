internal import ImageRecipes

extension RenderLimits {
    /// The longest side of an image of libvips, which gives it one of a single pixel otherwise.
    private static var longestSide: Int { 10_000_000 }

    /// Checks the size of an image before anything is allocated for it.
    ///
    /// - Throws: A failure that names the limit, its value and the requested size.
    func check(width: Int, height: Int, frames: Int = 1) throws(RenderFailure) {
        let (pixels, overflow) = width.multipliedReportingOverflow(by: height)
        guard !overflow, pixels <= maxPixels else {
            throw RenderFailure(
                .limit("maxPixels"),
                "The picture has \(width) × \(height) pixels, more than the \(maxPixels) that maxPixels allows.")
        }
        guard max(width, height) <= Self.longestSide else {
            throw RenderFailure(
                .unsupported,
                "The picture has \(width) × \(height) pixels; a side has at most \(Self.longestSide) here.")
        }
        guard frames > 1 else { return }
        guard frames <= maxFrames else {
            throw RenderFailure(
                .limit("maxFrames"),
                "The picture has \(frames) frames, more than the \(maxFrames) that maxFrames allows.")
        }
        let (total, tooMany) = pixels.multipliedReportingOverflow(by: frames)
        guard !tooMany, total <= maxAnimationPixels else {
            throw RenderFailure(
                .limit("maxAnimationPixels"),
                "The animation has \(frames) frames of \(width) × \(height) pixels, more than the \(maxAnimationPixels) pixels that maxAnimationPixels allows."
            )
        }
    }

    /// Checks the size of an encoded file.
    func check(byteCount: Int) throws(RenderFailure) {
        guard byteCount <= maxBytes else {
            throw RenderFailure(
                .limit("maxBytes"),
                "The file would have \(byteCount) bytes, more than the \(maxBytes) that maxBytes allows.")
        }
    }
}
