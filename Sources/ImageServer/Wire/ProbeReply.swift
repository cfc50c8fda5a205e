internal import ImageEngine
internal import JSONRPC

/// The properties of an image, as far as its first kilobytes contain them.
struct ProbeReply: WireObject {
    let found: ProbedImage

    static let name = "ProbeResult"

    static let fields: [WireField<ProbeReply>] =
        facts + WireField.displayedSize({ $0.found.probe }, "left out when the first kilobytes do not show it")

    private static let facts: [WireField<ProbeReply>] = [
        WireField(
            "format", "The picture format, by signature.",
            ["type": "string", "enum": .array(ImageFormat.allCases.map { .string($0.rawValue) })]
        ) { $1.field("format", $0.found.probe.format.rawValue) },
        .text("mimeType", "The media type of the format.") { $0.found.probe.format.mimeType },
        .count("width", "Pixels across, as coded.") { $0.found.probe.width },
        .count("height", "Pixels down, as coded.") { $0.found.probe.height },
        .countOrNull("orientation", "The orientation, 1 to 8 as in EXIF; null when the first kilobytes do not show it.")
        {
            $0.found.probe.orientation
        },
        .countOrNull("frameCount", "The number of frames or pages; null when the first kilobytes do not show it.") {
            $0.found.probe.frameCount
        },
        WireField(
            .frameSeconds,
            "How long each frame of an animation is shown, in seconds; left out when the first kilobytes do not show it.",
            frameSecondsSchema, isOptional: true
        ) {
            if let timing = $0.found.probe.timing { $1.field(frameSeconds: timing.delays) }
        },
        WireField(
            "loopCount",
            "How often an animation is played, 0 for ever; left out when the first kilobytes do not show it.",
            countSchema, isOptional: true
        ) {
            if let timing = $0.found.probe.timing { $1.field("loopCount", timing.loopCount) }
        },
        WireField(
            "hasAlpha", "Whether the image may be transparent; null when the first kilobytes do not show it.",
            ["type": ["boolean", "null"]]
        ) {
            $1.key("hasAlpha")
            if let flag = $0.found.probe.hasAlpha { $1.write(flag) } else { $1.writeNull() }
        },
        .countOrNull("byteCount", "The size in bytes; null when the server does not say.") { $0.found.byteCount },
        WireField(
            "cacheType", "The tier that was read; none for the source.",
            ["type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) })]
        ) { $1.field("cacheType", $0.found.cacheType.rawValue) },
    ]
}
