internal import ImageEngine
internal import JSONRPC

extension Method {
    /// Reads the properties of an image without loading it.
    static let probe = Method(
        "probe", "Tells format, size, orientation, frames and transparency of an image from its first kilobytes.",
        Param<URLText>("url", "Where the image is: an http, https, file or data URL."),
        Param<KeyText?>("key", "The cache key; the URL as given when left out.", default: nil),
        Param<String?>("cache", "The name of the cache that is looked into first.", default: nil, "default"),
        Param<ImageOptions?>("options", "How to look up and load the image.", default: nil)
    ) { invocation, url, key, cacheName, options -> Outcome<ProbeReply> in
        let server = invocation.server
        let cache = try server.cache(cacheName)
        let resource = cache.resource(url.text, key: key?.text)
        let options = server.addingClientDelegate(to: options) ?? ImageOptions()
        let entry = OpenRequests.Entry(
            cache: cache.name, urls: [url.text], slot: nil, priority: CallPriority(options.caller.downloadPriority))
        return .begun { call in
            server.openRequests.add(entry, call)
        } later: { _ in
            do {
                return ProbeReply(
                    found: try await server.manager.probe(
                        resource, in: cache, options: options, caller: ImageCaller(priority: entry.priority)))
            } catch let error as ImageError {
                throw error.rpcError(key: resource.cacheKey)
            }
        }
    }
}

/// The properties of an image, as far as its first kilobytes contain them.
struct ProbeReply: WireObject {
    let found: ProbedImage

    static let name = "ProbeResult"

    private static func number(
        _ name: StaticString, _ summary: String, _ value: @escaping @Sendable (ProbedImage) -> Int?
    ) -> WireField<ProbeReply> {
        WireField(name, summary, ["type": ["integer", "null"], "minimum": 0]) {
            $1.key(name)
            if let number = value($0.found) { $1.write(number) } else { $1.writeNull() }
        }
    }

    static let fields: [WireField<ProbeReply>] = [
        WireField(
            "format", "The picture format, by signature.",
            ["type": "string", "enum": .array(ImageFormat.allCases.map { .string($0.rawValue) })]
        ) { $1.field("format", $0.found.probe.format.rawValue) },
        WireField("mimeType", "The media type of the format.", textSchema) {
            $1.field("mimeType", $0.found.probe.format.mimeType)
        },
        WireField("width", "Pixels across, as coded.", countSchema) { $1.field("width", $0.found.probe.width) },
        WireField("height", "Pixels down, as coded.", countSchema) { $1.field("height", $0.found.probe.height) },
        number("orientation", "How it is to be turned, 1 to 8 as in EXIF; null when its start does not tell.") {
            $0.probe.orientation
        },
        number("frameCount", "Pictures of an animation or pages; null when its start does not tell.") {
            $0.probe.frameCount
        },
        WireField(
            "delays",
            "How long each frame of an animation is shown, in milliseconds; left out when its start does not tell.",
            delaySchema, isOptional: true
        ) {
            if let timing = $0.found.probe.timing { $1.write(delays: timing.delays) }
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
        number("byteCount", "Its size in bytes; null when its server does not say.") { $0.byteCount },
        WireField(
            "cacheType", "Where it was looked at; none for its source.",
            ["type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) })]
        ) { $1.field("cacheType", $0.found.cacheType.rawValue) },
    ]
}
