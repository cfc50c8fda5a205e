internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Platform

/// What went wrong with a picture, in a sentence that a model can act on.
struct ToolFailure: Error, Sendable {
    let sentence: String

    init(_ sentence: String) { self.sentence = sentence }

    /// The failure that an error of the engine is.
    init(_ error: any Error) {
        sentence =
            switch error {
            case let failure as ToolFailure: failure.sentence
            case let error as ImageError: error.description
            case let error as RecipeError:
                "\"\(error.parameter)\" must be \(error.expected), not \(error.received)."
            case let error as SystemError: "A file cannot be used: \(String(cString: strerror(error.code)))."
            default: "That cannot be done with this picture: \(error)."
            }
    }
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

    /// The bytes that a result needs beside its picture and its text.
    static let overhead = 1024

    /// The most bytes that members take in a result: as text, where each quote has a backslash, and as structured content.
    static func byteCount(of members: [(String, JSONLiteral)]) -> Int { 3 * json(members).count + overhead }

    private static func json(_ members: [(String, JSONLiteral)]) -> [UInt8] {
        var json = JSONWriter()
        JSONLiteral.object(members).write(to: &json)
        return json.bytes
    }

    /// The most bytes of the result.
    var byteCount: Int { Self.byteCount(of: members) + (picture.map { Base64.encodedCount($0.bytes.count) } ?? 0) }

    /// Writes the result; one that is longer than `limit` bytes becomes a failure.
    func write(to writer: inout JSONWriter, _ reply: MCPReply, limit: Int) {
        let json = Self.json(members)
        let text = String(decoding: json, as: UTF8.self)
        if failure == nil, byteCount > limit {
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
                result.writeRaw(json)
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
