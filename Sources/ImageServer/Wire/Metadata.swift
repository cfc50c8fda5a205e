internal import JSONRPC

/// The names and texts that a client stores with an image.
struct Metadata: WireValue {
    /// The metadata as a JSON object.
    let text: String

    /// The largest size of the JSON text, in bytes.
    static let limit = 4096

    static var schema: JSONLiteral { ["type": "object", "additionalProperties": ["type": "string"]] }

    static func decode(_ view: JSONView) throws(Mismatch) -> Metadata {
        guard view.isObject else { throw .expected("an object of texts", view) }
        var writer = JSONWriter()
        var members: [(name: String, value: String)] = []
        try view.forEachMember { (name, value) throws(Mismatch) in
            let name = String(decoding: name, as: UTF8.self)
            do throws(Mismatch) { members.append((name, try String.decode(value))) } catch { throw error.within(name) }
        }
        writer.object { writer in
            for member in members {
                writer.key(member.name)
                writer.write(member.value)
            }
        }
        guard writer.bytes.count <= limit else {
            throw Mismatch(
                path: "", message: "must be at most \(limit) bytes as JSON, not \(writer.bytes.count)",
                expected: "at most \(limit) bytes", received: "\(writer.bytes.count) bytes")
        }
        return Metadata(text: String(decoding: writer.bytes, as: UTF8.self))
    }
}

extension Metadata {
    /// Metadata from the index; `nil` when it is not valid. Other programs can write to the index file, so text that is
    /// not in the stored form, or would break the line of the answer, must not get into it.
    init?(kept text: String) {
        guard let document = try? JSONDocument(parsing: Array(text.utf8)),
            document.root.kind == .object, let metadata = try? Metadata.decode(document.root)
        else { return nil }
        self = metadata
    }
}
