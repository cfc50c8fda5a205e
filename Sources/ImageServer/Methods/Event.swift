internal import ImageEngine
internal import JSONRPC
internal import RemoteStorage
internal import Synchronization

/// A notification without a request, which a client may subscribe to.
///
/// `subscribe`, the capabilities and `rpc.discover` all read ``Event/all``.
struct Event: Sendable {
    /// The method of the notification.
    let name: StaticString
    let summary: String
    /// The schema of the notification's params.
    let params: JSONLiteral

    static let all: [Event] = [didClean, didChange, activity, didFinish, remote, log]
    static let names = all.map(\.name.description)

    /// The event of images that were removed because they expired or were evicted.
    static let didClean = Event(
        name: "cache/didClean",
        summary:
            "Images left a disk tier because they had expired or space was needed; not sent for remove or clear.",
        params: [
            "type": "object",
            "properties": [
                "cache": textSchema, "hashes": ["type": "array", "items": textSchema],
                "keys": ["type": "array", "items": textOrNullSchema],
                "reason": [
                    "type": "string",
                    "enum": .array(CleaningReport.Reason.allCases.map { .string($0.rawValue) }),
                ],
            ],
            "required": ["cache", "hashes", "keys", "reason"],
        ])

    /// The event of a change of the activity indicator.
    static let activity = Event(
        name: "activity/didChange",
        summary: "Downloads have been running for a while, or have stopped: for an activity indicator.",
        params: [
            "type": "object", "properties": ["active": flagSchema, "count": countSchema],
            "required": ["active", "count"],
        ])

    /// The event of an image that a background refresh replaced.
    static let didChange = Event(
        name: "image/didChange",
        summary: "An image was answered although it was stale (stale-while-revalidate), and has been replaced since.",
        params: [
            "type": "object",
            "properties": ["cache": textSchema, "key": textSchema, "url": textSchema, "path": textOrNullSchema],
            "required": ["cache", "key", "url", "path"],
        ])

    /// The event of a change of the remote tier's breaker.
    static let remote = Event(
        name: "remote/didChange",
        summary:
            "The remote tier is left out because it failed (open), is tried again (half-open), or is used again (closed).",
        params: [
            "type": "object",
            "properties": [
                "breaker": RemoteCounts.breakerSchema, "reason": textOrNullSchema,
            ],
            "required": ["breaker", "reason"],
        ])

    /// The name that clients test for: `event.cache.didClean`.
    var capability: String { "event." + name.description.split(separator: "/").joined(separator: ".") }
}

/// The events that the client is subscribed to.
final class Subscriptions: Sendable {
    private let wanted = Mutex<Set<String>>([])

    /// `true` while this thread or task sends an event: events that the send itself causes, such as a line of the log,
    /// are dropped.
    @TaskLocal private static var isSending = false

    /// The subscribed events, in the order of the table.
    var names: [String] { wanted.withLock { wanted in Event.names.filter(wanted.contains) } }

    func add(_ events: [String]) { wanted.withLock { $0.formUnion(events) } }

    func remove(_ events: [String]) { wanted.withLock { $0.subtract(events) } }

    func removeAll() { wanted.withLock { $0 = [] } }

    /// Calls `send` if the client is subscribed to the event. ``remove(_:)`` waits for that, so that no event follows
    /// its reply.
    func send(_ event: Event, _ send: () -> Void) {
        if Self.isSending { return }
        wanted.withLock { wanted in
            if wanted.contains(event.name.description) { Self.$isSending.withValue(true, operation: send) }
        }
    }
}

/// The names of events in the params of a request.
struct EventNames: WireValue {
    let names: [String]

    static var schema: JSONLiteral {
        ["type": "array", "items": ["type": "string", "enum": .array(Event.names.map { .string($0) })]]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> EventNames {
        guard view.kind == .array else { throw .expected("a list of events", view) }
        var names: [String] = []
        for index in 0..<view.count {
            guard let element = view.element(index) else { continue }
            guard let name = element.string, Event.names.contains(name) else {
                throw Mismatch.noneOf(Event.names, element).within("\(index)")
            }
            names.append(name)
        }
        return EventNames(names: names)
    }
}

/// The subscribed events, as a reply.
struct SubscriptionReply: WireObject {
    let events: [String]

    static let name = "SubscriptionResult"

    static let fields: [WireField<SubscriptionReply>] = [
        WireField("events", "The events that are now subscribed to.", EventNames.schema) {
            let events = $0.events
            $1.key("events")
            $1.array { writer in events.forEach { writer.write($0) } }
        }
    ]
}

extension ImageServer {
    /// Starts or stops the activity indicator by the client's subscription.
    func updateActivityMonitor() {
        if subscriptions.names.contains(Event.activity.name.description) {
            activity.begin(count: manager.downloader.load.running)
            // The count may have changed before the indicator started.
            activity.change(to: manager.downloader.load.running)
        } else {
            activity.end()
        }
    }

    /// Sends the client the state of the activity indicator, if it is subscribed.
    func reportActivity(_ isActive: Bool, _ count: Int) {
        subscriptions.send(.activity) {
            notify(Event.activity.name) { writer in
                writer.object { params in
                    params.field("active", isActive)
                    params.field("count", count)
                }
            }
        }
    }

    /// Sends the client the change of an image, if it is subscribed.
    func report(_ change: ImageChange) {
        subscriptions.send(.didChange) {
            notify(Event.didChange.name) { writer in
                writer.object { params in
                    params.field("cache", change.cache)
                    params.field("key", change.key)
                    params.field("url", change.url)
                    params.field("path", change.path)
                }
            }
        }
    }

    /// Sends the client the change of the remote tier, if it is subscribed.
    func report(_ change: RemoteChange) {
        subscriptions.send(.remote) {
            notify(Event.remote.name) { writer in
                writer.object { params in
                    params.field("breaker", change.state.rawValue)
                    params.field("reason", change.reason)
                }
            }
        }
    }

    /// Sends the client the report of a cleaning, if it is subscribed.
    func report(_ cleaning: CleaningReport) {
        subscriptions.send(.didClean) {
            notify(Event.didClean.name) { writer in
                writer.object { params in
                    params.field("cache", cleaning.cache)
                    params.key("hashes")
                    params.array { writer in cleaning.hashes.forEach { writer.write($0) } }
                    params.key("keys")
                    params.array { writer in
                        for key in cleaning.keys {
                            if let key { writer.write(key) } else { writer.writeNull() }
                        }
                    }
                    params.field("reason", cleaning.reason.rawValue)
                }
            }
        }
    }
}
