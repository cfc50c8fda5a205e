internal import ImageEngine
internal import JSONRPC

/// Decodes the client's answers to a ``Delegation``.
enum DelegateAnswers {
    /// The request to send, as the client changed it; `nil` to send none.
    ///
    /// Members missing from the answer stay as in `asked`, but credentials are not sent to another origin unless the
    /// answer contains them itself.
    static func draft(_ view: JSONView, of asked: DownloadDraft) throws(Mismatch) -> DownloadDraft? {
        if view.isNull { return nil }
        try members(view, among: ["url", "headers", "method", "body"])
        var draft = asked
        if let url = view.member("url"), !url.isNull {
            do throws(Mismatch) { draft = asked.moved(to: try String.decode(url)) } catch { throw error.within("url") }
        }
        if let headers = view.member("headers"), !headers.isNull {
            do throws(Mismatch) { draft.headers = try HeaderFields.decode(headers).fields } catch {
                throw error.within("headers")
            }
        }
        if let method = view.member("method"), !method.isNull {
            do throws(Mismatch) { draft.method = try RequestMethod.decode(method) } catch {
                throw error.within("method")
            }
            if draft.method == .get { draft.body = nil }
        }
        if let body = view.member("body"), !body.isNull {
            do throws(Mismatch) { draft.body = try RequestBody.decode(body).bytes } catch { throw error.within("body") }
        }
        if draft.body != nil { draft.method = try RequestBody.method(draft.method, given: view.member("method")) }
        return draft
    }

    /// `true` when the response is accepted; `nil` for the default rule.
    static func acceptance(_ view: JSONView) throws(Mismatch) -> Bool? {
        if view.isNull { return nil }
        try members(view, among: ["accept"])
        guard let accept = view.member("accept") else { throw .expected("{\"accept\": true or false} or null", view) }
        do throws(Mismatch) { return try Bool.decode(accept) } catch { throw error.within("accept") }
    }

    /// The answer to an authentication challenge.
    static func challenge(_ view: JSONView) throws(Mismatch) -> ChallengeAnswer {
        switch view.string {
        case "default": return .useDefault
        case "cancel": return .cancel
        default: break
        }
        if view.isNull { return .useDefault }
        guard view.kind == .object, let use = view.member("use") else {
            throw .expected("\"default\", \"cancel\" or {\"use\": {…}}", view)
        }
        try members(view, among: ["use"])
        do throws(Mismatch) { return .credential(try credentials(use)) } catch { throw error.within("use") }
    }

    private static func credentials(_ view: JSONView) throws(Mismatch) -> Authorization {
        if view.kind == .object, view.count == 1, let token = view.member("bearer")?.string, isHeaderText(token) {
            return .bearer(token)
        }
        if view.kind == .object, view.count == 2, let user = view.member("user")?.string,
            let password = view.member("password")?.string, isHeaderText(user), isHeaderText(password)
        {
            return .basic(user: user, password: password)
        }
        // The message omits the received value, which may be a password.
        throw Mismatch(path: "", message: "must be {\"user\": …, \"password\": …} or {\"bearer\": …}")
    }

    /// Refuses an answer with unknown members: a misspelt one would be ignored otherwise.
    private static func members(_ view: JSONView, among names: [String]) throws(Mismatch) {
        guard view.isObject else { throw .expected("an object or null", view) }
        try refuseMembers(of: view, besides: names)
    }
}
