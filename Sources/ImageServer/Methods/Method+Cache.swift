internal import ImageEngine
internal import JSONRPC
internal import Platform

private let hostParam = Param<String?>("host", "Only images from this host.", default: nil)
private let prefixParam = Param<String?>("prefix", "Only images whose keys begin with this.", default: nil)
private let formatParam = Param<FormatName?>("format", "Only images of this format.", default: nil)
private let minAgeParam = Param<Seconds?>(
    "minAge", "Only images stored at least that many seconds ago.", default: nil)
private let maxAgeParam = Param<Seconds?>(
    "maxAge", "Only images stored at most that many seconds ago.", default: nil)

extension ListQuery {
    fileprivate init(
        _ host: String?, _ prefix: String?, _ format: FormatName?, _ minAge: Seconds?, _ maxAge: Seconds?
    ) {
        self.init()
        (self.host, self.prefix, self.format) = (host, prefix, format?.format)
        (self.minAge, self.maxAge) = (minAge?.count, maxAge?.count)
    }

    /// `true` when every image is meant.
    fileprivate var isForAll: Bool {
        host == nil && prefix == nil && format == nil && minAge == nil && maxAge == nil
    }
}

extension Method {
    /// Methods on a whole cache.
    static let cache: [Method] = [
        clear,
        clearing("clearMemory", "Empties the memory tier of a cache.") { $0.clearMemory() },
        clearing("clearDisk", "Empties the disk tier of a cache; memory keeps its images, within its limit.") {
            try $0.clearDisk()
        },
        Method(
            "forgetFailures", "Forgets remembered failures, so that their URLs are tried again.",
            Param<KeyText?>("url", "Only those of this URL or cache key.", default: nil), cacheParam
        ) { invocation, url, cacheName -> Outcome<ForgottenReply> in
            let cache = try invocation.server.cache(cacheName)
            return .now(ForgottenReply(count: invocation.server.manager.failures.forget(url?.text, in: cache)))
        },
        Method(
            "listFailures", "Lists the remembered failures, which are repeated without asking the server.", cacheParam
        ) { invocation, cacheName -> Outcome<FailuresReply> in
            let cache = try invocation.server.cache(cacheName)
            return .now(FailuresReply(failures: invocation.server.manager.failures.list(in: cache)))
        },
        Method("stats", "Returns what the server has done since it started.") { invocation -> Outcome<StatsReply> in
            .now(StatsReply(invocation.server))
        },
        checkRemote,
    ]

    private static func clearing(
        _ name: String, _ summary: String, _ clear: @escaping @Sendable (ImageCache) throws -> DiskStorage.Removal
    ) -> Method {
        Method(name, summary, cacheParam) { invocation, cacheName -> Outcome<ClearReply> in
            let cache = try invocation.server.cache(cacheName)
            return .onDisk(RequestOrder.Access(cache: cache.name, scope: .wholeCache, kind: .change)) {
                nil
            } later: {
                ClearReply(removal: try clear(cache))
            }
        }
    }

    private static let clear = Method(
        "clear", "Removes all images of a cache, or those that match.", cacheParam, remoteParam, hostParam, prefixParam,
        formatParam, minAgeParam, maxAgeParam
    ) { invocation, cacheName, isRemote, host, prefix, format, minAge, maxAge -> Outcome<ClearReply> in
        let cache = try invocation.server.cache(cacheName)
        let access = RequestOrder.Access(cache: cache.name, scope: .wholeCache, kind: .change)
        let manager = invocation.server.manager
        let query = ListQuery(host, prefix, format, minAge, maxAge)
        return .inTwoParts(access) { call in
            // Not where long surveys run: all requests on the cache wait for this one.
            let gone = try await manager.blocking(isLong: isRemote || !query.isForAll) {
                try manager.clear(
                    cache, where: query.isForAll ? nil : query, isRemote: isRemote, isCancelled: { !call.isOpen })
            }
            return {
                guard let remote = gone.remote else { return ClearReply(removal: gone.removal) }
                return ClearReply(removal: gone.removal, remote: await manager.removeRemotely(remote))
            }
        }
    }

    private static let checkRemote = Method(
        "checkRemote", "Tries whether the remote tier can be read and written, and how far its clock is off."
    ) { invocation -> Outcome<RemoteCheckReply> in
        let manager = invocation.server.manager
        return .later { _ in RemoteCheckReply(check: await manager.checkRemote()) }
    }

    /// Methods for the maintenance of a cache: its content, its integrity and its expired images.
    static let maintenance: [Method] = [inspect, list, explain, cleanExpired, verify]

