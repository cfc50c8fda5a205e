import Downloading
import Foundation
import TestSupport
import Testing

@testable import RemoteStorage

@Suite("Objects on a real HTTP server", .enabled(if: NginxServer.isInstalled, "nginx is not installed"))
struct HTTPStorageTests {
    @Test func anObjectIsWhatWasPutLast() async throws {
        let server = try await NginxServer(NginxServer.taking)
        let storage = try makeStorage(server.url("/images/"))
        let name = objectName()
        #expect(try await storage.get(name) == nil)
        for size in [1, 100_000, 3 << 20] {
            let object = hollowPNG(width: 5, count: size + 100)
            try await storage.put(name, object, seconds: 60)
            #expect(try await storage.get(name) == object)
        }
        #expect(server.folder.files.contains("root/images/\(name.prefix(2))/\(name)"))
    }

    @Test func aRemovedObjectIsAbsentAndMayBeRemovedAgain() async throws {
        let server = try await NginxServer(NginxServer.taking)
        let storage = try makeStorage(server.url())
        try await storage.put(objectName(), [1, 2, 3], seconds: nil)
        try await storage.remove(objectName())
        #expect(try await storage.get(objectName()) == nil)
        try await storage.remove(objectName())
    }

    @Test func aServerThatIsOnlyReadSaysWhatToDo() async throws {
        let server = try await NginxServer("")
        let storage = try makeStorage(server.url())
        let errors = [
            await failure { try await storage.put(objectName(), [1], seconds: nil) },
            await failure { try await storage.remove(objectName()) },
        ]
        for error in errors {
            #expect(error?.description.contains("set remoteMode to read-only") == true, "\(error as Any)")
        }
    }

    @Test func anObjectThatIsTooLargeForTheServerIsRefused() async throws {
        let server = try await NginxServer(NginxServer.taking + "client_max_body_size 1k;")
        let storage = try makeStorage(server.url())
        let error = await failure { try await storage.put(objectName(), zeros(5000), seconds: nil) }
        #expect(error?.description.contains("413, the object is too large") == true, "\(error as Any)")
    }

    @Test func aUserOfTheURLOrTheNetrcFileIsLetIn() async throws {
        let folder = try TemporaryFolder()
        try "carol:{PLAIN}s3cr3t@/x".write(toFile: folder.path + "/users", atomically: true, encoding: .utf8)
        let server = try await NginxServer(
            NginxServer.taking + "auth_basic cache; auth_basic_user_file \(folder.path)/users;")
        let storage = try makeStorage(server.url(user: "carol:s3cr3t%40%2Fx@"))
        try await storage.put(objectName(), [7], seconds: nil)
        let netrc = folder.path + "/netrc"
        try "machine 127.0.0.1 login carol password s3cr3t@/x\n".write(toFile: netrc, atomically: true, encoding: .utf8)
        let known = try makeStorage(server.url()) { $0.netrc = netrc }
        #expect(try await known.get(objectName()) == [7])
        try await known.remove(objectName())
        try "machine 127.0.0.1 login carol password other\n".write(toFile: netrc, atomically: true, encoding: .utf8)
        #expect(await failure { _ = try await known.get(objectName()) } != nil, "the file is read for each request")
        let (wrong, none) = (try makeStorage(server.url(user: "carol:wr0ng@")), try makeStorage(server.url()))
        let refusal = await failure { _ = try await wrong.get(objectName()) }
        #expect(refusal?.description.contains("does not take the credentials of the URL") == true, "\(refusal as Any)")
        #expect(refusal?.description.contains("wr0ng") == false && refusal?.description.contains("carol") == false)
        let demand = await failure { _ = try await none.get(objectName()) }
        #expect(demand?.description.contains("wants credentials") == true, "\(demand as Any)")
    }

    @Test func theAuthoritiesAndTheCertificateOfDownloadsCount() async throws {
        let folder = try TemporaryFolder()
        let own = try TestCertificate("DNS:localhost", in: folder, called: "server")
        let client = try TestCertificate("DNS:client", in: folder, called: "client")
        let server = try await NginxServer(
            NginxServer.taking, tls: (own, "ssl_client_certificate \(client.certificate); ssl_verify_client on;"))
        let known = try makeStorage(server.url()) {
            $0.tls.caFile = own.certificate
            ($0.tls.clientCertificate, $0.tls.clientKey) = (client.certificate, client.key)
        }
        try await known.put(objectName(), [4], seconds: nil)
        let careless = try makeStorage(server.url()) {
            $0.tls.trustedHosts = ["localhost"]
            ($0.tls.clientCertificate, $0.tls.clientKey) = (client.certificate, client.key)
        }
        #expect(try await careless.get(objectName()) == [4])
        let unknown = try makeStorage(server.url())
        let error = await failure { _ = try await unknown.get(objectName()) }
        guard case .unreachable? = error else { return #expect(Bool(false), "\(error as Any)") }
        let nobody = try makeStorage(server.url()) { $0.tls.caFile = own.certificate }
        #expect(await failure { _ = try await nobody.get(objectName()) } != nil)
    }

    @Test func aRedirectDoesNotLeadOutOfTLS() async throws {
        let folder = try TemporaryFolder()
        let own = try TestCertificate("DNS:localhost", in: folder, called: "server")
        let plain = try LocalServer { _ in .reply(200, [:], [1]) }
        let server = try await NginxServer("return 302 \(plain.url("/"));", tls: (own, ""))
        let storage = try makeStorage(server.url()) { $0.tls.caFile = own.certificate }
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(error?.description.contains("without TLS") == true, "\(error as Any)")
        #expect(plain.requests.isEmpty)
    }

    @Test func theClockIsThatOfTheServer() async throws {
        let server = try await NginxServer("")
        let clock = try #require(try await makeStorage(server.url()).wallClock())
        #expect(abs(Double(clock) / 1e9 - Date().timeIntervalSince1970) < 3600)
    }
}
