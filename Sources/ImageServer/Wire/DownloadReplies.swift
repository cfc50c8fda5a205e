internal import ImageEngine
internal import JSONRPC
internal import Platform

/// An image that was downloaded without being cached.
struct DownloadReply: WireObject {
    let reply: ImageReply

    static let name = "DownloadResult"

    private static let names = [
        "format", "mimeType", "width", "height", "frameCount", "frameSeconds", "loopCount", "byteCount", "data",
        "url", "etag", "lastModified", "downloadReport",
    ]

    static let fields: [WireField<DownloadReply>] = ImageReply.fields.filter {
        names.contains($0.name.description)
    }.map { field in field.within { $0.reply } }
}

/// The content of a reply to `download`: the bytes, or none.
enum DownloadForm: String, CaseIterable, WireValue {
    case data, none

    static var schema: JSONLiteral { ["type": "string", "enum": .array(allCases.map { .string($0.rawValue) })] }

    static func decode(_ view: JSONView) throws(Mismatch) -> DownloadForm {
        guard let form = view.string.flatMap(DownloadForm.init(rawValue:)) else {
            throw .noneOf(allCases.map(\.rawValue), view, wanted: "\"data\" or \"none\"")
        }
        return form
    }
}

/// The result of a prefetch.
struct PrefetchReply: WireObject {
    let report: ImagePrefetcher.Report

    static let name = "PrefetchResult"

    private static let texts: JSONLiteral = ["type": "array", "items": textSchema]

    static let fields: [WireField<PrefetchReply>] = [
        WireField("completed", "URLs that were loaded.", texts) {
            let urls = $0.report.completed
            $1.key("completed")
            $1.array { writer in urls.forEach { writer.write($0) } }
        },
        WireField("skipped", "URLs whose images were already cached.", texts) {
            let urls = $0.report.skipped
            $1.key("skipped")
            $1.array { writer in urls.forEach { writer.write($0) } }
        },
        WireField(
            "failed", "URLs that failed or were stopped, with their errors.",
            [
                "type": "array",
                "items": [
                    "type": "object", "properties": ["url": textSchema, "error": ["type": "object"]],
                    "required": ["url", "error"],
                ],
            ]
        ) {
            let failures = $0.report.failed
            $1.key("failed")
            $1.array { writer in
                for failure in failures {
                    writer.object { writer in
                        writer.field("url", failure.url)
                        writer.key("error")
                        rpcError(failure.error).write(to: &writer)
                    }
                }
            }
        },
        WireField(
            "notStored", "URLs that were loaded but that no tier keeps, with the reason; left out when empty.",
            [
                "type": "array",
                "items": [
                    "type": "object", "properties": ["url": textSchema, "stored": NotStoredReason.schema],
                    "required": ["url", "stored"],
                ],
            ], isOptional: true
        ) {
            let dropped = $0.report.notStored
            if dropped.isEmpty { return }
            $1.key("notStored")
            $1.array { writer in
                for (url, reason) in dropped {
                    writer.object { writer in
                        writer.field("url", url)
                        writer.field("stored", reason.rawValue)
                    }
                }
            }
        },
    ]
}

/// The reply to `stopPrefetch`: whether the prefetch was running.
struct StoppedReply: WireObject {
    let isStopped: Bool

    static let name = "StopResult"

    static let fields: [WireField<StoppedReply>] = [
        .flag("stopped", "Whether that prefetch was running.") { $0.isStopped }
    ]
}

/// The reply to `setPriority`: whether the request was running.
struct ChangedReply: WireObject {
    let isChanged: Bool

    static let name = "PriorityResult"

    static let fields: [WireField<ChangedReply>] = [
        .flag("changed", "Whether that request was running.") { $0.isChanged }
    ]
}

/// The number of cancelled requests.
struct CancelledReply: WireObject {
    let count: Int

    static let name = "CancelResult"

    static let fields: [WireField<CancelledReply>] = [
        .count("cancelled", "How many requests were cancelled.") { $0.count }
    ]
}

/// The number of forgotten failures.
struct ForgottenReply: WireObject {
    let count: Int

    static let name = "ForgetResult"

    static let fields: [WireField<ForgottenReply>] = [
        .count("forgotten", "How many failures were forgotten.") { $0.count }
    ]
}

/// The id of another request.
struct RequestIDValue: WireValue {
    let id: RequestID

    static var schema: JSONLiteral { ["type": ["string", "integer"]] }

    static func decode(_ view: JSONView) throws(Mismatch) -> RequestIDValue {
        if let text = view.string { return RequestIDValue(id: .string(text)) }
        if let number = view.integer { return RequestIDValue(id: .integer(number)) }
        throw .expected("a string or an integer", view)
    }
}

/// A priority from 0 to 1, or one of five names.
struct Priority: WireValue {
    let value: Double

    /// The names with their values, as in Nuke.
    static let names: [(name: String, value: Double)] = [
        ("veryLow", 0), ("low", 0.25), ("normal", 0.5), ("high", 0.75), ("veryHigh", 1),
    ]

