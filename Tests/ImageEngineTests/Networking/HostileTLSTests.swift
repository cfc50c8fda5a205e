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

/// Handshakes that must not succeed, however they fail.
@Suite struct HostileTLSTests {
    private let picture = hollowPNG(width: 7)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func engine(trusting certificate: TestCertificate? = nil) throws -> TestEngine {
        try TestEngine {
            $0.downloader.proxy = .none
            $0.downloader.tls.caFile = certificate?.certificate
        }
    }

    private func certificate(_ names: String = "DNS:localhost") throws -> TestCertificate {
        try TestCertificate(names, in: folder, called: "server")
    }

    private func plain() throws -> LocalServer { try LocalServer { [picture] _ in .reply(200, [:], picture) } }

    private func expectTLSFailure(
        _ relay: TLSRelay, _ server: LocalServer, trusting certificate: TestCertificate?, saying words: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let engine = try engine(trusting: certificate)
        let error = try await engine.failure(relay.url("/a"))
        guard case .tlsFailed = error else {
            Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
            return
        }
        #expect(words.isEmpty || error?.description.contains(words) == true, "\(String(describing: error))")
        #expect(server.requests.isEmpty, "nothing was asked for", sourceLocation: sourceLocation)
        #expect(engine.blobs.isEmpty && engine.partials.isEmpty, sourceLocation: sourceLocation)
    }

    @Test(arguments: [("20200101000000Z", "20200201000000Z"), ("20900101000000Z", "20910101000000Z")])
    func certificateOfAnotherTimeIsRefusedThoughItsAuthorityIsTrusted(_ start: String, _ end: String) async throws {
        let server = try plain()
        defer { server.stop() }
        let certificate = try TestCertificate("DNS:localhost", from: start, to: end, in: folder, called: "old")
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        try await expectTLSFailure(
            relay, server, trusting: certificate, saying: start < "2026" ? "expired" : "not yet valid")
        let error = try await engine(trusting: certificate).failure(relay.url("/a"))
        #expect(error?.description.contains("caFile") == false, "that would not help")
    }

    @Test(arguments: ["DNS:example.org", "DNS:*.localhost", "DNS:localhost.example.org", "IP:127.0.0.1", "DNS:*"])
    func certificateOfAnotherHostIsRefused(_ names: String) async throws {
        let server = try plain()
        defer { server.stop() }
        let certificate = try certificate(names)
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        try await expectTLSFailure(relay, server, trusting: certificate, saying: "localhost")
    }

    @Test func certificateThatItsOwnerSignedIsRefused() async throws {
        let server = try plain()
        defer { server.stop() }
        let relay = try await TLSRelay(to: server, try certificate())
        defer { relay.stop() }
        try await expectTLSFailure(relay, server, trusting: nil)
    }

    @Test(arguments: ["TLSv1", "TLSv1_1"])
    func oldVersionsAreRefused(_ version: String) async throws {
        let server = try plain()
        defer { server.stop() }
        let certificate = try certificate()
        let relay = try await TLSRelay(to: server, certificate, version: version)
        defer { relay.stop() }
        try await expectTLSFailure(relay, server, trusting: certificate)
    }

    @Test func chainOfAMegabyteIsRefused() async throws {
        let server = try plain()
        defer { server.stop() }
        let certificate = try certificate()
        let relay = try await TLSRelay(to: server, try certificate.padded(copies: 2500, in: folder))
        defer { relay.stop() }
        try await expectTLSFailure(relay, server, trusting: certificate)
    }

    @Test func serverThatSpeaksNoTLSIsRefusedAndOneThatSaysNothingTimesOut() async throws {
        let never = Gate()
        defer { never.open() }
        let engine = try engine()
        for greeting in [
            Script.empty.raw("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").closing(),
            Script.empty.raw([UInt8](repeating: 0x16, count: 70_000)).closing(), Script.empty.closing(),
            // A record of 64 KiB that never comes, and an alert.
            Script.empty.raw([0x15, 3, 3, 0, 2, 2, 40]).closing(),
        ] {
            let server = try LocalServer(greeting: greeting) { _ in .empty }
            defer { server.stop() }
            let error = try await engine.failure("https://127.0.0.1:\(server.port)/a") { $0.network.limits.timeout = 5 }
            #expect(["tlsFailed", "connectionFailed"].contains(error?.name), "\(String(describing: error))")
        }
        let silent = try LocalServer(greeting: Script.empty.waiting(for: never)) { _ in .empty }
        let slow = try LocalServer(greeting: Script.empty.dripping([0x16, 3, 3, 0x3F, 0xFF, 2])) { _ in .empty }
        defer {
            silent.stop()
            slow.stop()
        }
        for (server, option) in [(silent, "timeout"), (slow, "deadline")] {
            let error = try await engine.failure("https://127.0.0.1:\(server.port)/a") {
                if option == "timeout" { $0.network.limits.timeout = 0.3 } else { $0.caller.deadline = 0.3 }
            }
            guard case .timedOut(_, option, 0.3) = error else {
                Issue.record("\(option): \(String(describing: error))")
                continue
            }
            try await eventually("the connection is dropped") { server.droppedCount == 1 }
        }
    }

