internal import HTTPSemantics
internal import Platform
internal import Synchronization

/// A file of cookies that are sent to their hosts. It is only read: cookies set by servers are not stored.
///
/// In the Netscape format, which browser exporters and curl write: lines of seven fields separated by tabs. Read again
/// when it has changed.
final class CookieFile: Sendable {
    private struct State: Sendable {
        var stamp: FileStamp?
        var cookies: [Cookie] = []
    }

    let path: String
    private let state = Mutex(State())

    /// Creates a cookie file, which need not exist yet.
    init(path: String) { self.path = path }

    /// The value of the `Cookie` field for a request at `now`, in seconds since 1970. `nil`: no cookie applies.
    func value(for url: WebURL, now: Int) -> String? { Cookie.value(of: cookies, for: url, now: now) }

    /// The number of cookies that have not expired at `now`, in seconds since 1970.
    func count(at now: Int) -> Int { cookies.count { !$0.hasExpired(at: now) } }

    private var cookies: [Cookie] {
        state.withLock { state -> [Cookie] in
            do throws(SystemError) {
                // The path may be a symbolic link.
                let file = try Descriptor(reading: path, followsLinks: true)
                guard let stamp = file.stamp else { return [] }
                if state.stamp != stamp {
                    state = State(stamp: stamp, cookies: Cookie.parse(try file.bytes(stamp.size)))
                }
            } catch {
                // What cannot be read now may be as it was.
                if error.isMissing { return [] }
            }
            return state.cookies
        }
    }
}

struct Cookie: Sendable, Equatable {
    let name: String
    let value: String
    /// The lower-case domain without a leading dot.
    let domain: String
    let includesSubdomains: Bool
    let path: String
    let isSecure: Bool
    /// The expiry in seconds since 1970. `nil`: it does not expire.
    let expiry: Int?

    func hasExpired(at now: Int) -> Bool { expiry ?? .max <= now }

    /// Parses the cookies of a file. Malformed lines are left out.
    ///
    /// Of two cookies with the same name, domain and path the later one counts (RFC 6265, 5.3). A cookie for a host
    /// alone and one that includes the subdomains are different (as in curl, and RFC 6265bis, 5.7).
    static func parse(_ bytes: [UInt8]) -> [Cookie] {
        var cookies: [Cookie] = []
        var places: [[String]: Int] = [:]
        for cookie in lines(bytes) {
            let identity = [cookie.name, cookie.domain, cookie.path, cookie.includesSubdomains ? "." : ""]
            let place = places[identity] ?? cookies.count
            places[identity] = place
            cookies.replaceSubrange(place..<min(place + 1, cookies.count), with: [cookie])
        }
        return cookies
    }

    private static func lines(_ bytes: [UInt8]) -> [Cookie] {
        bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { line in
            let mark = Array("#HttpOnly_".utf8)
            let line = line.starts(with: mark) ? line.dropFirst(mark.count) : line
            guard line.first != UInt8(ascii: "#"), line.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return nil
            }
            let fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
                .map { String(decoding: $0, as: UTF8.self) }
            // In some files a cookie without a value has only six fields.
            guard (6...7).contains(fields.count), !fields[0].isEmpty, !fields[5].isEmpty else { return nil }
            let domain = fields[0].lowercased().filter { $0 != "[" && $0 != "]" }
            // Only the whole seconds of a fraction count. In some files an empty field marks a session cookie.
            guard let expiry = fields[4].isEmpty ? 0 : Int(fields[4].prefix { $0 != "." }) else { return nil }
            return Cookie(
                name: fields[5], value: fields.count > 6 ? fields[6] : "",
                domain: domain.hasPrefix(".") ? String(domain.dropFirst()) : domain,
                includesSubdomains: fields[1].uppercased() == "TRUE", path: fields[2].isEmpty ? "/" : fields[2],
                isSecure: fields[3].uppercased() == "TRUE", expiry: expiry == 0 ? nil : expiry)
        }
    }

    /// The value that a request sends, with cookies of longer paths first (RFC 6265, 5.4). `nil`: none applies.
    static func value(of cookies: [Cookie], for url: WebURL, now: Int) -> String? {
        let path = url.path
        let sent = cookies.enumerated().filter { $0.element.isFor(url.host, path, isSecure: url.isSecure, now: now) }
            .sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
        return sent.isEmpty ? nil : sent.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    private func isFor(_ host: String, _ path: String, isSecure isSecureRequest: Bool, now: Int) -> Bool {
        // Only names have subdomains.
        let isBelow = includesSubdomains && host.hasSuffix("." + domain) && IPAddress(host) == nil
        guard !isSecure || isSecureRequest, !hasExpired(at: now), HostPattern.bare(host) == domain || isBelow,
            path.utf8.starts(with: self.path.utf8)
        else { return false }
        let rest = path.utf8.dropFirst(self.path.utf8.count)
        return rest.isEmpty || self.path.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
    }
}
