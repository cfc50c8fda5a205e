/// The HTTP method of a request (RFC 9110, 9.3).
public enum RequestMethod: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
}
