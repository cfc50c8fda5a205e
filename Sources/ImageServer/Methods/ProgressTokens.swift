internal import JSONRPC

/// The tokens for the progress notifications of a request, for either protocol.
final class ProgressTokens: Sendable {
    /// `workDoneToken`, the token of `$/progress`.
    let workDone: RequestID?
    /// `_meta.progressToken`, the token of `notifications/progress`.
    let meta: RequestID?

    /// Reads the parameter `name` and adds it to the tokens found before; `nil` when there is no token.
    init?(_ name: String, _ value: JSONView, _ earlier: ProgressTokens?) throws(Mismatch) {
        var (workDone, meta) = (earlier?.workDone, earlier?.meta)
        if name == "workDoneToken" {
            if !value.isNull { workDone = try Self.token(value, name) }
        } else if let token = value.member("progressToken"), !token.isNull {
            meta = try Self.token(token, "_meta.progressToken")
        }
        if workDone == nil, meta == nil { return nil }
        (self.workDone, self.meta) = (workDone, meta)
    }

    private static func token(_ view: JSONView, _ name: String) throws(Mismatch) -> RequestID {
        do throws(Mismatch) { return try RequestIDValue.decode(view).id } catch { throw error.within(name) }
    }
}
