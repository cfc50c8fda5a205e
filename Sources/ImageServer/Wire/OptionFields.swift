internal import ImageEngine
internal import JSONRPC
internal import Platform

/// One option of a request: its name, its words, its schema and what it sets.
struct OptionField: Sendable {
    let name: String
    let summary: String
    let schema: JSONLiteral
    let fallback: JSONLiteral
    let apply: @Sendable (JSONView, inout ImageOptions.Fields) throws(Mismatch) -> Void

    private static func flag(
        _ name: String, _ summary: String, default fallback: Bool = false,
        _ set: @escaping @Sendable (inout ImageOptions.Fields, Bool) -> Void
    ) -> OptionField {
        OptionField(name: name, summary: summary, schema: Bool.schema, fallback: .boolean(fallback)) {
            (view, options) throws(Mismatch) in set(&options, try Bool.decode(view))
        }
    }

    private static func number(
        _ name: String, _ summary: String, default fallback: JSONLiteral, from low: Double, to high: Double,
        isOpen: Bool = false, _ set: @escaping @Sendable (inout ImageOptions.Fields, Double) -> Void
    ) -> OptionField {
        let bound = isOpen ? "exclusiveMinimum" : "minimum"
        return OptionField(
            name: name, summary: summary,
            schema: .object([("type", "number"), (bound, .number(low)), ("maximum", .number(high))]), fallback: fallback
        ) { (view, options) throws(Mismatch) in
            guard let value = view.number, value <= high, isOpen ? value > low : value >= low else {
                throw .expected(
                    "a number \(isOpen ? "above" : "from") \(low.shortest) \(isOpen ? "up to" : "to") \(high.shortest)",
                    view)
            }
            set(&options, value)
        }
    }

    private static func integer(
        _ name: String, _ summary: String, default fallback: Int?, from low: Int, to high: Int,
        _ set: @escaping @Sendable (inout ImageOptions.Fields, Int) -> Void
    ) -> OptionField {
        OptionField(
            name: name, summary: summary,
            schema: ["type": "integer", "minimum": .integer(low), "maximum": .integer(high)],
            fallback: fallback.map { .integer($0) } ?? .null
        ) { (view, options) throws(Mismatch) in
            set(&options, try wholeNumber(view, from: low, to: high))
        }
    }

    private static func value<Value: WireValue>(
        _ name: String, _ summary: String, default fallback: JSONLiteral = .null, _ type: Value.Type,
        _ set: @escaping @Sendable (inout ImageOptions.Fields, Value) -> Void
    ) -> OptionField {
        OptionField(name: name, summary: summary, schema: Value.schema, fallback: fallback) {
            (view, options) throws(Mismatch) in set(&options, try Value.decode(view))
        }
    }

