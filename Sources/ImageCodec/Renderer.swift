internal import CVips
internal import ImageRecipes

/// Computes the images of a request.
struct Renderer {
    var request: RenderRequest
    let decoder: Decoder
    /// The result of each output: its frames, or the failure.
    var results: [Result<[CodecImage], RenderFailure>]

    init(_ request: RenderRequest, _ decoder: Decoder) {
        self.request = request
        self.decoder = decoder
        results = Array(repeating: .success([]), count: request.outputs.count)
    }

    /// Executes every step once for each frame that is needed; the frames are in memory afterwards.
    mutating func run() throws(RenderFailure) {
        for number in request.outputs.indices {
            guard case .number(let page) = request.outputs[number].frames, self.page(of: number) == nil,
                !takesAnimation(request.outputs[number])
            else { continue }
            let frames = decoder.pageCount == 1 ? "one frame" : "\(decoder.pageCount) frames"
            results[number] = .failure(
                RenderFailure(.processingFailed, "The picture has \(frames), counted from 0, and no frame \(page)."))
        }
        let whole = request.outputs.indices.filter { takesAnimation(request.outputs[$0]) }
        if whole.isEmpty {
            // Outputs of the same page share its decoding.
            for page in Set(request.outputs.indices.compactMap(page(of:))).sorted() {
                let plan = plan(request.outputs.indices.filter { self.page(of: $0) == page })
                run(plan, base: try base(page, plan), nominal: decoder.upright)
            }
        } else {
            try decoder.limits.check(
                width: decoder.coded.width, height: decoder.coded.height, frames: decoder.frameCount)
            for number in whole { try settleParts(ofOutput: number) }
            try runFrames()
        }
    }

    private mutating func runFrames() throws(RenderFailure) {
        let plans = (0..<decoder.frameCount).map { index in
            plan(request.outputs.indices.filter { takesAnimation(request.outputs[$0]) || page(of: $0) == index })
        }
        var copy = self
        let size = decoder.upright
        try decoder.eachFrame { (index, frame) throws(RenderFailure) in
            copy.run(plans[index], base: frame, nominal: size)
        }
        self = copy
    }

    private func plan(_ numbers: [Int]) -> RenderPlan {
        RenderPlan(numbers.map { ($0, request.outputs[$0].steps) })
    }

    /// `true` when an output contains all frames of an animation.
    func takesAnimation(_ output: RenderOutput) -> Bool {
        guard decoder.frameCount > 1, output.frames == .all else { return false }
        if case .format(let format, _) = output.rule { return format.isAnimated }
        return true
    }

    /// The page of the source that a still output uses; nil for animations.
    private func page(of number: Int) -> Int? {
        let output = request.outputs[number]
        if takesAnimation(output) { return nil }
        if case .number(let page) = output.frames { return page < decoder.pageCount && page >= 0 ? page : nil }
        return 0
    }

    /// The size after the first step, if that begins with a change of size.
    private func size(after step: ImageProcessor, _ size: Extent) -> Extent? {
        Geometry.target(of: step, size, isVector: decoder.format.isVector)
    }

    /// The pixels of a page, as coded, no more of them than the first steps need.
    private func base(_ page: Int, _ plan: RenderPlan) throws(RenderFailure) -> CodecImage {
        let targets = plan.roots.map { size(after: plan.nodes[$0].step, decoder.upright) }
        var target: Extent? = Extent(width: 1, height: 1)
        if !plan.plain.isEmpty { target = nil }
        for wanted in targets {
            guard let wanted, let most = target else {
                target = nil
                break
            }
            target = Extent(width: max(most.width, wanted.width), height: max(most.height, wanted.height))
        }
        if let size = target, decoder.orientation >= 5 { target = size.turned }
        return try decoder.still(page: page, target: target)
    }

    // MARK: - One frame

    private mutating func run(_ plan: RenderPlan, base: CodecImage, nominal: Extent) {
        do throws(RenderFailure) {
            let shared = plan.hasSeveralReaders ? try base.inMemory() : base
            if !plan.plain.isEmpty {
                let image = try Upright.whole(shared)
                for number in plan.plain { append(image, toOutput: number) }
            }
            for root in plan.roots {
                do throws(RenderFailure) {
                    run(plan, root, try first(plan.nodes[root].step, shared, nominal))
                } catch {
                    fail(plan.outputs(below: root), error)
                }
            }
        } catch {
            fail(plan.plain + plan.roots.flatMap(plan.outputs(below:)), error)
        }
    }

