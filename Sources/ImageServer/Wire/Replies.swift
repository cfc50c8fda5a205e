internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import RemoteStorage

/// The result of `remove`.
struct RemoveReply: WireObject {
    let removed: ImageCache.Removed
    var remote: RemoteRemoval?

    static let name = "RemoveResult"

    static let fields: [WireField<RemoveReply>] = [
        WireField("removed", "Whether anything was removed.", flagSchema) {
            $1.field("removed", $0.removed.memory || $0.removed.disk)
        },
        .flag("memory", "Whether something was removed from memory.") { $0.removed.memory },
        .flag("disk", "Whether something was removed from disk.") { $0.removed.disk },
        .flag("leased", "Whether a path was removed before its lease ended.") { $0.removed.leased },
        WireField(
            "readOnlyPath",
            "The file of a read-only folder that still answers for the key; left out for none.",
            textSchema, isOptional: true
        ) { if let path = $0.removed.readOnlyPath { $1.field("readOnlyPath", path) } },
        .remote { $0.remote },
    ]
}

/// The result of `isCached`.
struct IsCachedReply: WireObject {
    let cacheType: CacheType

    static let name = "IsCachedResult"

    static let fields: [WireField<IsCachedReply>] = [
        WireField("cached", "Whether a tier has the image.", flagSchema) { $1.field("cached", $0.cacheType != .none) },
        WireField(
            "cacheType", "The first tier of this machine that has it; none for no tier.",
            ["type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) })]
        ) { $1.field("cacheType", $0.cacheType.rawValue) },
    ]
}

/// The result of `cachePath`.
struct CachePathReply: WireObject {
    let path: String
    let exists: Bool
    let isLent: Bool

    static let name = "CachePathResult"

    static let fields: [WireField<CachePathReply>] = [
        .text("path", "Where the image is, or would be.") { $0.path },
        WireField("uri", "The same as a URL.", textSchema) {
            $1.key("uri")
            $1.write(FileURL.text($0.path))
        },
        .flag("exists", "Whether the image is there.") { $0.exists },
        WireField("leased", notLent, flagSchema, isOptional: true, isVolatile: true) {
            if $0.exists, !$0.isLent { $1.field("leased", false) }
        },
    ]
}

/// What the member `leased` of a result with a path says.
let notLent = "False when the path could not be leased, because leases already use half of the size limit."

/// The sizes of a cache.
struct SizeReply: WireObject {
    let sizes: CacheSizes

    static let name = "SizeResult"

    private static let tier: JSONLiteral = .object(
        ofAll: [("count", countSchema)] + RenamedMember.byteCount.properties(countSchema)
            + RenamedMember.bytesLimit.properties(countSchema),
        ofSome: [("allocatedBytes", countSchema), ("leasedBytes", countSchema)])

    static let fields: [WireField<SizeReply>] = [
        WireField(
            "disk",
            "The disk tier: entries, bytes, bytes in whole blocks, the limit (0 for none), and the bytes of removed files that wait for their leases to end.",
            tier
        ) {
            let tier = $0.sizes.disk
            $1.key("disk")
            $1.object { writer in
                writer.field("count", tier.count)
                writer.field(.byteCount, tier.bytes)
                writer.field("allocatedBytes", tier.allocatedBytes)
                writer.field(.bytesLimit, tier.limitBytes)
                writer.field("leasedBytes", tier.leasedBytes)
            }
        },
        WireField("memory", "Entries, bytes and the limit of the memory tier.", tier) {
            let tier = $0.sizes.memory
            $1.key("memory")
            $1.object { writer in
                writer.field("count", tier.count)
                writer.field(.byteCount, tier.bytes)
                writer.field(.bytesLimit, tier.limitBytes)
            }
        },
    ]
}

/// The result of `clear`, `clearMemory` and `clearDisk`.
struct ClearReply: WireObject {
    let removal: DiskStorage.Removal
    var remote: RemoteRemoval?

    static let name = "ClearResult"