    /// Every option that this server understands, in the order of the documentation.
    static let all: [OptionField] = [
        flag("forceRefresh", "Do not read from the caches, but write to them.") { $0.lookup.forceRefresh = $1 },
        flag("fromMemoryCacheOrRefresh", "Look in memory only, then download.") {
            $0.storage.fromMemoryCacheOrRefresh = $1
        },
        flag("onlyFromCache", "Never download; an image that is not cached is the error notCached.") {
            $0.lookup.onlyFromCache = $1
        },
        flag("cacheMemoryOnly", "Keep the image in memory only; the result has no path.") {
            $0.storage.cacheMemoryOnly = $1
        },
        flag("waitForCache", "Answer only when the image is in the cache.", default: true) {
            $0.storage.waitForCache = $1
        },
        value("memoryCacheExpiration", "How long memory keeps the image.", StorageExpiration.self) {
            $0.storage.memoryCacheExpiration = $1
        },
        value("diskCacheExpiration", "How long the disk keeps the image.", StorageExpiration.self) {
            $0.storage.diskCacheExpiration = $1
        },
        value(
            "memoryCacheAccessExtendingExpiration",
            "What an access does to the expiration in memory; as the cache is configured when left out.",
            ExpirationExtension.self
        ) { $0.storage.memoryCacheAccessExtendingExpiration = $1 },
        value(
            "diskCacheAccessExtendingExpiration",
            "What an access does to the expiration on disk; as the cache is configured when left out.",
            ExpirationExtension.self
        ) { $0.storage.diskCacheAccessExtendingExpiration = $1 },
        value(
            "forcedCacheFileExtension", "The extension of the cached file, instead of the format's.", FileExtension.self
        ) {
            $0.storage.forcedCacheFileExtension = $1.text
        },
        flag("queryDataWhenInMemory", "Read the bytes even when only the path was asked for.") {
            $0.storage.queryDataWhenInMemory = $1
        },
        flag("memory", "Keep the image in memory; when false, memory does not keep it.", default: true) {
            $0.storage.keepsInMemory = $1
        },
        value(
            "originalCache", "Another cache to search before downloading; what it has is stored here too.",
            CacheName.self
        ) { $0.lookup.originalCache = $1.text },
        flag(
            "cacheOriginalImage", "Keep the original of a processed image too, so that more can be made of it.",
            default: true
        ) { $0.processing.cacheOriginalImage = $1 },
        value(
            "cacheSerializer", "How a processed image is written; by default as the result needs.",
            CacheSerializer.self
        ) { $0.processing.recipe.serializer = $1 },
        flag("onlyLoadFirstFrame", "Use only the first frame of an animation, as a still.") {
            if $1 { $0.processing.recipe.frames = .first }
        },
        integer(
            "frame", "Use one frame of an animation, by its number from 0, as a still.", default: nil, from: 0,
            to: 1_000_000
        ) {
            $0.processing.recipe.frames = $1 == 0 ? .first : .number($1)
        },
        flag(
            "scaleDownLargeImages", "Shrink an image of more than 15728640 pixels to that many."
        ) { $0.processing.recipe.scalesDown = $1 },
        number(
            "scaleFactor", "The factor for the lengths of processors, which are then in points, not pixels.",
            default: 1, from: 0, to: 100, isOpen: true
        ) { $0.processing.scaleFactor = $1 },
        flag(
            "preloadAllAnimationData", "Accepted for clients of other libraries: all frames are always kept."
        ) { _, _ in },
        flag(
            "backgroundDecode", "Accepted for clients of other libraries: images are always decoded in another process."
        ) { _, _ in },
        value(
            "verifyDecode",
            "Answer and keep the image only once all of it has been decoded; as the cache is configured when left out.",
            Bool.self
        ) { $0.lookup.verifyDecode = $1 },
        flag(
            "thumbHash",
            "Also answer with a ThumbHash, a BlurHash and the dominant colour, computed once and kept with the entry."
        ) {
            $0.processing.wantsPreview = $1
        },
        integer(
            "maxPixels",
            "The largest number of pixels in a frame of an image to process; for a JPEG, after shrinking while decoding.",
            default: 50_000_000, from: 1, to: 4_294_836_225
        ) { $0.processing.limits.maxPixels = $1 },
        integer(
            "maxFrames", "The largest number of frames of an image to process.", default: 2000, from: 1,
            to: 1_000_000
        ) { $0.processing.limits.maxFrames = $1 },
        integer(
            "maxAnimationPixels", "The largest number of pixels of all its frames together.", default: 250_000_000,
            from: 1, to: 1 << 40
        ) { $0.processing.limits.maxAnimationPixels = $1 },
        number(
            "decodeSeconds", "The longest time that processing may take, in seconds.", default: 20, from: 0, to: 3600,
            isOpen: true
        ) { $0.processing.limits.decodeSeconds = $1 },
        integer(
            "maxEntityBytes", "The largest number of bytes that entities may add to an SVG where they are used.",
            default: 1_000_000, from: 0, to: 1 << 28
        ) { $0.processing.limits.maxEntityBytes = $1 },
        number(
            "lease", "The time that an answered path stays valid, in seconds.", default: 60, from: 0, to: 31_536_000
        ) { $0.storage.lease = $1 },
        value(
            "revalidate",
            "When a stored image is revalidated with its server: never, ifExpired, always, or as HTTP's rules say (http); as the cache is configured when left out.",
            Revalidation.self
        ) { $0.lookup.revalidate = $1 },
        number(
            "staleIfError",
            "How long after expiring a stored image may be used when its server cannot be reached, in seconds; as long as the server allows when left out.",
            default: nil, from: 0, to: 31_536_000
        ) { $0.lookup.staleIfError = $1 },
        flag("offline", "Use nothing from the network, and answer what is stored, even if it has expired.") {
            $0.lookup.offline = $1
        },
        number(
            "negativeCache",
            "How long a permanent failure is remembered, in seconds; as the cache is configured when left out.",
            default: nil, from: 0, to: 31_536_000
        ) { $0.lookup.negativeCache = $1 },
        number(
            "timeout",
            "The longest wait for the next bytes, in seconds; as the downloader is configured when left out.",
            default: nil, from: 0, to: 86_400, isOpen: true
        ) { $0.network.limits.timeout = $1 },
        number(
            "deadline", "The longest time for the whole request, in seconds; no limit by default.",
            default: nil, from: 0, to: 86_400,
            isOpen: true
        ) { $0.caller.deadline = $1 },
        number(
            "minBytesPerSecond",
            "The lowest permitted speed of a download, in bytes per second, measured over two timeouts; 0 for no limit.",
            default: 100, from: 0,
            to: 1_000_000_000
        ) { $0.network.limits.minBytesPerSecond = $1 },
        value(
            "downloadPriority",
            "The priority among waiting downloads, higher first: 0 to 1, or veryLow, low, normal, high or veryHigh.",
            default: 0.5, Priority.self
        ) { $0.caller.downloadPriority = $1.value },
        flag("alsoPrefetchToMemory", "Prefetch into memory too; for prefetch only.") {
            $0.caller.alsoPrefetchToMemory = $1
        },
        value(
            "onLastCancel", "What happens to the download when the last request that waits for it is cancelled.",
            default: "abort", LastCancel.self
        ) { $0.caller.onLastCancel = $1 },
        value(
            "slot",
            "The place that the image is for, such as a view: a newer request for the same place cancels this one.",
            KeyText.self
        ) { $0.caller.slot = $1.text },
        flag("downloadReport", "Also answer with the result and the timing of the download, if there was one.") {
            $0.caller.wantsReport = $1
        },
        flag("merge", "Share the download with other requests for the same image.", default: true) {
            $0.network.merges = $1
        },
        value("headers", "Request headers.", default: [:], HeaderFields.self) {
            $0.network.request.headers = $1.fields
        },
        value(
            "method", "The HTTP method; POST when there is a body.", default: "GET", RequestMethod.self
        ) { $0.network.request.method = $1 },
        value(
            "body", "The body of a request other than GET: text, or bytes as base64; at most 1048576 bytes.",
            RequestBody.self
        ) { $0.network.request.body = $1.bytes },
        value(
            "dataModifier",
            "A transformation of the downloaded bytes before they are checked: base64 decodes text that encodes the image, also as a data URL.",
            DataModifier.self
        ) { $0.network.dataModifier = $1 },
        value("authorization", "Credentials, sent to the host of the URL only.", Authorization.self) {
            $0.network.request.authorization = $1
        },
        value(
            "scope",
            "A name for the user of the request, such as an account. Images loaded with credentials are kept apart by this name instead of by the credentials, and so outlast a change of token.",
            KeyText.self
        ) { $0.lookup.scope = $1.text },
        value(
            "credentialScope",
            "Whether images loaded with credentials are kept apart by user (separate) or shared with everyone (shared).",
            default: "separate", CredentialScope.self
        ) { $0.lookup.credentialScope = $1 },
        value(
            "remote",
            "The use of the tier that several machines share: for what is nobody's own (use), not at all (skip), or for private images too (share).",
            default: "use", RemoteUse.self
        ) { $0.lookup.remote = $1 },
        value(
            "delegates",
            "The questions that the client is asked about this download, instead of those named in initialize; an empty list for none.",
            DelegationNames.self
        ) { $0.network.delegates = DownloadDelegates(UndecidedDelegate.shared, questions: $1.questions) },
        value(
            "redirect", "The redirects to follow: all, those to the same scheme, host and port, or none.",
            default: "follow", RedirectMode.self
        ) { $0.network.transfer.redirect = $1 },
        integer("maxRedirects", "The largest number of redirects to follow.", default: 10, from: 0, to: 50) {
            $0.network.limits.maxRedirects = $1
        },
        integer("maxBytes", "The largest body accepted, in bytes.", default: 128 << 20, from: 1, to: 1 << 40) {
            $0.network.limits.maxBytes = $1
        },
        value("validStatusCodes", "The status codes to accept; by default 200 to 399, except 206.", StatusCodes.self) {
            $0.network.limits.validStatusCodes = $1.codes
        },
        value(
            "acceptContentTypes",
            "The media types to accept, such as image/*, if the server names one; by default only the bytes decide.",
            MediaTypes.self
        ) { $0.network.limits.acceptContentTypes = $1.types },
        value("retry", "Whether and when to try a failed download again.", RetryStrategy.self) {
            $0.network.retry = $1
        },
        number(
            "waitForConnectivity",
            "How long a failed download waits for a network when this machine has none, in seconds; then it is tried again at once.",
            default: nil, from: 0, to: 86_400
        ) { $0.network.waitForConnectivity = $1 },
        value("alternativeSources", "URLs to try in order when the first one fails.", default: [], TextList.self) {
            $0.network.alternativeSources = $1.texts
        },
        number(
            "hedgeAfter",
            "The time after which the next source is started beside one that has not answered, in seconds.",
            default: nil, from: 0, to: 86_400
        ) { $0.network.hedgeAfter = $1 },
        value(
            "integrity", "Digests, as in Subresource Integrity, one of which the bytes must have.", Integrity.self
        ) { $0.lookup.integrity = $1 },
        value("onFailureImage", "A path or URL of an image to use when everything failed.", KeyText.self) {
            $0.network.onFailureImage = $1.text
        },
    ]

