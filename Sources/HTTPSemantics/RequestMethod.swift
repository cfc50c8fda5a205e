/// What a request asks a server to do (RFC 9110, 9.3).
public enum RequestMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
}
