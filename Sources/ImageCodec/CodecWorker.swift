internal import CVips
internal import Glibc
internal import ImageFormats
internal import ImageRecipes

/// Executes requests, one after another.
struct CodecWorker {
    private let library: CodecLibrary

    /// A worker with the given parts of the library; nil when the library does not start.
    init?(_ parts: Set<CodecPart>) {
        guard let library = CodecLibrary(parts) else { return nil }
        self.library = library
    }

    /// The capabilities of the worker.
    var facts: CodecFacts { library.facts }

    /// Writes the files of a request.
    ///
    /// - Parameter descriptors: Those of its source and of its files, in their order.
    /// - Returns: The outcomes. A failure of one output does not affect the others; a failure of the source fails every
    ///   output.
    func render(_ request: RenderRequest, _ descriptors: [Int32]) -> RenderReply {
        let seconds = min(max(request.limits.decodeSeconds, 0.001), 86_400)
        hv_set_deadline(monotonicNanoseconds() + Int64(seconds * 1e9))
        defer { hv_set_deadline(0) }
        do throws(RenderFailure) {
            let stamp = try SourceStamp(descriptor: descriptors[0])
            let source = try SourceBytes(descriptor: descriptors[0], count: stamp.size)
            let reply = Result { () throws(RenderFailure) in try rendered(request, source, descriptors) }
            // Whatever came of bytes that are not those of one file.
            try stamp.check(descriptor: descriptors[0])
            return try reply.get()
        } catch {
            return RenderReply(outcomes: request.outputs.map { _ in .failed(error) })
        }
    }

    private func rendered(
        _ request: RenderRequest, _ source: SourceBytes, _ descriptors: [Int32]
    ) throws(RenderFailure) -> RenderReply {
        guard let format = ImageFormat(rawValue: request.format), library.canRead(format) else {
            throw RenderFailure(
                .unsupported, "\(request.format) cannot be read by the codec library of this machine.")
        }
        // libheif returns images that are damaged in places with the previous content of the memory there.
        hv_zero_memory(format.part == .heif ? 1 : 0)
        let decoder = try Decoder(
            source, format: format,
            originalFormat: request.originalFormat.flatMap { ImageFormat(rawValue: $0) }, limits: request.limits)
        var wanted = request
        wanted.outputs.removeAll { $0.rule == .nothing }
        let count = wanted.outputs.count
        if request.wantsPlaceholder { wanted.outputs.append(try Placeholder.output()) }
        // The source is checked once for all outputs that ask for a check.
        let outcomeOfCheck = request.outputs.count > count ? checkOutcome(decoder) : nil
        var renderer = Renderer(wanted, decoder)
        if !wanted.outputs.isEmpty { try renderer.run() }
        var outcomes: [RenderOutcome] = []
        var number = -1
        for output in request.outputs {
            if output.rule == .nothing, let outcomeOfCheck {
                outcomes.append(outcomeOfCheck)
                continue
            }
            number += 1
            do throws(RenderFailure) {
                let encoder = Encoder(decoder: decoder, output: output, library: library)
                let frames = try renderer.results[number].get()
                outcomes.append(.finished(try encoder.write(frames, to: descriptors[number + 1])))
            } catch {
                outcomes.append(.failed(error))
            }
        }
        var placeholder: RenderPlaceholder?
        if request.wantsPlaceholder, case .success(let frames) = renderer.results[count],
            let small = frames.first
        {
            placeholder = try? Placeholder.of(small)
        }
        return RenderReply(outcomes: outcomes, placeholder: placeholder)
    }

    /// The outcome of decoding the whole source.
    private func checkOutcome(_ decoder: Decoder) -> RenderOutcome {
        do throws(RenderFailure) {
            try decoder.decodeAll()
            return .finished(
                RenderedImage(
                    format: decoder.format.rawValue, width: decoder.upright.width, height: decoder.upright.height,
                    frameCount: decoder.frameCount, byteCount: 0, hasAlpha: false))
        } catch {
            return .failed(error)
        }
    }
}

func monotonicNanoseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
