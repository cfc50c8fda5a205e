internal import JSONRPC

/// The tokens under which a client wants to hear of progress, in either dialect.
struct ProgressTokens: Sendable {
    /// `workDoneToken`: answered by `$/progress`.
    var workDone: RequestID?
    /// `_meta.progressToken`: answered by `notifications/progress`.
    var meta: RequestID?

    /// Reads the parameter `name`, adding to what was found before; nil when it holds no token.
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