    private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    static func named(_ name: String) -> OptionField? { byName[name] }
}

extension ImageOptions: WireValue {
    static var schema: JSONLiteral { .schema("ImageOptions") { definition } }

    /// The schema that ``schema`` refers to, made from the table.
    private static var definition: JSONLiteral {
        let properties = OptionField.all.map { field in
            (
                field.name,
                JSONLiteral.object([("description", .string(field.summary)), ("default", field.fallback)]).merging(
                    field.schema.orNull)
            )
        }
        return [
            "type": "object", "properties": .object(properties), "additionalProperties": false,
            "patternProperties": ["^(_|x-)": true],
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> ImageOptions { try decode(view, defaults: nil) }

    /// Reads options. Those that are left out, or `null`, are as in `defaults`.
    static func decode(_ view: JSONView, defaults: ImageOptions?) throws(Mismatch) -> ImageOptions {
        guard view.isObject else { throw .expected("an object", view) }
        var options = defaults?.fields ?? ImageOptions.Fields()
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            if isIgnored(name) { return }
            guard let field = OptionField.named(name) else {
                throw .unknown(name, among: OptionField.all.map(\.name), what: "option")
            }
            if value.isNull { return }
            do throws(Mismatch) { try field.apply(value, &options) } catch { throw error.within(name) }
        }
        if options.network.request.body != nil {
            options.network.request.method = try RequestBody.method(
                options.network.request.method, given: view.member("method"))
        }
        try settleScope(&options.lookup, view)
        // All frames are asked for, whatever the default frame is.
        if options.processing.recipe.frames != .all, view.member("onlyLoadFirstFrame")?.boolean == false,
            view.member("frame")?.isNull ?? true
        {
            options.processing.recipe.frames = .all
        }
        return ImageOptions(options)
    }

    /// Lets what the request names replace a default that means the contrary.
    private static func settleScope(_ options: inout LookupOptions, _ view: JSONView) throws(Mismatch) {
        guard options.scope != nil, options.credentialScope == .shared else { return }
        switch (view.member("scope")?.isNull ?? true, view.member("credentialScope")?.isNull ?? true) {
        case (true, false): options.scope = nil
        case (false, true): options.credentialScope = .separate
        default:
            throw Mismatch(
                path: "scope", message: "names one user, and credentialScope \"shared\" means all: give one of them")
        }
    }
}

/// `true` when a parameter or option is a client's own, and the server ignores it.
func isIgnored(_ name: String) -> Bool { name.hasPrefix("_") || name.hasPrefix("x-") }

/// Refuses an object with members that mean nothing: a misspelt one would be overlooked.
func refuseMembers(of view: JSONView, besides names: [String]) throws(Mismatch) {
    try view.forEachMember { (name, _) throws(Mismatch) in
        let name = String(decoding: name, as: UTF8.self)
        guard names.contains(name) || isIgnored(name) else { throw .unknown(name, among: names, what: "member") }
    }
}

func wholeNumber(_ view: JSONView, from low: Int, to high: Int) throws(Mismatch) -> Int {
    guard let value = view.integer, (low...high).contains(value) else {
        throw .expected("an integer from \(low) to \(high)", view)
    }
    return value
}
