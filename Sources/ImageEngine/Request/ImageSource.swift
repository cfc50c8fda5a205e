internal import Glibc
internal import Platform

/// The source of an image, by the scheme of its URL.
enum ImageSource: Sendable {
    /// A server; the value is the URL.
    case network(String)
    /// A file of the user, by path.
    case file(String)
    /// The bytes in the URL itself.
    case data([UInt8])

    /// Parses the scheme of a URL and what it determines; http URLs are validated fully when they are loaded.
    init(url: String) throws(ImageError) {
        guard !url.isEmpty else { throw .invalidURL(url, reason: "It is empty.") }
        guard !url.has("\0") else { throw .invalidURL(url, reason: "It contains a NUL.") }
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw .invalidURL(url, reason: "It has no scheme; http, https, file and data are understood.")
        }
        let scheme = String(url[..<colon]).quicklyLowercased
        let rest = url[url.utf8.index(after: colon)...]
        switch scheme {
        case "http", "https":
            // By bytes, because every request comes here.
            let first = rest.utf8.dropFirst(2).first
            guard rest.utf8.starts(with: "//".utf8), let first, !"/?#".utf8.contains(first) else {
                throw .invalidURL(url, reason: "It names no host.")
            }
            self = .network(url)
        case "file": self = .file(try Self.path(rest, url: url))
        case "data": self = .data(try Self.data(rest, url: url))
        default:
            throw .invalidURL(
                url, reason: "The scheme \"\(String(scheme).excerpt)\" is not allowed; http, https, file and data are.")
        }
    }

    /// `true` when the scheme of a URL is http or https, in any case. Allocates nothing, because hits call it.
    static func isOnNetwork(_ url: String) -> Bool {
        var url = url
        return url.withUTF8 { url in
            guard url.count >= 5, let start = url.baseAddress, strncasecmp(start, "http", 4) == 0 else { return false }
            let rest = url[(url[4] | 0x20 == UInt8(ascii: "s") ? 5 : 4)...]
            return rest.first == UInt8(ascii: ":")
        }
    }

    /// The path of a file URL (RFC 8089). Without a leading slash it is relative to the working directory.
    private static func path(_ rest: Substring, url: String) throws(ImageError) -> String {
        var path = rest
        if path.hasPrefix("//") {
            path = path.dropFirst(2)
            guard let slash = path.firstIndex(of: "/") else { throw .invalidURL(url, reason: "It names no file.") }
            let host = path[..<slash]
            guard host.isEmpty || host.lowercased() == "localhost" else {
                throw .invalidURL(url, reason: "The file is on another host, \"\(host)\".")
            }
            path = path[slash...]
        }
        if let end = path.firstIndex(where: { $0 == "?" || $0 == "#" }) { path = path[..<end] }
        let decoded = percentDecoded(path)
        guard !decoded.isEmpty else { throw .invalidURL(url, reason: "It names no file.") }
        guard !decoded.contains(0) else { throw .invalidURL(url, reason: "The path contains a NUL.") }
        guard let text = String(validating: decoded, as: UTF8.self) else {
            throw .invalidURL(url, reason: "Its path is not UTF-8 text, as names of files have to be here.")
        }
        return absolutePath(text)
    }

    /// The bytes of a data URL (RFC 2397).
    private static func data(_ rest: Substring, url: String) throws(ImageError) -> [UInt8] {
        guard let comma = rest.utf8.firstIndex(of: UInt8(ascii: ",")) else {
            throw .invalidURL(url, reason: "A data URL needs a comma before its data.")
        }
        let bytes = percentDecoded(rest[rest.index(after: comma)...])
        guard rest[..<comma].lowercased().hasSuffix(";base64") else { return bytes }
        guard let decoded = bytes.withUnsafeBytes({ Base64.decode($0) }) else {
            throw .invalidURL(url, reason: "Its data is not base64.")
        }
        return decoded
    }
}

/// The absolute form of `path`, which may be relative to the working directory.
package func absolutePath(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : workingDirectory() + "/" + path
}

func workingDirectory() -> String {
    guard let path = getcwd(nil, 0) else { return "" }
    defer { free(path) }
    return String(cString: path)
}
