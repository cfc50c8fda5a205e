internal import ImageEngine
internal import JSONRPC
internal import RemoteStorage

extension RemoteCounts {
    /// The numbers by their names.
    static let numbers: [(name: StaticString, value: @Sendable (RemoteCounts) -> Int)] = [
        ("hits", { $0.hits }), ("misses", { $0.misses }), ("errors", { $0.errors }), ("wrong", { $0.wrong }),
        ("uploads", { $0.uploads }), ("dropped", { $0.dropped }), ("queued", { $0.queued }),
        ("bytesRead", { $0.bytesRead }), ("bytesWritten", { $0.bytesWritten }),
    ]

    /// The schema of what ``write(_:)`` writes.
    static var schema: JSONLiteral {
        .object(ofAll: numbers.map { ($0.name.description, countSchema) } + [("breaker", breakerSchema)])
    }

    /// The schema of the state of the breaker.
    static var breakerSchema: JSONLiteral {
        ["type": "string", "enum": .array(CircuitBreaker.State.allCases.map { .string($0.rawValue) })]
    }

    func write(_ writer: inout JSONWriter) {
        writer.object { writer in
            for (name, value) in Self.numbers { writer.field(name, value(self)) }
            writer.field("breaker", breaker.rawValue)
        }
    }
}

/// The result of `checkRemote`.
struct RemoteCheckReply: WireObject {
    /// `nil` when there is no remote tier.
    let check: RemoteCheck?

    static let name = "RemoteCheckResult"

    static let fields: [WireField<RemoteCheckReply>] = [
        .flag("ok", "Whether all that the mode needs works; false when there is no remote tier.") {
            $0.check?.isWell ?? false
        },
        WireField("url", "The address without secrets; null when there is no remote tier.", textOrNullSchema) {
            $1.field("url", $0.check?.url)
        },
        WireField(
            "mode", "Whether the tier is read, written or both; null when there is none.",
            ["type": ["string", "null"], "enum": .array(RemoteMode.allCases.map { .string($0.rawValue) } + [.null])]
        ) { $1.field("mode", $0.check?.mode.rawValue) },
        WireField(
            "steps", "What was tried, in order; after a problem nothing more is.",
            [
                "type": "array",
                "items": .object(ofAll: [
                    (
                        "name",
                        ["type": "string", "enum": .array(RemoteCheck.Step.Name.allCases.map { .string($0.rawValue) })]
                    ),
                    ("seconds", secondsSchema), ("problem", textOrNullSchema),
                ]),
            ]
        ) {
            let steps = $0.check?.steps ?? []
            $1.key("steps")
            $1.array { writer in
                for step in steps {
                    writer.object { writer in
                        writer.field("name", step.name.rawValue)
                        writer.key("seconds")
                        writer.write((step.seconds * 1e6).rounded() / 1e6)
                        writer.field("problem", step.problem)
                    }
                }
            }
        },
        WireField(
            "clockAhead", "The seconds that its clock is ahead of this machine's; null when it did not tell the time.",
            ["type": ["number", "null"]]
        ) {
            $1.key("clockAhead")
            if let ahead = $0.check?.clockAhead { $1.write((ahead * 1e3).rounded() / 1e3) } else { $1.writeNull() }
        },
    ]
}
