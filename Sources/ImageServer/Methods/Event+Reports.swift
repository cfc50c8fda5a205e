internal import ImageEngine
internal import JSONRPC
internal import Platform

extension Event {
    /// The event of an ended transfer.
    static let didFinish = Event(
        name: "download/didFinish",
        summary: "A transfer has succeeded or failed: one event each, however many requests shared it.",
        params: DownloadReport.schema)

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
            notify(Event.didFinish.name) { download.write(to: &$0) }
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