    /// It may have been the network.
    @Test func handshakeThatBreaksOffIsTriedAgain() async throws {
        let number = Counter()
        let server = try LocalServer(greeting: Script.empty.closing()) { _ in
            _ = number.add()
            return .empty
        }
        defer { server.stop() }
        let error = try await engine().failure("https://127.0.0.1:\(server.port)/a") {
            $0.network.retry = RetryStrategy(maxRetries: 2, interval: .seconds(0))
        }
        #expect(error?.name == "connectionFailed" && error?.isRetryable == true, "\(String(describing: error))")
        #expect(server.connectionCount == 3 && error?.description.contains("TLS") == true)
    }

    @Test func alertIsToldInItsWordsAndIsFinal() async throws {
        // handshake_failure, protocol_version and access_denied.
        for (code, words) in [(40, "handshake failure"), (70, "protocol version"), (49, "access denied")]
            as [(UInt8, String)]
        {
            let greeting = Script.empty.raw([0x15, 3, 3, 0, 2, 2, code]).closing()
            let server = try LocalServer(greeting: greeting) { _ in .empty }
            defer { server.stop() }
            let error = try await engine().failure("https://127.0.0.1:\(server.port)/a")
            #expect(
                error?.name == "tlsFailed" && error?.description.contains(words) == true, "\(String(describing: error))"
            )
            #expect(error?.description.contains("clientCertificate") == (code != 70))
        }
    }

    /// It is not about who we are.
    @Test func alertInMidBodyIsTriedAgain() async throws {
        let (certificate, picture) = (try certificate(), hollowPNG(width: 9, count: 50_000))
        let server = try await PythonServer(
            """
            certificate, key, body, place = sys.argv[1:5]
            body = bytes.fromhex(body)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            listener, count = socket.create_server(("127.0.0.1", 0)), [0]
            def serve(client):
                count[0] += 1
                incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                tls = context.wrap_bio(incoming, outgoing, server_side=True)
                def turn(call, *arguments):
                    while True:
                        try:
                            call(*arguments)
                            return client.sendall(outgoing.read())
                        except ssl.SSLWantReadError:
                            client.sendall(outgoing.read())
                            incoming.write(client.recv(65536))
                try:
                    turn(tls.do_handshake)
                    turn(tls.read, 65536)
                    head = b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body)
                    turn(tls.write, head + (body if count[0] > 1 else body[:9000]))
                    # What makes no sense is answered with an alert.
                    if count[0] == 1:
                        incoming.write(b"\\x17\\x03\\x03\\x00\\x20" + bytes(32))
                    turn(tls.read, 1)
                except ssl.SSLError:
                    client.sendall(outgoing.read())
                client.close()
            announce(place, {"tls": listener})
            accepting(listener, serve)
            """, [certificate.certificate, certificate.key, picture.map { String(format: "%02x", $0) }.joined()])
        defer { server.stop() }
        let engine = try engine(trusting: certificate)
        let found = try await engine.image("https://localhost:\(server.port("tls"))/a", bytes: true) {
            $0.network.retry = RetryStrategy(maxRetries: 1, interval: .seconds(0))
        }
        #expect(found.bytes == picture)
    }

    @Test func bodyThatSomebodyCutsOffIsNotTakenForWhole() async throws {
        // Without a length only the end of TLS tells the end of the body, and that is not sent.
        let cut = Array(hollowPNG(width: 9, count: 4000).prefix(3000))
        let server = try LocalServer { _ in Script.head(200, length: nil).raw(cut).closing() }
        defer { server.stop() }
        let certificate = try certificate()
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        let engine = try engine(trusting: certificate)
        let error = try await engine.failure(relay.url("/a"))
        #expect(["connectionFailed", "badData"].contains(error?.name), "\(String(describing: error))")
        #expect(engine.blobs.isEmpty)
    }
}

/// Proxies of all kinds.
@Suite struct ProxyTests {
    private let picture = hollowPNG(width: 7)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func engine(_ proxy: String, trusting certificate: TestCertificate? = nil) throws -> TestEngine {
        try TestEngine {
            $0.downloader.proxy = .url(proxy)
            $0.downloader.tls.caFile = certificate?.certificate
        }
    }

    private func plain() throws -> LocalServer { try LocalServer { [picture] _ in .reply(200, [:], picture) } }

