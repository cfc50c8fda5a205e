/// What a request asks a server to do (RFC 9110, 9.3).
public enum RequestMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
}

extension Hop {
    /// The request as a redirect with that status leaves it (RFC 9110, 15.4): after 303 it is a GET, and so is a POST after
    /// 301 and 302, without what describes a body.
    func redirected(status: Int) -> Hop {
        guard method != .get, status == 303 || [301, 302].contains(status) && method == .post else { return self }
        var hop = self
        (hop.method, hop.body) = (.get, nil)
        hop.fields.removeAll { $0.name.text.asciiLowercased.hasPrefix("content-") }
        return hop
    }
}
