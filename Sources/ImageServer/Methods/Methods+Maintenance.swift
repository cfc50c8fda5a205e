internal import ImageEngine
internal import JSONRPC
internal import Platform

private let keyParam = Param<KeyText>("key", "The cache key: any text.")
private let cacheParam = Param<String?>("cache", "The name of the cache.", default: nil, "default")

extension Method {
    /// Methods for the maintenance of a cache: its content, its integrity and its expired images.
    static let maintenance: [Method] = [inspect, list, explain, cleanExpired, verify]

    private static let inspect = Method(
        "inspect", "Tells everything that is known of a cached image, without loading or prolonging it.", keyParam,
        cacheParam, Param<ProcessorList?>("processors", "What was done to the original.", default: nil, []),
        Param<ImageOptions?>(
            "options", "What else was said when the image was made: cacheSerializer and the like.", default: nil)
    ) { invocation, given, cacheName, processors, options -> Outcome<EntryReply> in
        let cache = try invocation.server.cache(cacheName)
        let key = KeyText(text: cache.key(of: given.text))
        let made = try processors.cacheKey(key, options)
        let access = RequestOrder.Access(cache: cache.name, scope: .key(ExactText(key.text)), kind: .look)
        return .onDisk(access) {
            nil
        } later: {
            guard let entry = try cache.inspect(made) else {
                throw ImageError.notCached(key: key.text).rpcError(key: key.text)
            }
            return EntryReply(entry: entry)
        }
    }

    private static let list = Method(
        "list", "Lists what the disk tier of a cache holds, page by page, in an order that no use changes.",
        cacheParam,
        Param<PageSize>("limit", "Entries a page, 1 to 1000.", default: PageSize(count: 100), 100),
        Param<Cursor>(
            "cursor", "What the page before came with; the first page when left out.", default: Cursor(number: 0), nil),
        Param<String?>("host", "Only images from this host.", default: nil),
        Param<String?>("prefix", "Only images whose keys begin so.", default: nil),
        Param<FormatName?>("format", "Only images of this format.", default: nil),
        Param<Seconds?>("minAge", "Only images stored at least so many seconds ago.", default: nil),
        Param<Seconds?>("maxAge", "Only images stored at most so many seconds ago.", default: nil)
    ) { invocation, cacheName, limit, cursor, host, prefix, format, minAge, maxAge -> Outcome<ListReply> in
        let cache = try invocation.server.cache(cacheName)
        let manager = invocation.server.manager
        var query = ListQuery()
        query.limit = limit.count
        query.cursor = cursor.number
        query.host = host
        query.prefix = prefix
        query.format = format?.format
        query.minAge = minAge?.count
        query.maxAge = maxAge?.count
        return .ordered(RequestOrder.Access(cache: cache.name, scope: .survey, kind: .look)) {
            nil
        } later: { [query] _ in
            .task { _ in
                try await manager.surveying {
                    let page = try cache.list(query)
                    return ListReply(entries: page.entries.map { EntryReply(entry: $0) }, next: page.next)
                }
            }
        }
    }

    private static let explain = Method(
        "explain", "Tells what retrieve would do now and why; nothing is loaded, prolonged or asked.",
        Param<URLText>("url", "Where the image is: an http, https, file or data URL."),
        Param<KeyText?>("key", "The cache key; the URL as given when left out.", default: nil), cacheParam,
        Param<ProcessorList?>("processors", "What is done to the original.", default: nil, []),
        Param<ImageOptions?>("options", "The options of the request.", default: nil)
    ) { invocation, url, key, cacheName, processors, given -> Outcome<ExplainReply> in
        let server = invocation.server
        let cache = try server.cache(cacheName)
        let resource = cache.resource(url.text, key: key?.text)
        let options = server.addingClientDelegate(to: try processors.options(given)) ?? ImageOptions()
        let access = RequestOrder.Access(cache: cache.name, scope: .key(ExactText(resource.cacheKey)), kind: .look)
        return .onDisk(access) {
            nil
        } later: {
            ExplainReply(
                explanation: try server.manager.explain(resource, in: cache, options: options), cache: cache.name)
        }
    }

    private static let cleanExpired = Method(
        "cleanExpired", "Removes every image whose time is over. A path that is lent out stays valid.", cacheParam
    ) { invocation, cacheName -> Outcome<CleanReply> in
        let cache = try invocation.server.cache(cacheName)
        let manager = invocation.server.manager
        return .ordered(RequestOrder.Access(cache: cache.name, scope: .survey, kind: .look)) {
            nil
        } later: { _ in
            .task { call in
                try await manager.surveying { CleanReply(report: try cache.removeExpired { !call.isOpen }) }
            }
        }
    }

    private static let verify = Method(
        "verify",
        "Reads every image of a cache through, holds it against the index, and puts right what is wrong; others go on.",
        cacheParam,
        Param<Bool>("repair", "Put right what is wrong; otherwise it is only counted.", default: true, true)
    ) { invocation, cacheName, repairs -> Outcome<VerifyReply> in
        let cache = try invocation.server.cache(cacheName)
        let manager = invocation.server.manager
        let tokens = invocation.progress
        return .ordered(RequestOrder.Access(cache: cache.name, scope: .survey, kind: .look)) {
            nil
        } later: { _ in
            .task { call in
                let reporter = tokens.map { ProgressReporter(call: call, tokens: $0) }
                reporter?.begin(title: "verify", message: cache.name)
                return try await manager.surveying {
                    VerifyReply(
                        found: try cache.verify(
                            repairs: repairs,
                            report: { done, total in
                                reporter?.report(DownloadProgress(received: done, total: total))
                            }, isCancelled: { !call.isOpen }))
                }
            }
        }
    }
}

/// The number of entries in a page.
struct PageSize: WireValue {
    let count: Int

    static var schema: JSONLiteral { ["type": "integer", "minimum": 1, "maximum": 1000] }

    static func decode(_ view: JSONView) throws(Mismatch) -> PageSize {
        PageSize(count: try wholeNumber(view, from: 1, to: 1000))
    }
}

/// The start of a page: a text that only `list` itself creates.
struct Cursor: WireValue {
    let number: Int64

    static var schema: JSONLiteral { ["type": ["string", "null"]] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Cursor {
        guard let text = view.string, let number = Int64(text), number >= 0 else {
            throw .text("a cursor that list returned", view)
        }
        return Cursor(number: number)
    }
}

/// The name of an image format.
struct FormatName: WireValue {
    let format: ImageFormat

    static var schema: JSONLiteral {
        ["type": "string", "enum": .array(ImageFormat.allCases.map { .string($0.rawValue) })]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> FormatName {
        if let format = view.string.flatMap(ImageFormat.init(rawValue:)) { return FormatName(format: format) }
        throw .noneOf(ImageFormat.allCases.map(\.rawValue), view)
    }
}

/// A duration in seconds that is not negative.
struct Seconds: WireValue {
    let count: Double

    static var schema: JSONLiteral { ["type": "number", "minimum": 0] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Seconds {
        guard let count = view.number, count >= 0 else { throw .expected("a number of seconds, 0 or more", view) }
        return Seconds(count: count)
    }
}