    @Test func tunnelIsAskedForAndHearsNothingOfTheRequest() async throws {
        let server = try plain()
        defer { server.stop() }
        let certificate = try TestCertificate("DNS:pictures.test", in: folder, called: "server")
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        let proxy = try await TestProxy()
        defer { proxy.stop() }
        let engine = try engine("http://" + proxy.place("http"), trusting: certificate)
        let error = try await engine.failure(relay.url("/secret/path", host: "pictures.test")) {
            $0.network.request.authorization = .bearer("secret")
            $0.network.request.headers = ["Cookie": "secret", "X-Api-Key": "secret"]
        }
        #expect(error == nil)
        #expect(server.requests.first?.headers["authorization"] == "Bearer secret")
        #expect(server.requests.first?.headers["x-api-key"] == "secret")
        let head = try #require(proxy.requests.first)
        #expect(proxy.requests.count == 1 && head.hasPrefix("CONNECT pictures.test:\(relay.port) HTTP/1.1\r\n"))
        #expect(!head.contains("secret"), "\(head)")
    }

    @Test(arguments: ["http", "socks"], ["user:pass", "user:wrong"])
    func credentialsInTheURLOfAProxyAreForTheProxy(_ kind: String, _ credentials: String) async throws {
        let server = try plain()
        defer { server.stop() }
        let certificate = try TestCertificate("DNS:pictures.test", in: folder, called: "server")
        let relay = try await TLSRelay(to: server, certificate)
        defer { relay.stop() }
        let proxy = try await TestProxy(credentials: "user:pass")
        defer { proxy.stop() }
        let scheme = kind == "socks" ? "socks5h" : kind
        let engine = try engine("\(scheme)://\(credentials)@\(proxy.place(kind))", trusting: certificate)
        let error = try await engine.failure(relay.url("/a", host: "pictures.test"))
        #expect((error == nil) == (credentials == "user:pass"), "\(String(describing: error))")
        #expect(server.requests.count == (error == nil ? 1 : 0))
        #expect(server.requests.allSatisfy { $0.headers["proxy-authorization"] == nil })
        #expect(error?.description.contains("wrong") != true, "no error shows them")
        if kind == "http", let error {
            #expect(error == .invalidStatusCode(407, url: relay.url("/a", host: "pictures.test")))
            #expect(!error.isRetryable)
        } else if let error {
            #expect(
                error.description.contains("does not connect") && error.description.contains("rejected"), "\(error)")
        }
    }

    /// Also where the proxy's URL says that we are to find it, for then nobody would judge it.
    @Test(arguments: ["socks5h", "socks5", "SOCKS5", "socks"])
    func socksProxyFindsTheAddressOfANameAndRedirectsGoThroughItToo(_ scheme: String) async throws {
        let server = try LocalServer { [picture] request in
            request.path == "/a"
                ? .redirect(to: "http://other.invalid:\(request.headers["host"]?.split(separator: ":").last ?? "")/b")
                : .reply(200, [:], picture)
        }
        defer { server.stop() }
        let proxy = try await TestProxy()
        defer { proxy.stop() }
        let engine = try engine("\(scheme)://" + proxy.place("socks"))
        let result = try await engine.image("http://pictures.invalid:\(server.port)/a")
        #expect(result.record.url == "http://other.invalid:\(server.port)/b")
        #expect(proxy.requests == ["pictures.invalid", "other.invalid"])
        guard case .forbiddenAddress = try await engine.failure("http://169.254.169.254/") else {
            Issue.record("an address that is written out is judged all the same")
            return
        }
    }

    /// What counts for servers counts for a proxy that is asked over TLS itself.
    @Test func proxyOverTLSIsTrustedAsAServerIs() async throws {
        let proxy = try LocalServer { [picture] _ in .reply(200, [:], picture) }
        defer { proxy.stop() }
        let certificate = try TestCertificate("DNS:localhost", in: folder, called: "proxy")
        let relay = try await TLSRelay(to: proxy, certificate)
        defer { relay.stop() }
        let url = relay.url("")
        #expect(try await engine(url, trusting: certificate).failure("http://pictures.invalid/a") == nil)
        #expect(proxy.requests.map(\.path) == ["http://pictures.invalid/a"])
        let error = try await engine(url).failure("http://pictures.invalid/b")
        #expect(error?.name == "tlsFailed" && error?.description.contains("the proxy's certificate") == true)
        let blind = try TestEngine {
            $0.downloader.proxy = .url(url)
            $0.downloader.tls.trustedHosts = ["localhost"]
        }
        #expect(try await blind.failure("http://pictures.invalid/c") == nil)
    }

    @Test func proxyThatIsOfNoUseIsAnErrorOfItsKind() async throws {
        let proxy = try await TestProxy()
        defer { proxy.stop() }
        for (kind, name) in [
            ("refusing", "connectionFailed"), ("silent", "timedOut"), ("endless", "limitExceeded"),
        ] {
            let engine = try engine("http://" + proxy.place(kind))
            let error = try await engine.failure("https://pictures.test/a") {
                $0.network.limits.timeout = kind == "silent" ? 0.3 : 10
            }
            #expect(error?.name == name, "\(kind): \(String(describing: error))")
            #expect(engine.blobs.isEmpty)
        }
        let nobody = try engine("http://no-such-proxy.invalid:3128")
        #expect(try await nobody.failure("http://pictures.test/a")?.name == "connectionFailed")
    }
}
