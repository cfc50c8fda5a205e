internal import ImageEngine
internal import JSONRPC

/// The body of an HTTP request: text, or bytes as base64.
struct RequestBody: WireValue {
    let bytes: [UInt8]

    static var schema: JSONLiteral {
        [
            "oneOf": [
                String.schema,
                [
                    "type": "object", "properties": ["base64": Base64Bytes.schema], "required": ["base64"],
                    "additionalProperties": false,
                ],
            ]
        ]
    }

    static func decode(_ view: JSONView) throws(Mismatch) -> RequestBody {
        let bytes: [UInt8]
        if let text = view.string {
            bytes = Array(text.utf8)
        } else if view.kind == .object, view.count == 1, let base64 = view.member("base64") {
            do throws(Mismatch) { bytes = try Base64Bytes.decode(base64).bytes } catch { throw error.within("base64") }
        } else {
            throw .expected("text or {\"base64\": \"…\"}", view)
        }
        guard bytes.count <= RequestContent.bodyLimit else {
            throw Mismatch(
                path: "", message: "has \(bytes.count) bytes, and at most \(RequestContent.bodyLimit) are sent",
                expected: "at most \(RequestContent.bodyLimit) bytes", received: "\(bytes.count) bytes")
        }
        return RequestBody(bytes: bytes)
    }

    /// The method of a request with a body: POST by default.
    ///
    /// - Parameter given: The member with the method, if there is one.
    /// - Throws: ``Mismatch`` for a method that sends no body.
    static func method(_ method: RequestMethod, given: JSONView?) throws(Mismatch) -> RequestMethod {
        if method != .get { return method }
        guard given?.isNull ?? true else {
            throw Mismatch(
                path: "method", message: "must be POST or PUT where there is a body", expected: "\"POST\" or \"PUT\"",
                received: "\"GET\"")
        }
        return .post
    }
}