    /// The result of the first step. The source may be smaller than its nominal size, because it was shrunk during
    /// decoding.
    func first(
        _ step: ImageProcessor, _ base: CodecImage, _ nominal: Extent
    ) throws(RenderFailure) -> CodecImage {
        guard let target = size(after: step, nominal) else {
            return try Processing.apply(step, try Upright.whole(base), decoder.limits)
        }
        try decoder.limits.check(width: target.width, height: target.height)
        switch step {
        case .downsample: return try Upright.sized(base, to: target)
        case .resize(let resize) where resize.focus == nil:
            return try Upright.sized(base, to: target, by: resize.kernel)
        case .resize(let resize):
            return try Processing.apply(
                step, try Upright.sized(base, to: target, by: resize.kernel), decoder.limits)
        default: return try Processing.apply(step, try Upright.sized(base, to: target), decoder.limits)
        }
    }

    private mutating func run(_ plan: RenderPlan, _ place: Int, _ image: CodecImage) {
        let node = plan.nodes[place]
        do throws(RenderFailure) {
            let result = node.outputs.count + node.children.count > 1 ? try image.inMemory() : image
            for number in node.outputs {
                do throws(RenderFailure) {
                    // What a step made larger keeps the limits too, with all frames.
                    let frames = takesAnimation(request.outputs[number]) ? decoder.frameCount : 1
                    try decoder.limits.check(width: result.width, height: result.height, frames: frames)
                    append(try result.inMemory(), toOutput: number)
                } catch {
                    fail([number], error)
                }
            }
            for child in node.children {
                do throws(RenderFailure) {
                    run(plan, child, try Processing.apply(plan.nodes[child].step, result, decoder.limits))
                } catch {
                    fail(plan.outputs(below: child), error)
                }
            }
        } catch {
            fail(plan.outputs(below: place), error)
        }
    }

    private mutating func append(_ image: CodecImage, toOutput number: Int) {
        guard case .success(var frames) = results[number] else { return }
        results[number] = .success([])
        frames.append(image)
        results[number] = .success(frames)
    }

    private mutating func fail(_ numbers: [Int], _ failure: RenderFailure) {
        for number in numbers { results[number] = .failure(failure) }
    }
}

/// Converts images to upright ones in grey or RGB.
enum Upright {
    /// An image as displayed, in memory.
    static func whole(_ image: CodecImage) throws(RenderFailure) -> CodecImage {
        let image = try image.inMemory()
        return try plain(image.orientation > 1 ? try image.applying { hv_autorotate($0) } : image)
    }

    /// An image resized to the displayed size `size`, in memory. The source is read once, from top to bottom.
    static func sized(
        _ image: CodecImage, to size: Extent, by kernel: ResizeKernel = .lanczos3
    ) throws(RenderFailure) -> CodecImage {
        let sized = try image.resized(to: image.orientation >= 5 ? size.turned : size, by: kernel).inMemory()
        return try plain(sized.orientation > 1 ? try sized.applying { hv_autorotate($0) } : sized)
    }

    /// An image without CMYK, Lab, floating point or extra channels.
    private static func plain(_ image: CodecImage) throws(RenderFailure) -> CodecImage {
        switch image.colours {
        case .cmyk:
            let inks = image.bands > 4 ? try image.applying { hv_extract_bands($0, 0, 4) } : image
            return try inks.applying { hv_to_srgb_profile($0, 8) }.inMemory()
        case .other: return try image.applying { hv_to_rgb($0, 8) }.inMemory()
        case .gray where image.bands > 2: return try image.applying { hv_extract_bands($0, 0, 2) }
        case .rgb where image.bands > 4: return try image.applying { hv_extract_bands($0, 0, 4) }
        case .gray, .rgb: break
        }
        return image.depth == 32 ? try image.applying { hv_to_rgb($0, 8) }.inMemory() : image
    }
}
