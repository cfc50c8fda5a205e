extension FrameWriter {
    mutating func request(_ request: RenderRequest) {
        text(request.source)
        text(request.format)
        optional(request.originalFormat) { $0.text($1) }
        list(request.outputs) { $0.output($1) }
        integer(request.limits.maxPixels)
        integer(request.limits.maxFrames)
        integer(request.limits.maxAnimationPixels)
        number(request.limits.decodeSeconds)
        integer(request.limits.maxBytes)
        integer(request.limits.maxEntityBytes)
        flag(request.wantsPlaceholder)
    }

    private mutating func output(_ output: RenderOutput) {
        list(output.steps) { $0.processor($1) }
        switch output.frames {
        case .all: byte(0)
        case .first: byte(1)
        case .number(let number):
            byte(2)
            integer(number)
        }
        switch output.rule {
        case .automatic(let encoding):
            byte(0)
            self.encoding(encoding)
        case .format(let format, let encoding):
            byte(1)
            text(format.rawValue)
            self.encoding(encoding)
        case .pixels: byte(2)
        case .nothing: byte(3)
        }
        text(output.path)
    }

    private mutating func encoding(_ encoding: Encoding) {
        optional(encoding.quality) { $0.integer($1) }
        flag(encoding.lossless)
        flag(encoding.progressive)
        optional(encoding.background) { $0.color($1) }
        optional(encoding.maxBytes) { $0.integer($1) }
        switch encoding.metadata {
        case .withoutPosition: byte(0)
        case .none: byte(1)
        case .all: byte(2)
        }
        text(encoding.profile.rawValue)
    }
}

extension FrameReader {
    mutating func request() throws(FrameError) -> RenderRequest {
        let (source, format) = (try text(), try text())
        let originalFormat = try optional { (reader) throws(FrameError) in try reader.text() }
        let outputs = try list { (reader) throws(FrameError) in try reader.output() }
        let limits = RenderLimits(
            maxPixels: try integer(), maxFrames: try integer(), maxAnimationPixels: try integer(),
            decodeSeconds: try number(), maxBytes: try integer(), maxEntityBytes: try integer())
        return RenderRequest(
            source: source, format: format, originalFormat: originalFormat, outputs: outputs, limits: limits,
            wantsPlaceholder: try flag())
    }

    private mutating func output() throws(FrameError) -> RenderOutput {
        let steps = try list { (reader) throws(FrameError) in try reader.processor() }
        let (frames, rule) = (try frames(), try rule())
        return RenderOutput(steps: steps, frames: frames, rule: rule, path: try text())
    }

    private mutating func frames() throws(FrameError) -> RenderOutput.Frames {
        switch try byte() {
        case 0: .all
        case 1: .first
        case 2: .number(try integer())
        case let kind: throw FrameError("its choice of frames is \(kind)")
        }
    }

    private mutating func rule() throws(FrameError) -> RenderOutput.Rule {
        switch try byte() {
        case 0: .automatic(try encoding())
        case 1: .format(try name(EncodedFormat.self), try encoding())
        case 2: .pixels
        case 3: .nothing
        case let kind: throw FrameError("its rule for the output is \(kind)")
        }
    }

    private mutating func metadata() throws(FrameError) -> Encoding.Metadata {
        switch try byte() {
        case 0: .withoutPosition
        case 1: .none
        case 2: .all
        case let kind: throw FrameError("its choice of metadata is \(kind)")
        }
    }

    private mutating func encoding() throws(FrameError) -> Encoding {
        Encoding(
            quality: try optional { (reader) throws(FrameError) in try reader.integer() }, lossless: try flag(),
            progressive: try flag(), background: try optional { (reader) throws(FrameError) in try reader.color() },
            maxBytes: try optional { (reader) throws(FrameError) in try reader.integer() },
            metadata: try metadata(), profile: try name(Encoding.Profile.self))
    }
}