    static var schema: JSONLiteral {
        [
            "oneOf": [
                ["type": "number", "minimum": 0, "maximum": 1],
                ["type": "string", "enum": .array(names.map { .string($0.name) })],
            ]
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> Priority {
        if let value = view.number, (0...1).contains(value) { return Priority(value: value) }
        if let name = view.string, let value = names.first(where: { $0.name == name })?.value {
            return Priority(value: value)
        }
        throw .noneOf(
            names.map(\.name), view, wanted: "a number from 0 to 1, or veryLow, low, normal, high or veryHigh")
    }
}

/// The set of paused downloads.
extension ImageDownloader.Pause: NamedValue {}

/// The set of downloads to pause; unlike ``ImageDownloader/Pause``, it is never empty.
enum Pausable: String, NamedValue {
    case all, prefetch

    var pause: ImageDownloader.Pause { self == .all ? .all : .prefetch }
}

/// The paused downloads, as a reply.
struct PauseReply: WireObject {
    let pause: ImageDownloader.Pause
    let running: Int
    let waiting: Int

    static let name = "PauseResult"

    static let fields: [WireField<PauseReply>] = [
        WireField("paused", "The downloads that are held back.", ImageDownloader.Pause.schema) {
            $1.field("paused", $0.pause.rawValue)
        },
        .count("running", "How many downloads are running, and continue.") { $0.running },
        .count("waiting", "How many downloads wait for their turn.") { $0.waiting },
    ]
}

/// The failures that are remembered.
struct FailuresReply: WireObject {
    let failures: [RememberedFailure]

    static let name = "FailuresResult"

    static let fields: [WireField<FailuresReply>] = [
        WireField(
            "failures",
            "The failures, oldest first: URL, cache key, error, and for how many more seconds it is remembered.",
            [
                "type": "array",
                "items": [
                    "type": "object",
                    "properties": [
                        "url": textSchema, "key": textSchema, "error": ["type": "object"],
                        "seconds": ["type": "number", "minimum": 0],
                    ],
                    "required": ["url", "key", "error", "seconds"],
                ],
            ]
        ) {
            let failures = $0.failures
            $1.key("failures")
            $1.array { writer in
                for failure in failures {
                    writer.object { writer in
                        writer.field("url", failure.url)
                        writer.field("key", failure.key)
                        writer.key("error")
                        failure.error.rpcError().write(to: &writer)
                        writer.key("seconds")
                        writer.write(failure.seconds)
                    }
                }
            }
        }
    ]
}

/// The answer that a request would get, with the reasons.
struct ExplainReply: WireObject {
    let explanation: Explanation
    let cache: String

    static let name = "ExplainResult"

    static let fields: [WireField<ExplainReply>] = [
        .text("key", "The key under which the image is kept.") { $0.explanation.key },
        .text("cache", "The name of the cache.") { $0.cache },
        .text("hash", "The hash that names the file.") { $0.hash },
        .text("path", "Where the image is on disk, or would be.") { $0.explanation.path },
        WireField("cacheType", "The tier where the image is and has not expired; or none.", cacheTypeSchema) {
            $1.field("cacheType", $0.explanation.cacheType.rawValue)
        },
        .date("storedAt", "When the image was stored.") { $0.explanation.storedAt },
        .date("expiresAt", "When the image expires on disk; null for never, and when nothing is stored.") {
            $0.explanation.expiresAt
        },
        WireField(
            "stale", "Whether the stored image is staler than the request accepts; null when nothing is stored.",
            ["type": ["boolean", "null"]]
        ) {
            $1.key("stale")
            if let isStale = $0.explanation.isStale { $1.write(isStale) } else { $1.writeNull() }
        },
        WireField("verdict", "What retrieve would do.", Explanation.Verdict.schema) {
            $1.field("verdict", $0.explanation.verdict.rawValue)
        },
        .flag("network", "Whether the network would be used.") { $0.explanation.usesNetwork },
        .textOrNull("url", "The URL that would be requested first; null for none.") { $0.explanation.url },
        WireField("reasons", "The reasons, as sentences for people.", ["type": "array", "items": textSchema]) {
            let reasons = $0.explanation.reasons
            $1.key("reasons")
            $1.array { writer in reasons.forEach { writer.write($0) } }
        },
        WireField(
            "error", "The error it would fail with, as far as that is known; null for none.",
            ["type": ["object", "null"]]
        ) {
            $1.key("error")
            if let error = $0.explanation.error {
                error.rpcError(key: $0.explanation.key).write(to: &$1)
            } else {
                $1.writeNull()
            }
        },
    ]

    private static let cacheTypeSchema: JSONLiteral = [
        "type": "string", "enum": .array(CacheType.allCases.map { .string($0.rawValue) }),
    ]

    private var hash: String {
        let name = explanation.path.split(separator: "/").last ?? ""
        return String(name.prefix { $0 != "." })
    }
}

extension Explanation.Verdict: NamedValue {}

/// The number of concurrent downloads of a prefetch.
struct Concurrency: WireValue {
    let count: Int

    static var schema: JSONLiteral { ["type": "integer", "minimum": 1, "maximum": 64] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Concurrency {
        Concurrency(count: try wholeNumber(view, from: 1, to: 64))
    }
}
