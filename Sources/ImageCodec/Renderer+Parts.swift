internal import ImageRecipes

extension Renderer {
    /// Replaces the steps of an animation whose part depends on the pixels by crops of one part, so that all frames are cut
    /// alike: by the first frame, or, where margins are removed, by what any frame has.
    ///
    /// Each such step costs one more pass over the frames. A failure of a step is the output's.
    mutating func settleParts(ofOutput number: Int) throws(RenderFailure) {
        while let place = request.outputs[number].steps.firstIndex(where: \.dependsOnPixels) {
            let step = request.outputs[number].steps[place]
            let before = request.outputs[number].steps[..<place].filter { !$0.changesNothing }
            var found: Region?
            var failure: RenderFailure?
            try decoder.eachFrame { (index, frame) throws(RenderFailure) in
                guard failure == nil, index == 0 || step.isTrim else { return }
                do throws(RenderFailure) {
                    let image = try prepared(frame, by: before).inMemory()
                    guard let part = try Processing.part(of: image, by: step) else { return }
                    found = found?.union(part) ?? part
                } catch { failure = error }
            }
            if let failure {
                results[number] = .failure(failure)
                request.outputs[number].steps = []
            } else if let found, let crop = found.crop {
                request.outputs[number].steps[place] = .crop(crop)
            } else {
                request.outputs[number].steps.remove(at: place)
            }
        }
    }

    /// A frame after some steps.
    private func prepared(_ frame: CodecImage, by steps: [ImageProcessor]) throws(RenderFailure) -> CodecImage {
        guard let step = steps.first else { return try Upright.whole(frame) }
        var image = try first(step, frame, decoder.upright)
        for step in steps.dropFirst() { image = try Processing.apply(step, image, decoder.limits) }
        return image
    }
}

extension ImageProcessor {
    fileprivate var isTrim: Bool { if case .trim = self { true } else { false } }
}

extension Region {
    /// The crop that takes the rectangle; nil for one that is larger than any crop.
    fileprivate var crop: Crop? {
        try? Crop(
            width: Double(size.width), height: Double(size.height), place: .corner(x: Double(left), y: Double(top)))
    }
}
