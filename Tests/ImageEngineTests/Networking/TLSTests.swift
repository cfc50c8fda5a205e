import Foundation
import TestSupport
import Testing

@testable import Caching
@testable import Downloading
@testable import HTTPSemantics
@testable import ImageEngine
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Certificates, proxies and netrc: what is the same for all downloads.
@Suite struct TLSTests {
    private let picture = hollowPNG(width: 7)
    private let folder: TemporaryFolder
    private let certificate: TestCertificate

    init() throws {
        folder = try TemporaryFolder()
        certificate = try TestCertificate("DNS:localhost", in: folder, called: "server")
    }

    private func engine(_ change: (inout ImageDownloader.Configuration) -> Void) throws -> TestEngine {
        try TestEngine {
            $0.downloader.proxy = .none
            change(&$0.downloader)
        }
    }

    private func plain() throws -> LocalServer { try LocalServer { [picture] _ in .reply(200, [:], picture) } }

    private func isTLSFailed(_ error: ImageError?) -> Bool {
        if case .tlsFailed = error { true } else { false }
    }

    @Test func certificateOfAnUnknownAuthorityIsRefusedUnlessTheAuthorityIsConfigured() async throws {
        let server = try plain()
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        #expect(isTLSFailed(try await engine { _ in }.failure(relay.url("/a"))))
        #expect(server.requests.isEmpty)
        let trusting = try engine { $0.tls.caFile = certificate.certificate }
        #expect(try await trusting.failure(relay.url("/a")) == nil)
        #expect(isTLSFailed(try await trusting.failure(relay.url("/b", host: "127.0.0.1"))), "the wrong host")
        #expect(server.requests.count == 1)
    }

    @Test func onlyTrustedHostsNeedNoCertificate() async throws {
        let server = try plain()
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        let engine = try engine { $0.tls.trustedHosts = ["127.0.0.1"] }
        #expect(try await engine.failure(relay.url("/a", host: "127.0.0.1")) == nil)
        #expect(isTLSFailed(try await engine.failure(relay.url("/a"))), "no other host is believed")
    }

    @Test func fileThatCannotBeReadIsNamed() async throws {
        let server = try plain()
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        for name in ["authorities", "certificate"] {
            let place = folder.path + "/no-" + name
            let engine = try engine {
                $0.tls.caFile = name == "authorities" ? place : certificate.certificate
                $0.tls.clientCertificate = name == "certificate" ? place : nil
            }
            let error = try await engine.failure(relay.url("/a"))
            #expect(error?.name == "tlsFailed", "\(String(describing: error))")
            #expect(error?.description.contains(place) == true, "\(String(describing: error))")
        }
        #expect(server.requests.isEmpty)
    }

