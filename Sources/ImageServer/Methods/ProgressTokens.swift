internal import JSONRPC

/// The tokens for the progress notifications of a request, for either protocol.
struct ProgressTokens: Sendable {
    /// `workDoneToken`, the token of `$/progress`.
    var workDone: RequestID?
    /// `_meta.progressToken`, the token of `notifications/progress`.
    var meta: RequestID?

    /// Reads the parameter `name` and adds it to the tokens found before; nil when there is no token.
    init?(_ name: String, _ value: JSONView, _ earlier: ProgressTokens?) throws(Mismatch) {
        workDone = earlier?.workDone
        meta = earlier?.meta
        if name == "workDoneToken" {
            if !value.isNull { workDone = try Self.token(value, name) }
        } else if let token = value.member("progressToken"), !token.isNull {
            meta = try Self.token(token, "_meta.progressToken")
        }
        if workDone == nil, meta == nil { return nil }
    }

    private static func token(_ view: JSONView, _ name: String) throws(Mismatch) -> RequestID {
        if let text = view.string { return .string(text) }
        if let number = view.integer { return .integer(number) }
        throw Mismatch.expected("a string or an integer", view).within(name)
    }
}
