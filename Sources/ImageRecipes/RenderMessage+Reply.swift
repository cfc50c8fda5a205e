extension FrameWriter {
    mutating func facts(_ facts: CodecFacts) {
        integer(facts.version)
        list(facts.decodes) { $0.text($1) }
        list(facts.encodes) { $0.text($1) }
    }

    mutating func reply(_ reply: RenderReply) {
        list(reply.outcomes) { writer, outcome in
            switch outcome {
            case .finished(let image):
                writer.byte(0)
                writer.image(image)
            case .failed(let failure):
                writer.byte(1)
                writer.failure(failure)
            }
        }
        optional(reply.placeholder) { writer, placeholder in
            writer.data(placeholder.thumbHash)
            writer.color(placeholder.dominantColor)
            writer.text(placeholder.blurHash)
        }
        flag(reply.isLast)
    }

    private mutating func image(_ image: RenderedImage) {
        text(image.format)
        integer(image.width)
        integer(image.height)
        integer(image.frameCount)
        integer(image.byteCount)
        flag(image.hasAlpha)
        list(image.delays) { $0.integer($1) }
        integer(image.loopCount)
        integer(image.stride)
        flag(image.isExact)
        integer(image.framesDropped)
    }

    private mutating func failure(_ failure: RenderFailure) {
        switch failure.kind {
        case .badData: byte(0)
        case .unsupported: byte(1)
        case .limit(let name):
            byte(2)
            text(name)
        case .processingFailed: byte(3)
        case .outOfMemory: byte(4)
        case .resultFailed: byte(5)
        case .sourceFailed: byte(6)
        }
        text(failure.reason)
    }
}

extension FrameReader {
    mutating func facts() throws(FrameError) -> CodecFacts {
        CodecFacts(
            version: try integer(), decodes: try list { (reader) throws(FrameError) in try reader.text() },
            encodes: try list { (reader) throws(FrameError) in try reader.text() })
    }

    mutating func reply() throws(FrameError) -> RenderReply {
        let outcomes = try list { (reader) throws(FrameError) in try reader.outcome() }
        let placeholder = try optional { (reader) throws(FrameError) in
            let (hash, color) = (try reader.data(), try reader.color())
            return RenderPlaceholder(thumbHash: hash, blurHash: try reader.text(), dominantColor: color)
        }
        return RenderReply(outcomes: outcomes, placeholder: placeholder, isLast: try flag())
    }

    private mutating func outcome() throws(FrameError) -> RenderOutcome {
        switch try byte() {
        case 0: .finished(try image())
        case 1: .failed(try failure())
        case let kind: throw FrameError("an outcome is \(kind)")
        }
    }

    private mutating func image() throws(FrameError) -> RenderedImage {
        RenderedImage(
            format: try text(), width: try integer(), height: try integer(), frameCount: try integer(),
            byteCount: try integer(), hasAlpha: try flag(),
            delays: try list { (reader) throws(FrameError) in try reader.integer() }, loopCount: try integer(),
            stride: try integer(), isExact: try flag(), framesDropped: try integer())
    }

    private mutating func failure() throws(FrameError) -> RenderFailure {
        let kind: RenderFailure.Kind
        switch try byte() {
        case 0: kind = .badData
        case 1: kind = .unsupported
        case 2: kind = .limit(try text())
        case 3: kind = .processingFailed
        case 4: kind = .outOfMemory
        case 5: kind = .resultFailed
        case 6: kind = .sourceFailed
        case let number: throw FrameError("a failure is \(number)")
        }
        return RenderFailure(kind, try text())
    }
}
