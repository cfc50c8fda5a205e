internal import ImageEngine
internal import JSONRPC

/// The properties of an image, as far as its first kilobytes contain them.
struct ProbeReply: WireObject {
    let found: ProbedImage

    static let name = "ProbeResult"

    static let fields: [WireField<ProbeReply>] =
        facts + WireField.displayedSize({ $0.found.probe }, "left out when its start does not tell")

    private static let facts: [WireField<ProbeReply>] = [
        WireField(
            "format", "The picture format, by signature.",
            ["type": "string", "enum": .array(ImageFormat.allCases.map { .string($0.rawValue) })]
        ) { $1.field("format", $0.found.probe.format.rawValue) },
        .text("mimeType", "The media type of the format.") { $0.found.probe.format.mimeType },
        .count("width", "Pixels across, as coded.") { $0.found.probe.width },
        .count("height", "Pixels down, as coded.") { $0.found.probe.height },
        .countOrNull("orientation", "How it is to be turned, 1 to 8 as in EXIF; null when its start does not tell.") {
            $0.found.probe.orientation
        },
        .countOrNull("frameCount", "Pictures of an animation or pages; null when its start does not tell.") {
            $0.found.probe.frameCount
        },
        WireField(
            .frameSeconds,
            "How long each frame of an animation is shown, in seconds; left out when its start does not tell.",
            frameSecondsSchema, isOptional: true
        ) {
            if let timing = $0.found.probe.timing { $1.field(frameSeconds: timing.delays) }
        },
        WireField(
            "loopCount", "How often an animation is played, 0 for ever; left out when its start does not tell.",
            countSchema, isOptional: true
        ) {
            if let timing = $0.found.probe.timing { $1.field("loopCount", timing.loopCount) }
        },
        WireField(
            "hasAlpha", "Whether it may be transparent; null when its start does not tell.",
            ["type": ["boolean", "null"]]
        ) {
            $1.key("hasAlpha")
            if let flag = $0.found.probe.hasAlpha { $1.write(flag) } else { $1.writeNull() }
        },
        .countOrNull("byteCount", "Its size in bytes; null when its server does not say.") { $0.found.byteCount },
        WireField(
            "cacheType", "Where it was looked at; none for its source.",
            ["type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) })]
        ) { $1.field("cacheType", $0.found.cacheType.rawValue) },
    ]
}
