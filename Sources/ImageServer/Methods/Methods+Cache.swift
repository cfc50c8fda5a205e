internal import ImageEngine
internal import JSONRPC

private let cacheParam = Param<String?>("cache", "The name of the cache.", default: nil, "default")

extension Method {
    /// Methods on a whole cache.
    static let cache: [Method] = [
        clearing("clear", "Empties a cache: memory and disk.") { try $0.clear() },
        clearing("clearMemory", "Empties the memory tier of a cache.") { $0.clearMemory() },
        clearing("clearDisk", "Empties the disk tier of a cache; memory keeps its images as far as its limit goes.") {
            try $0.clearDisk()
        },
        Method(
            "forgetFailures", "Forgets failures that are remembered, so that they are asked for again.",
            Param<KeyText?>("url", "Only those of this URL or cache key.", default: nil), cacheParam
        ) { invocation, url, cacheName -> Outcome<ForgottenReply> in
            let cache = try invocation.server.cache(cacheName)
            return .now(ForgottenReply(count: invocation.server.manager.failures.forget(url?.text, in: cache)))
        },
        Method(
            "listFailures", "Lists the failures that are remembered, and repeated without asking.", cacheParam
        ) { invocation, cacheName -> Outcome<FailuresReply> in
            let cache = try invocation.server.cache(cacheName)
            return .now(FailuresReply(failures: invocation.server.manager.failures.list(in: cache)))
        },
        Method("stats", "Tells what the server has done since it started.") { invocation -> Outcome<StatsReply> in
            let server = invocation.server
            return .now(
                StatsReply(
                    statistics: server.manager.statistics, requestsInFlight: server.requestsInFlight,
                    uptime: server.uptime, latencies: server.latencies.recorded))
        },
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
}
