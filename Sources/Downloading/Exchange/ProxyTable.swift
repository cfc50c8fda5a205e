package import HTTPSemantics
internal import Platform

/// Where requests go through a proxy.
public enum ProxyChoice: Sendable, Hashable {
    /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` in the environment say.
    case environment
    /// Nowhere.
    case none
    /// Everywhere but where `no_proxy` says otherwise, through this one.
    case url(String)

    /// The choice that a setting writes: `none` or a URL.
    public init(_ text: String) { self = text == "none" ? .none : .url(text) }

    /// What a setting says, for people: with `…` in the place of a password.
    public static func shown(_ text: String) -> String {
        guard let login = ProxyTable.login(in: text), let colon = text[login].firstIndex(of: ":") else { return text }
        return text[...colon] + "…@" + text[login.upperBound...]
    }
}

/// Which proxy each URL goes through: a plain value.
///
/// We decide, as curl does, and not libcurl by itself: the address of a proxy is not judged as that of a server is.
package struct ProxyTable: Sendable, Hashable {
    private var secure: String?
    private var plain: String?
    private var exceptions: [String] = []

    /// No proxies.
    init() {}

    /// The table for a choice.
    ///
    /// - Parameter variable: The environment.
    init(_ choice: ProxyChoice, variable: (String) -> String?) {
        if choice == .none { return }
        exceptions =
            Self.first(["no_proxy", "NO_PROXY"], variable).map { text in
                text.split { $0 == "," || $0 == " " || $0 == "\t" }.map { $0.lowercased() }
            } ?? []
        if case .url(let url) = choice {
            (secure, plain) = (Self.resolving(url), Self.resolving(url))
        } else {
            let all = Self.first(["all_proxy", "ALL_PROXY"], variable)
            secure = (Self.first(["https_proxy", "HTTPS_PROXY"], variable) ?? all).map(Self.resolving)
            // In capitals this is a header of a request to a CGI program (httpoxy).
            plain = (Self.first(["http_proxy"], variable) ?? all).map(Self.resolving)
        }
    }

    /// The proxy in the way of writing that has it find the addresses of names: of what we found by ourselves nobody could
    /// say here where it leads.
    private static func resolving(_ proxy: String) -> String {
        for (scheme, other) in [
            ("socks5://", "socks5h://"), ("socks4://", "socks4a://"), ("socks://", "socks5h://"),
        ] {
            guard proxy.utf8.prefix(scheme.utf8.count).map({ $0 | 0x20 }).elementsEqual(scheme.utf8.map { $0 | 0x20 })
            else { continue }
            return other + proxy.dropFirst(scheme.count)
        }
        return proxy
    }

    /// The same proxy without the user and password that stand in it.
    static func withoutCredentials(_ proxy: String) -> String {
        guard let login = login(in: proxy) else { return proxy }
        return String(proxy[..<login.lowerBound] + proxy[login.upperBound...])
    }

    /// The user and password that stand in the URL of a proxy that speaks HTTP; nil when there are none.
    static func credentials(in proxy: String) -> Authorization? {
        try? WebURL(proxy.contains("://") ? proxy : "http://" + proxy).credentials
    }

    /// Where the user and password stand in the URL of a proxy, with the sign behind them.
    fileprivate static func login(in proxy: String) -> Range<String.Index>? {
        let start = proxy.firstRange(of: "://")?.upperBound ?? proxy.startIndex
        let authority = proxy[start...].prefix { !"/?#".contains($0) }
        return authority.lastIndex(of: "@").map { start..<proxy.index(after: $0) }
    }

    /// The host of a proxy: without scheme, user, password and port.
    static func host(of proxy: String) -> String {
        var rest = withoutCredentials(proxy)[...]
        if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
        rest = rest.prefix { !"/?#".contains($0) }
        let port = rest.lastIndex(of: ":").map { rest[$0...] }
        if let port, !port.contains("]") { rest = rest.dropLast(port.count) }
        return rest.lowercased()
    }

    /// The proxy for a URL; nil for none.
    package func proxy(for url: WebURL) -> String? {
        guard let proxy = url.isSecure ? secure : plain, !isException(url.host) else { return nil }
        return proxy
    }

    private func isException(_ host: String) -> Bool {
        let address = IPAddress(host)
        let host = host.hasSuffix(".") ? String(host.dropLast()) : host
        return exceptions.contains { exception in
            if exception == "*" { return true }
            if let address { return IPNetwork(exception)?.contains(address) == true }
            let name = exception.hasPrefix(".") ? String(exception.dropFirst()) : exception
            let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
            return !bare.isEmpty && (host == bare || host.hasSuffix("." + bare))
        }
    }

    private static func first(_ names: [String], _ variable: (String) -> String?) -> String? {
        names.compactMap { variable($0) }.first { !$0.isEmpty }
    }
}
