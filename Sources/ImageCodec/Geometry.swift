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

/// A rectangle of an image, in pixels.
struct Region: Hashable {
    var left: Int
    var top: Int
    var size: Extent

    /// The smallest rectangle that contains this one and another.
    func union(_ other: Region) -> Region {
        let (left, top) = (min(left, other.left), min(top, other.top))
        return Region(
            left: left, top: top,
            size: Extent(
                width: max(self.left + size.width, other.left + other.size.width) - left,
                height: max(self.top + size.height, other.top + other.size.height) - top))
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
    static func resized(_ size: Extent, by resize: Resize, isVector: Bool = false) -> Extent {
        let upscale = resize.upscale || isVector
        switch (resize.width, resize.height) {
        case (let width?, let height?) where resize.mode == .none:
            guard !upscale else { return Extent(width: width, height: height) }
            return Extent(width: min(width, size.width), height: min(height, size.height))
        case (let width?, let height?):
            let factor = factor(size, width, height, covering: resize.mode == .aspectFill)
            return size.scaled(by: upscale ? factor : min(1, factor))
        case (let width?, nil):
            let factor = Double(width) / Double(size.width)
            return size.scaled(by: upscale ? factor : min(1, factor))
        case (nil, let height?):
            let factor = Double(height) / Double(size.height)
            return size.scaled(by: upscale ? factor : min(1, factor))
        case (nil, nil): return size
        }
    }

    /// The size of an image that must cover a size before the rest is cut off.
    static func covering(_ size: Extent, _ target: PixelSize) -> Extent {
        let covered = size.scaled(by: factor(size, target.width, target.height, covering: true))
        return Extent(width: max(covered.width, target.width), height: max(covered.height, target.height))
    }

    /// The size of an image that fits within the ground of a pad.
    static func fitted(_ size: Extent, by pad: Pad) -> Extent {
        let factor = factor(size, pad.size.width, pad.size.height, covering: false)
        return size.scaled(by: pad.upscale ? factor : min(1, factor))
    }

    /// The size of the part that a crop takes, limited to the image.
    static func partSize(of size: Extent, _ crop: Crop) -> Extent {
        let part =
            crop.unit == .pixels
            ? Extent(width: Int(crop.width), height: Int(crop.height))
            : Extent(
                width: max(1, Int((crop.width * Double(size.width)).rounded())),
                height: max(1, Int((crop.height * Double(size.height)).rounded())))
        return Extent(width: min(part.width, size.width), height: min(part.height, size.height))
    }

    /// The part of an image that is placed by what is cut off: `anchor × side − anchor × part`, limited to the image
    /// (Kingfisher's `constrainedRect`).
    static func part(of size: Extent, _ part: Extent, anchorX: Double, anchorY: Double) -> Region {
        Region(
            left: Int((anchorX * Double(size.width - part.width)).rounded()),
            top: Int((anchorY * Double(size.height - part.height)).rounded()), size: part)
    }

    /// The rectangle that a crop names by its corner.
    ///
    /// - Throws: A failure that names the size of the image, when the rectangle does not lie within it.
    static func rectangle(of size: Extent, _ crop: Crop, x: Double, y: Double) throws(RenderFailure) -> Region {
        if crop.unit == .fraction {
            // Both edges are rounded, so that parts that adjoin overlap nowhere and leave nothing out.
            func edges(_ start: Double, _ length: Double, _ side: Int) -> (start: Int, length: Int) {
                let first = min(Int((start * Double(side)).rounded()), side - 1)
                return (first, max(1, min(Int(((start + length) * Double(side)).rounded()), side) - first))
            }
            let (across, down) = (edges(x, crop.width, size.width), edges(y, crop.height, size.height))
            return Region(
                left: across.start, top: down.start, size: Extent(width: across.length, height: down.length))
        }
        let region = Region(
            left: Int(x), top: Int(y), size: Extent(width: Int(crop.width), height: Int(crop.height)))
        guard region.left + region.size.width <= size.width, region.top + region.size.height <= size.height else {
            throw RenderFailure(
                .processingFailed,
                "A crop of \(region.size.width) × \(region.size.height) pixels at \(region.left), \(region.top) is not within the picture, which has \(size.width) × \(size.height) pixels."
            )
        }
        return region
    }

    /// The part of an image that lies around a focal point, as near as the edges allow.
    static func part(of size: Extent, _ part: Extent, around focus: FocalPoint) -> Region {
        func start(_ focus: Double, _ side: Int, _ part: Int) -> Int {
            min(max(0, Int((focus * Double(side) - Double(part) / 2).rounded())), side - part)
        }
        return Region(
            left: start(focus.x, size.width, part.width), top: start(focus.y, size.height, part.height), size: part)
    }

    private static func factor(_ size: Extent, _ width: Int, _ height: Int, covering: Bool) -> Double {
        let (across, down) = (Double(width) / Double(size.width), Double(height) / Double(size.height))
        return covering ? max(across, down) : min(across, down)
    }

    /// The size after the first step of a chain, if that step begins with a change of size: the decoder need not
    /// produce more.
    ///
    /// - Parameter isVector: `true` for a drawing, which fills the box of a resize: its size in pixels is not its own.
    static func target(of step: ImageProcessor?, _ size: Extent, isVector: Bool = false) -> Extent? {
        switch step {
        case .downsample(let box): downsampled(size, to: box)
        // A decoder that shrinks does not deliver the pixels of the original; a drawing has none.
        case .resize(let resize):
            resize.kernel == .nearest && !isVector ? nil : resized(size, by: resize, isVector: isVector)
        case .pad(let pad): fitted(size, by: pad)
        case .roundCorner(let round): round.targetSize.map { covering(size, $0) }
        case .circle(let circle): circle.target.map { covering(size, $0) }
        default: nil
        }
    }
}
