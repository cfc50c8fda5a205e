internal import ImageEngine
internal import JSONRPC
internal import Platform

extension Event {
    /// The event of an ended transfer.
    static let didFinish = Event(
        name: "download/didFinish",
        summary: "A transfer has succeeded or failed: one event each, however many requests shared it.",
        params: .object(ofAll: transfer))

    private static let transfer: [(String, JSONLiteral)] =
        [("url", textSchema)] + RenamedMember.finalUrl.properties(textSchema)
        + RenamedMember.statusCode.properties(["type": ["integer", "null"]])
        + RenamedMember.byteCount.properties(countSchema) + [
            ("resumedBytes", countSchema), ("seconds", secondsSchema),
            (
                "timings",
                .object(ofAll: [
                    ("dns", secondsSchema), ("connect", secondsSchema), ("tls", secondsSchema),
                    ("firstByte", ["type": ["number", "null"], "minimum": 0]),
                ])
            ),
            ("reused", flagSchema), ("redirects", countSchema), ("httpVersion", textOrNullSchema),
            ("fromRevalidation", flagSchema), ("error", textOrNullSchema),
        ]

    /// The event of a line in the log.
    static let log = Event(
        name: "log",
        summary: "A line of the log, of the level that is logged or above; at most 100 in a second.",
        params: [
            "type": "object",
            "properties": [
                "level": textSchema, "message": textSchema,
                "metadata": ["type": "object", "additionalProperties": textSchema], "omitted": countSchema,
            ],
            "required": ["level", "message", "metadata"],
        ])
}

extension ImageServer {
    /// Sends the client the report of a transfer, if it is subscribed.
    func report(_ download: DownloadReport) {
        subscriptions.send(.didFinish) {
            notify(Event.didFinish.name) { writer in
                writer.object { params in
                    params.field("url", download.url)
                    params.field(.finalUrl, download.finalURL)
                    params.field(.statusCode, download.status)
                    params.field(.byteCount, download.bytes)
                    params.field("resumedBytes", download.resumedBytes)
                    params.field("seconds", seconds: download.seconds)
                    params.key("timings")
                    params.object { timings in
                        timings.field("dns", seconds: download.dns)
                        timings.field("connect", seconds: download.connect)
                        timings.field("tls", seconds: download.tls)
                        timings.field("firstByte", seconds: download.firstByte)
                    }
                    params.field("reused", download.isReused)
                    params.field("redirects", download.redirects)
                    params.field("httpVersion", download.httpVersion)
                    params.field("fromRevalidation", download.fromRevalidation)
                    params.field("error", download.errorName)
                }
            }
        }
    }

    /// Sends the client a line of the log, if it is subscribed.
    public func report(level: String, message: String, metadata: [(name: String, value: String)]) {
        subscriptions.send(.log) {
            guard let omitted = logThrottle.withLock({ $0.admit(now: monotonicNanoseconds()) }) else { return }
            notify(Event.log.name) { writer in
                writer.object { params in
                    params.field("level", level)
                    params.field("message", message)
                    params.key("metadata")
                    params.object { writer in
                        for (name, value) in metadata {
                            writer.key(name)
                            writer.write(value)
                        }
                    }
                    if omitted > 0 { params.field("omitted", omitted) }
                }
            }
        }
    }
}

extension JSONWriter {
    /// Writes a member with a duration, to the microsecond.
    fileprivate mutating func field(_ name: StaticString, seconds: Double?) {
        key(name)
        if let seconds { write((seconds * 1e6).rounded() / 1e6) } else { writeNull() }
    }
}