    private static let inspect = Method(
        "inspect", "Returns everything that is known about a cached image, without loading it or extending its life.",
        keyParam,
        cacheParam, Param<ProcessorList?>("processors", "The processing steps of the image.", default: nil, []),
        Param(options: "The other options with which the image was made: cacheSerializer and the like.")
    ) { invocation, given, cacheName, processors, options -> Outcome<EntryReply> in
        let cache = try invocation.server.cache(cacheName)
        let key = KeyText(text: cache.key(of: given.text))
        let made = try processors.entry(key, options, invocation.server.manager)
        let access = RequestOrder.Access(cache: cache.name, scope: .key(ExactText(key.text)), kind: .look)
        return .onDisk(access) {
            nil
        } later: {
            guard let entry = try cache.inspect(made.isAnyones ? cache.anyones(made.key) : made.key) else {
                throw ImageError.notCached(key: key.text).rpcError(key: key.text)
            }
            return EntryReply(entry: entry)
        }
    }

    private static let list = Method(
        "list", "Lists the images on disk, page by page, in an order that does not change when they are used.",
        cacheParam,
        Param<PageSize>("limit", "Entries a page, 1 to 1000.", default: PageSize(count: 100), 100),
        Param<Cursor>(
            "cursor", "The cursor of the page before; the first page when left out.", default: Cursor(number: 0), nil),
        hostParam, prefixParam, formatParam, minAgeParam, maxAgeParam
    ) { invocation, cacheName, limit, cursor, host, prefix, format, minAge, maxAge -> Outcome<ListReply> in
        let cache = try invocation.server.cache(cacheName)
        let manager = invocation.server.manager
        var query = ListQuery(host, prefix, format, minAge, maxAge)
        (query.limit, query.cursor) = (limit.count, cursor.number)
        return surveying(cache) { [query] call in
            try await call.waitForRoom()
            return try await manager.surveying {
                let page = try cache.list(query)
                return ListReply(entries: page.entries.map { EntryReply(entry: $0) }, next: page.next)
            }
        }
    }

    private static let explain = Method(
        "explain", "Returns what retrieve would do now and why; nothing is loaded, extended or asked.",
        anyOf: ["url", "key"], imageURLParam, imageKeyParam, cacheParam,
        Param<ProcessorList?>("processors", "The processing steps.", default: nil, []),
        Param(options: "The options of the request.")
    ) { invocation, url, key, cacheName, processors, given -> Outcome<ExplainReply> in
        let server = invocation.server
        let cache = try server.cache(cacheName)
        var wanted = try processors.options(given)
        let resource = try Resource(url, key, in: cache, &wanted)
        let options = server.addingClientDelegate(to: wanted) ?? ImageOptions()
        let access = RequestOrder.Access(cache: cache.name, scope: .key(ExactText(resource.cacheKey)), kind: .look)
        return .onDisk(access) {
            nil
        } later: {
            ExplainReply(
                explanation: try server.manager.explain(resource, in: cache, options: options), cache: cache.name)
        }
    }

    private static let cleanExpired = Method(
        "cleanExpired", "Removes every expired image. A leased path stays valid until its lease ends.", cacheParam
    ) { invocation, cacheName -> Outcome<CleanReply> in
        let cache = try invocation.server.cache(cacheName)
        let manager = invocation.server.manager
        return surveying(cache) { call in
            try await manager.surveying { CleanReply(report: try cache.removeExpired { !call.isOpen }) }
        }
    }

    private static let verify = Method(
        "verify",
        "Reads every image of a cache, compares it with the index and repairs what is wrong; other requests continue meanwhile.",
        cacheParam,
        Param<Bool>("repair", "Put right what is wrong; otherwise it is only counted.", default: true, true)
    ) { invocation, cacheName, repairs -> Outcome<VerifyReply> in
        let cache = try invocation.server.cache(cacheName)
        let manager = invocation.server.manager
        let tokens = invocation.progress
        return surveying(cache) { call in
            let reporter = tokens.map { ProgressReporter<DownloadProgress>(call: call, tokens: $0) }
            reporter?.begin(title: "verify", message: cache.name, .start)
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

    /// Work on all images of a cache, after the requests before it.
    private static func surveying<Value: WireResult>(
        _ cache: ImageCache, _ work: @escaping @Sendable (Call) async throws -> Value
    ) -> Outcome<Value> {
        .ordered(RequestOrder.Access(cache: cache.name, scope: .survey, kind: .look), .task(work))
    }
}