    static let fields: [WireField<ClearReply>] = [
        .count("count", "Entries removed.") { $0.removal.count },
        .count(.byteCount, "Bytes freed.") { $0.removal.bytes },
        .count("leased", "About how many paths were removed before their leases ended.") { $0.removal.leased },
        .remote { $0.remote },
    ]
}

extension WireField {
    /// What was removed from the remote tier.
    fileprivate static func remote(_ removal: @escaping @Sendable (borrowing Root) -> RemoteRemoval?) -> WireField {
        WireField(
            "remote",
            "The objects that the remote tier was told to remove, and why some are still there; left out unless remote was given.",
            .object(ofAll: [("count", countSchema), ("problem", textOrNullSchema)]), isOptional: true
        ) { reply, writer in
            guard let removal = removal(reply) else { return }
            writer.key("remote")
            writer.object { writer in
                writer.field("count", removal.count)
                writer.field("problem", removal.problem)
            }
        }
    }
}

/// The counters since the server started.
struct StatsReply: WireObject {
    let statistics: EngineStatistics
    let requestsInFlight: Int
    let output: OutputBudget.Usage
    let uptime: Double
    let latencies: [(method: Int, histogram: LatencyHistogram)]

    init(_ server: ImageServer) {
        (statistics, requestsInFlight) = (server.manager.statistics, server.requestsInFlight)
        (output, uptime, latencies) = (server.output, server.uptime, server.latencies.recorded)
    }

    static let name = "StatsResult"

    static let fields: [WireField<StatsReply>] = [
        .count("memoryHits", "Images answered from memory.", \.statistics.memoryHits),
        .count("diskHits", "Images answered from disk.", \.statistics.diskHits),
        .count("misses", "Images that were in no cache.", \.statistics.misses),
        .count("merged", "Requests that joined running work.", \.statistics.merged),
        .count("downloads", "Downloads that ended well.", \.statistics.downloads),
        .count(
            "sharedDownloads", "Images that this process waited for while another one downloaded them.",
            \.statistics.sharedDownloads),
        .count("failedDownloads", "Downloads that failed or were cancelled.", \.statistics.failedDownloads),
        .count("downloadedBytes", "Bytes of bodies received.", \.statistics.downloadedBytes),
        .count("runningDownloads", "Downloads that are running.", \.statistics.runningDownloads),
        .count(
            "stalledDownloads", "Running downloads whose servers have sent nothing for a second.",
            \.statistics.stalledDownloads),
        .count(
            "waitingDownloads", "Downloads waiting for their turn, or for another process that downloads the same.",
            \.statistics.waitingDownloads),
        .count("evictions", "Images evicted from disk to stay within its limit.", \.statistics.evictions),
        .count(
            "damagedFiles", "Images removed because another program had changed their files.",
            \.statistics.damagedFiles),
        .count(
            "rememberedFailures", "Remembered failures, which are repeated without asking the server.",
            \.statistics.rememberedFailures),
        WireField(
            "notStored",
            "Loaded images that should have been kept but no tier keeps, by reason; including those that nobody waited for, and originals of processed images.",
            ["type": "object", "additionalProperties": countSchema]
        ) {
            let counts = $0.statistics.notStored
            $1.key("notStored")
            $1.object { writer in
                for reason in NotStoredReason.allCases {
                    guard let count = counts[reason] else { continue }
                    writer.key(reason.rawValue)
                    writer.write(count)
                }
            }
        },
        WireField(
            "remote", "The remote tier; left out when there is none.", RemoteCounts.schema, isOptional: true
        ) {
            guard let remote = $0.statistics.remote else { return }
            $1.key("remote")
            remote.write(&$1)
        },
        .count("requestsInFlight", "Requests that have not been answered yet.") { $0.requestsInFlight },
        WireField(
            "output",
            "Output that the client has not read yet: the bytes held, their limit (outputLimit), and how often requests had to wait for the client to read.",
            .object(
                ofAll: [("heldBytes", countSchema)] + RenamedMember.bytesLimit.properties(countSchema)
                    + [("waits", countSchema)])
        ) {
            let output = $0.output
            $1.key("output")
            $1.object { writer in
                writer.field("heldBytes", output.held)
                writer.field(.bytesLimit, output.limit)
                writer.field("waits", output.waits)
            }
        },
        WireField("uptimeSeconds", "Seconds since the server started.", secondsSchema) {
            $1.key("uptimeSeconds")
            $1.write($0.uptime)
        },
        WireField(
            "latency", "The time from reading to answering requests, by method.",
            ["type": "object", "additionalProperties": LatencyReply.schema]
        ) { reply, writer in
            writer.key("latency")
            writer.object { writer in
                for (method, histogram) in reply.latencies {
                    writer.key(Method.all[method].name)
                    LatencyReply(histogram: histogram).write(to: &writer)
                }
            }
        },
    ]
}
