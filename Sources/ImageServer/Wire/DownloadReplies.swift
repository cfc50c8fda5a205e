internal import ImageEngine
internal import JSONRPC

/// An image that was loaded and is kept nowhere.
struct DownloadReply: WireObject {
    let reply: ImageReply

    static let name = "DownloadResult"

    private static let names = [
        "format", "mimeType", "width", "height", "frameCount", "byteCount", "data", "url", "etag", "lastModified",
    ]

    static let fields: [WireField<DownloadReply>] = ImageReply.imageFields.filter {
        names.contains($0.name.description)
    }.map { field in
        WireField(field.name, field.summary, field.schema, isOptional: field.isOptional) {
            field.write($0.reply, &$1)
        }
    }
}

/// Whether a download is answered with its bytes.
enum DownloadForm: String, CaseIterable, WireValue {
    case data, none

    static var schema: JSONLiteral { ["type": "string", "enum": .array(allCases.map { .string($0.rawValue) })] }

    static func decode(_ view: JSONView) throws(Mismatch) -> DownloadForm {
        guard let form = view.string.flatMap(DownloadForm.init(rawValue:)) else {
            throw .expected("\"data\" or \"none\"", view)
        }
        return form
    }
}

/// What came of a prefetch.
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
        WireField("skipped", "URLs whose images were cached already.", texts) {
            let urls = $0.report.skipped
            $1.key("skipped")
            $1.array { writer in urls.forEach { writer.write($0) } }
        },
        WireField(
            "failed", "URLs whose images could not be had, or were stopped, with their errors.",
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
    ]
}

/// Whether there was something to stop.
struct StoppedReply: WireObject {
    let isStopped: Bool

    static let name = "StopResult"

    static let fields: [WireField<StoppedReply>] = [
        WireField("stopped", "Whether that prefetch was under way.", flagSchema) { $1.field("stopped", $0.isStopped) }
    ]
}

/// Whether there was something to change.
struct ChangedReply: WireObject {
    let isChanged: Bool

    static let name = "PriorityResult"

    static let fields: [WireField<ChangedReply>] = [
        WireField("changed", "Whether that request was under way.", flagSchema) { $1.field("changed", $0.isChanged) }
    ]
}

/// How many requests were cancelled.
struct CancelledReply: WireObject {
    let count: Int

    static let name = "CancelResult"

    static let fields: [WireField<CancelledReply>] = [
        WireField("cancelled", "How many requests were cancelled.", countSchema) { $1.field("cancelled", $0.count) }
    ]
}

/// How many failures were forgotten.
struct ForgottenReply: WireObject {
    let count: Int

    static let name = "ForgetResult"

    static let fields: [WireField<ForgottenReply>] = [
        WireField("forgotten", "How many failures were forgotten.", countSchema) { $1.field("forgotten", $0.count) }
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

/// A priority from 0 to 1.
struct Priority: WireValue {
    let value: Double

    static var schema: JSONLiteral { ["type": "number", "minimum": 0, "maximum": 1] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Priority {
        guard let value = view.number, (0...1).contains(value) else { throw .expected("a number from 0 to 1", view) }
        return Priority(value: value)
    }
}

/// How many at once.
struct Concurrency: WireValue {
    let count: Int

    static var schema: JSONLiteral { ["type": "integer", "minimum": 1, "maximum": 64] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Concurrency {
        Concurrency(count: try wholeNumber(view, from: 1, to: 64))
    }
}
