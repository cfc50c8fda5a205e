internal import ImageEngine
internal import JSONRPC
internal import Platform

/// What went wrong with a picture, in a sentence that a model can act on.
struct ToolFailure: Error, Sendable {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }
}

/// The result of a tool: a picture or a link to one, and what is said about it.
struct ToolOutcome: Sendable {
    /// A picture that is part of the result.
    struct Picture: Sendable {
        let bytes: [UInt8]
        let mimeType: String
    }

    /// The members of the structured result; their JSON is the text of the result too.
    var members: [(String, JSONLiteral)] = []
    var picture: Picture?
    /// The picture as a resource, when it is too large for a result.
    var link: (uri: String, name: String)?
    private var failure: ToolFailure?

    init(_ members: [(String, JSONLiteral)], picture: Picture? = nil) {
        (self.members, self.picture) = (members, picture)
    }

    init(failure: ToolFailure) { self.failure = failure }

    /// The bytes that a result needs beside its picture and its text, which it has twice.
    static let overhead = 1024

    /// Writes the result; one that is longer than `limit` bytes becomes a failure.
    func write(to writer: inout JSONWriter, _ reply: MCPReply, limit: Int) {
        var json = JSONWriter()
        JSONLiteral.object(members).write(to: &json)
        let text = String(decoding: json.bytes, as: UTF8.self)
        let size = 3 * text.utf8.count + (picture.map { Base64.encodedCount($0.bytes.count) } ?? 0) + Self.overhead
        if failure == nil, size > limit {
            let failure = ToolFailure("The result would be longer than \(limit) bytes: ask for less at a time.")
            return ToolOutcome(failure: failure).write(to: &writer, reply, limit: limit)
        }
        reply.write(to: &writer) { result in
            result.key("content")
            result.array { content in
                if let picture {
                    content.object { block in
                        block.field("type", "image")
                        block.key("data")
                        block.write(base64: picture.bytes)
                        block.field("mimeType", picture.mimeType)
                    }
                }
                content.object { block in
                    block.field("type", "text")
                    block.field("text", failure?.sentence ?? text)
                }
                if let link, reply.version.hasLinks {
                    content.object { block in
                        block.field("type", "resource_link")
                        block.field("uri", link.uri)
                        block.field("name", link.name)
                    }
                }
            }
            if failure == nil {
                result.key("structuredContent")
                result.writeRaw(json.bytes)
            } else {
                result.field("isError", true)
            }
        }
    }
}

/// The progress of a tool as notifications, at most ten a second.
final class ToolProgress: Sendable {
    /// What is done, and of how much.
    struct Step: Sendable {
        var done: Int
        var total: Int?
    }

    private let reports: PacedReports<Step>

    init(_ call: Call, _ token: RequestID) {
        reports = PacedReports(amount: \.done) { step in
            call.notify("notifications/progress", isNeeded: false) { writer in
                writer.object { params in
                    params.key("progressToken")
                    token.write(to: &params)
                    params.field("progress", step.done)
                    if let total = step.total { params.field("total", total) }
                }
            }
        }
    }

    /// Reports what is done.
    func report(_ done: Int, of total: Int?) { reports.submit(Step(done: done, total: total)) }

    /// Reports nothing more: the answer follows.
    func end() { reports.end { _, _ in } }
}
