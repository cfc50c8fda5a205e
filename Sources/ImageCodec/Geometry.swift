internal import ImageRecipes

/// A size in pixels.
struct Extent: Hashable {
    var width: Int
    var height: Int

    var turned: Extent { Extent(width: height, height: width) }

    /// The extent multiplied by a factor, rounded, at least one pixel in each direction.
    func scaled(by factor: Double) -> Extent {
        Extent(
            width: max(1, Int((Double(width) * factor).rounded())),
            height: max(1, Int((Double(height) * factor).rounded())))
    }
}

/// The sizes of the results of processors, as plain arithmetic.
enum Geometry {
    /// The size of an image that must fit within a box and keeps its aspect ratio; never larger than before
    /// (Kingfisher's DownsamplingImageProcessor).
    static func downsampled(_ size: Extent, to box: PixelSize) -> Extent {
        size.scaled(by: min(1, factor(size, box.width, box.height, covering: false)))
    }

    /// The size of a resized image (Kingfisher's ResizingImageProcessor, with upscaling off by default).
    static func resized(_ size: Extent, by resize: Resize) -> Extent {
        switch (resize.width, resize.height) {
        case (let width?, let height?) where resize.mode == .none:
            guard !resize.upscale else { return Extent(width: width, height: height) }
            return Extent(width: min(width, size.width), height: min(height, size.height))
        case (let width?, let height?):
            let factor = factor(size, width, height, covering: resize.mode == .aspectFill)
            return size.scaled(by: resize.upscale ? factor : min(1, factor))
        case (let width?, nil):
            let factor = Double(width) / Double(size.width)
            return size.scaled(by: resize.upscale ? factor : min(1, factor))
        case (nil, let height?):
            let factor = Double(height) / Double(size.height)
            return size.scaled(by: resize.upscale ? factor : min(1, factor))
        case (nil, nil): return size
        }
    }

    /// The size of an image that must cover a size before the rest is cut off.
    static func covering(_ size: Extent, _ target: PixelSize) -> Extent {
        let covered = size.scaled(by: factor(size, target.width, target.height, covering: true))
        return Extent(width: max(covered.width, target.width), height: max(covered.height, target.height))
    }

    /// The position of a part of an image: `anchor × side − anchor × part`, limited to the image (Kingfisher's
    /// `constrainedRect`).
    static func part(of size: Extent, _ crop: Crop) -> (left: Int, top: Int, size: Extent) {
        let part = Extent(width: min(crop.size.width, size.width), height: min(crop.size.height, size.height))
        let left = Int((crop.anchorX * Double(size.width - part.width)).rounded())
        let top = Int((crop.anchorY * Double(size.height - part.height)).rounded())
        return (left, top, part)
    }

    private static func factor(_ size: Extent, _ width: Int, _ height: Int, covering: Bool) -> Double {
        let (across, down) = (Double(width) / Double(size.width), Double(height) / Double(size.height))
        return covering ? max(across, down) : min(across, down)
    }

    /// The size after the first step of a chain, if that step begins with a change of size: the decoder need not
    /// produce more.
    static func target(of step: ImageProcessor?, _ size: Extent) -> Extent? {
        switch step {
        case .downsample(let box): downsampled(size, to: box)
        case .resize(let resize): resized(size, by: resize)
        case .roundCorner(let round): round.targetSize.map { covering(size, $0) }
        default: nil
        }
    }
}
