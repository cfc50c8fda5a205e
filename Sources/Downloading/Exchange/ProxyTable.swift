package import HTTPSemantics
internal import Platform

/// The choice of proxies.
public enum ProxyChoice: Sendable, Hashable {
    /// As `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` in the environment say.
    case environment
    /// No proxy.
    case none
    /// This proxy, except where `no_proxy` says otherwise.
    case url(String)

    /// Reads the value of the setting: `none` or a URL.
    public init(_ text: String) { self = text == "none" ? .none : .url(text) }

    /// The value of the setting for display: a password is replaced by `…`.
    public static func shown(_ text: String) -> String {
        guard let login = ProxyTable.login(in: text), let colon = text[login].firstIndex(of: ":") else { return text }
        return text[...colon] + "…@" + text[login.upperBound...]
    }
}

/// The proxy of each URL.
///
/// Chosen here, by curl's rules, and not by libcurl, because the address of a proxy is not checked like that of a
/// server.
package struct ProxyTable: Sendable, Hashable {
    private var secure: String?
    private var plain: String?
    private var exceptions: [String] = []

    init() {}

    /// Creates the table for a choice. `variable` reads the environment.
    package init(_ choice: ProxyChoice, variable: (String) -> String?) {
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
            // The upper-case variable could come from a header of a CGI request (httpoxy).
            plain = (Self.first(["http_proxy"], variable) ?? all).map(Self.resolving)
        }
    }

    /// The proxy's URL with the SOCKS variant in which the proxy resolves names. With the other one, an address
    /// resolved here could not be attributed to a request.
    private static func resolving(_ proxy: String) -> String {
        let variants = ["socks5://": "socks5h://", "socks4://": "socks4a://", "socks://": "socks5h://"]
        guard let end = proxy.firstRange(of: "://")?.upperBound, let other = variants[proxy[..<end].lowercased()]
        else { return proxy }
        return other + proxy[end...]
    }

    static func withoutCredentials(_ proxy: String) -> String {
        guard let login = login(in: proxy) else { return proxy }
        return String(proxy[..<login.lowerBound] + proxy[login.upperBound...])
    }

    /// The user and password in the URL of an HTTP proxy. `nil`: there are none.
    static func credentials(in proxy: String) -> Authorization? {
        try? WebURL(proxy.contains("://") ? proxy : "http://" + proxy).credentials
    }

    /// The range of user, password and `@` in the URL of a proxy.
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
