internal import CVips
internal import Glibc
public import ImageRecipes

/// Executes requests, one after another.
public struct CodecWorker {
    private var library: CodecLibrary

    /// A worker; nil when the library does not start.
    public init?() {
        guard let library = CodecLibrary() else { return nil }
        self.library = library
    }

    /// The capabilities of the worker.
    public var facts: CodecFacts { library.facts }

    /// Writes the files of a request.
    ///
    /// A failure of one output does not affect the others; a failure of the source fails every output.
    public mutating func render(_ request: RenderRequest) -> RenderReply {
        let seconds = min(max(request.limits.decodeSeconds, 0.001), 86_400)
        hv_set_deadline(monotonicNanoseconds() + Int64(seconds * 1e9))
        defer { hv_set_deadline(0) }
        do throws(RenderFailure) {
            return try rendered(request)
        } catch {
            return RenderReply(outcomes: request.outputs.map { _ in .failed(error) })
        }
    }

    private mutating func rendered(_ request: RenderRequest) throws(RenderFailure) -> RenderReply {
        guard let format = SourceFormat(rawValue: request.format), library.canRead(format) else {
            throw RenderFailure(
                .unsupported, "\(request.format) cannot be read by the codec library of this machine.")
        }
        // libheif returns images that are damaged in places with the previous content of the memory there.
        hv_zero_memory(format.plugin == "heif" ? 1 : 0)
        let decoder = try Decoder(
            path: request.source, format: format,
            originalFormat: request.originalFormat.flatMap { SourceFormat(rawValue: $0) }, limits: request.limits)
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
                var encoder = Encoder(decoder: decoder, output: output, library: library)
                outcomes.append(.finished(try encoder.write(try renderer.results[number].get())))
                library = encoder.library
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