    @Test func clientCertificateIsShownToItsOriginOnly() async throws {
        let client = try TestCertificate("DNS:client", in: folder, called: "client")
        let server = try plain()
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, certificate, clients: client)
        defer { relay.stop() }
        let engine = try engine {
            $0.tls.caFile = certificate.certificate
            $0.tls.clientCertificate = client.certificate
            $0.tls.clientKey = client.key
        }
        #expect(try await engine.failure(relay.url("/a")) == nil)
        let stranger = try self.engine { $0.tls.caFile = certificate.certificate }
        // A server that closes at once may reset the connection before what it says of that is read.
        try await eventually("the error names the setting") {
            let error = try await stranger.failure(relay.url("/b"))
            #expect(["tlsFailed", "connectionFailed"].contains(error?.name))
            return error?.name == "tlsFailed" && error?.description.contains("clientCertificate") == true
        }
        let away = try LocalServer { _ in .redirect(to: relay.url("/c")) }
        defer { away.stop() }
        let fresh = try self.engine {
            $0.tls.caFile = certificate.certificate
            $0.tls.clientCertificate = client.certificate
            $0.tls.clientKey = client.key
        }
        #expect(try await fresh.failure(away.url("/a")) != nil)
        #expect(server.requests.map(\.path) == ["/a"])
    }

    /// What the server shows to one certificate may be nobody else's business. A rule may name one for its
    /// host alone.
    @Test(arguments: [false, true])
    func imageFetchedWithAClientCertificateIsAnsweredOnlyWithIt(_ byRule: Bool) async throws {
        let client = try TestCertificate("DNS:client", in: folder, called: "client")
        let server = try plain()
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, certificate, clients: client)
        defer { relay.stop() }
        func engine(_ shared: TemporaryFolder?, shows: Bool) throws -> TestEngine {
            try TestEngine(folder: shared) {
                $0.downloader.proxy = .none
                $0.downloader.tls.caFile = certificate.certificate
                guard shows else { return }
                if byRule {
                    var rule = HostRule(hosts: ["localhost"])
                    rule.certificate = ClientCertificate(file: client.certificate, key: client.key)
                    $0.downloader.rules.hosts = [rule]
                } else {
                    $0.downloader.tls.clientCertificate = client.certificate
                    $0.downloader.tls.clientKey = client.key
                }
            }
        }
        let first = try engine(nil, shows: true)
        #expect(try await first.image(relay.url("/a")).cacheType == .none)
        #expect(try await first.image(relay.url("/a")).cacheType != .none)
        let url = relay.url("/a")
        #expect(try await engine(first.folder, shows: true).failure(url) { $0.lookup.onlyFromCache = true } == nil)
        let stranger = try await engine(first.folder, shows: false).failure(url) { $0.lookup.onlyFromCache = true }
        #expect(stranger == .notCached(key: url, url: url))
        #expect(server.requests.count == 1)
    }

    @Test func redirectFromTLSIntoTheClearCarriesNoCredentials() async throws {
        let clear = try plain()
        defer { clear.stop() }
        let server = try LocalServer { _ in .redirect(to: clear.url("/b")) }
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        let netrc = folder.path + "/netrc"
        try Data("machine 127.0.0.1 login u password p\n".utf8).write(to: URL(fileURLWithPath: netrc))
        let engine = try engine {
            $0.tls.caFile = certificate.certificate
            $0.netrc = netrc
        }
        let error = try await engine.failure(relay.url("/a")) {
            $0.network.request.authorization = .bearer("secret")
            $0.network.request.headers = ["Cookie": "secret"]
        }
        #expect(error == nil)
        #expect(server.requests.first?.headers["authorization"] == "Bearer secret")
        #expect(clear.requests.count == 1)
        #expect(clear.requests.first?.headers["authorization"] == nil && clear.requests.first?.headers["cookie"] == nil)
    }

    @Test func netrcNamesTheCredentialsOfHosts() async throws {
        let server = try plain()
        defer { server.stop() }
        let netrc = folder.path + "/netrc"
        try Data("machine 127.0.0.1 login u password p\n".utf8).write(to: URL(fileURLWithPath: netrc))
        let engine = try engine { $0.netrc = netrc }
        _ = try await engine.image(server.url("/a"))
        _ = try await engine.image("http://localhost:\(server.port)/b")
        _ = try await engine.image(server.url("/c")) { $0.network.request.authorization = .bearer("mine") }
        #expect(server.requests.map { $0.headers["authorization"] } == ["Basic dTpw", nil, "Bearer mine"])
        _ = try await self.engine { _ in }.image(server.url("/d"))
        #expect(server.requests.last?.headers["authorization"] == nil, "only where it is configured")
    }

    /// libcurl would wait for somebody to write to it, and all downloads with it.
    @Test func netrcThatIsAPipeIsLeftAlone() async throws {
        let server = try plain()
        defer { server.stop() }
        let netrc = folder.path + "/netrc"
        try #require(mkfifo(netrc, 0o600) == 0)
        let engine = try engine { $0.netrc = netrc }
        #expect(try await engine.failure(server.url("/a")) == nil)
        #expect(server.requests.first?.headers["authorization"] == nil)
    }

    @Test func netrcFileThatCannotBeUnderstoodIsNamed() async throws {
        let server = try plain()
        defer { server.stop() }
        let netrc = folder.path + "/netrc"
        try Data("machine \"127.0.0.1 login u password p\n".utf8).write(to: URL(fileURLWithPath: netrc))
        let error = try await engine { $0.netrc = netrc }.failure(server.url("/a"))
        #expect(error?.description.contains(netrc) == true, "\(String(describing: error))")
    }

    // MARK: Proxies

    @Test func configuredProxyIsAskedForEverything() async throws {
        let proxy = try plain()
        defer { proxy.stop() }
        let engine = try engine { $0.proxy = .url("http://127.0.0.1:\(proxy.port)") }
        _ = try await engine.image("http://pictures.invalid/a.png")
        #expect(proxy.requests.map(\.path) == ["http://pictures.invalid/a.png"])
        guard case .forbiddenAddress = try await engine.failure("http://169.254.169.254/") else {
            Issue.record("an address that is written out is judged all the same")
            return
        }
    }

    /// What a proxy dials cannot be judged, but for addresses that are written out.
    @Test(arguments: [
        ("http://10.1.2.3/a", "http://10.1.2.3/b", true), ("http://10.1.2.3/a", "http://10.9.9.9/b", true),
        ("http://127.0.0.1/a", "http://127.0.0.1/b", true), ("http://127.0.0.1/a", "http://10.1.2.3/b", true),
        ("http://10.1.2.3/a", "http://127.0.0.1/b", false), ("http://pictures.invalid/a", "http://10.1.2.3/b", false),
        ("http://11.1.2.3/a", "http://10.1.2.3/b", false),
    ])
    func throughAProxyNoRedirectLeadsToAMorePrivateAddress(
        _ first: String, _ second: String, _ may: Bool
    ) async throws {
        let proxy = try LocalServer { [picture] request in
            request.path == first ? .redirect(to: second) : .reply(200, [:], picture)
        }
        defer { proxy.stop() }
        let engine = try engine { $0.proxy = .url("http://127.0.0.1:\(proxy.port)") }
        let error = try await engine.failure(first)
        #expect(error?.name == (may ? nil : "forbiddenAddress"), "\(String(describing: error))")
        #expect(proxy.requests.map(\.path) == (may ? [first, second] : [first]))
    }

    /// The delegate hears which host asks, and not what we say to it.
    @Test(arguments: [
        ("http://ann:secret@Proxy.example:3128", "proxy.example"), ("https://proxy.example/", "proxy.example"),
        ("socks5h://u:p@ss@[2001:db8::1]:1080", "[2001:db8::1]"), ("http://[::1]", "[::1]"), ("p:8080", "p"),
    ])
    func hostOfAProxyIsItsNameAlone(_ proxy: String, _ host: String) {
        #expect(ProxyTable.host(of: proxy) == host)
    }

    @Test(arguments: [
        ("http://ann:secret@p:3128", "http://ann:…@p:3128"), ("http://ann@p:3128", "http://ann@p:3128"),
        ("ann:se@cret@p", "ann:…@p"), ("http://p:3128/a:b@c", "http://p:3128/a:b@c"), ("none", "none"),
    ])
    func passwordOfAProxyIsNotShown(_ setting: String, _ shown: String) {
        #expect(ProxyChoice.shown(setting) == shown)
    }

    @Test func delegateAnswersTheChallengeOfAProxy() async throws {
        let proxy = try LocalServer { [picture] request in
            request.headers["proxy-authorization"] == "Basic dTpw"
                ? .reply(200, [:], picture) : .reply(407, ["Proxy-Authenticate": "Basic realm=\"p\""], [])
        }
        defer { proxy.stop() }
        let delegate = TestDelegate()
        delegate.onAnswer {
            $0.isProxy && $0.host == "127.0.0.1" ? .credential(.basic(user: "u", password: "p")) : .cancel
        }
        let engine = try engine { $0.proxy = .url("http://old:wrong@127.0.0.1:\(proxy.port)") }
        for url in ["http://pictures.invalid/a.png", "http://10.1.2.3/a.png"] {
            let error = try await engine.failure(url) {
                $0.network.delegates = DownloadDelegates(delegate, questions: [.challenge])
            }
            #expect(error == nil)
        }
        #expect(delegate.asked == ["basic p 0", "basic p 0"])
    }

    @Test func credentialsForAProxyStayWithIt() async throws {
        let target = try plain()
        defer { target.stop() }
        let first = try LocalServer { request in
            request.headers["proxy-authorization"] == nil
                ? .reply(407, ["Proxy-Authenticate": "Basic realm=\"p\""], [])
                : .redirect(to: "https://pictures.invalid/b.png")
        }
        defer { first.stop() }
        let second = try LocalServer { _ in .reply(407, ["Proxy-Authenticate": "Basic realm=\"q\""], []) }
        defer { second.stop() }
        let delegate = TestDelegate()
        delegate.onAnswer { $0.realm == "p" ? .credential(.basic(user: "u", password: "p")) : .cancel }
        let variables = [
            "http_proxy": "http://127.0.0.1:\(first.port)", "https_proxy": "http://127.0.0.1:\(second.port)",
        ]
        let engine = try engine {
            $0.proxy = .environment
            $0.network.variable = { variables[$0] }
        }
        let error = try await engine.failure("http://pictures.invalid/a.png") {
            $0.network.delegates = DownloadDelegates(delegate, questions: [.challenge])
        }
        #expect(error == .downloadCancelledBeforeStarting(url: "http://pictures.invalid/a.png"))
        #expect(delegate.asked == ["basic p 0", "basic q 1"])
        #expect(first.requests.last?.headers["proxy-authorization"] == "Basic dTpw")
        #expect(second.requests.map(\.path) == ["pictures.invalid:443"])
        #expect(second.requests.allSatisfy { $0.headers["proxy-authorization"] == nil })
    }

    @Test func answerThroughATunnelIsNotThatOfTheProxy() async throws {
        let server = try plain()
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        let proxy = try LocalServer { _ in .reply(403, [:], ascii("no")) }
        defer { proxy.stop() }
        let engine = try engine {
            $0.proxy = .url("http://127.0.0.1:\(proxy.port)")
            $0.tls.caFile = certificate.certificate
        }
        guard case .connectionFailed(_, let reason) = try await engine.failure(relay.url("/a")) else {
            Issue.record("the proxy's refusal was taken for the server's")
            return
        }
        #expect(reason.contains("403"), "\(reason)")
    }

    @Test(
        arguments: [
            ("http://a.example/", "http://p"), ("https://a.example/", "http://s"), ("http://b.test/", nil),
            ("http://x.b.test/", nil), ("http://xb.test/", "http://p"), ("http://c.test/", nil),
            ("http://www.c.test/", nil), ("http://10.1.2.3/", nil), ("http://11.1.2.3/", "http://p"),
            ("http://192.0.2.7/", nil), ("http://192.0.2.8/", "http://p"), ("http://[fd00::5]/", nil),
            ("http://[2a00::5]/", "http://p"), ("http://b.test./", nil),
        ] as [(String, String?)])
    func environmentSaysWhichProxy(_ url: String, _ proxy: String?) throws {
        let environment = [
            "http_proxy": "http://p", "HTTPS_PROXY": "http://s",
            "no_proxy": "b.test, .c.test 10.0.0.0/8,192.0.2.7,fd00::/8",
        ]
        let table = ProxyTable(.environment) { environment[$0] }
        #expect(table.proxy(for: try WebURL(url)) == proxy)
    }

    @Test func proxyInCapitalsIsNotBelievedAndNoneMeansNone() throws {
        let url = try WebURL("http://a.example/")
        #expect(ProxyTable(.environment) { ["HTTP_PROXY": "http://p"][$0] }.proxy(for: url) == nil)
        #expect(ProxyTable(.environment) { ["ALL_PROXY": "http://p"][$0] }.proxy(for: url) == "http://p")
        #expect(ProxyTable(.none) { _ in "http://p" }.proxy(for: url) == nil)
        #expect(ProxyTable(.url("http://q")) { ["http_proxy": "http://p"][$0] }.proxy(for: url) == "http://q")
        #expect(ProxyTable(.url("http://q")) { ["no_proxy": "*"][$0] }.proxy(for: url) == nil)
        #expect(
            ProxyTable(.environment) { ["http_proxy": "", "all_proxy": "http://p"][$0] }.proxy(for: url) == "http://p")
    }
}
