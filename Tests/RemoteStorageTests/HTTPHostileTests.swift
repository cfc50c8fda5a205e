import Downloading
import Foundation
import Glibc
import TestSupport
import Testing

@testable import RemoteStorage

@Suite("HTTP servers that are wrong, slow or sly")
struct HTTPHostileTests {
    private func server(_ script: Script) throws -> (LocalServer, any RemoteStorage) {
        let server = try LocalServer { _ in script }
        return (server, try makeStorage(server.url("/cache")))
    }

    private func error(of script: Script) async throws -> RemoteError? {
        let (server, storage) = try server(script)
        defer { server.stop() }
        return await failure { _ = try await storage.get(objectName()) }
    }

    @Test func anObjectThatIsTooLargeIsRefusedByItsHead() async throws {
        // The body never comes.
        #expect(try await error(of: .head(200, length: 50 << 20).waiting(for: Gate())) == .tooLarge)
    }

    @Test func anObjectWithoutEndIsRefusedAtTheLimit() async throws {
        let piece = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        let script = Script.head(200, ["Transfer-Encoding": "chunked"], length: nil).endlessly(piece)
        #expect(try await error(of: script) == .tooLarge)
    }

    @Test func aTruncatedObjectIsNone() async throws {
        let error = try await error(of: .head(200, length: 1000).raw([UInt8](repeating: 1, count: 500)).closing())
        guard case .unreachable? = error else { return #expect(Bool(false), "\(error as Any)") }
    }

    @Test func whatIsNotHTTPIsNoObject() async throws {
        #expect(try await error(of: Script.empty.raw("-ERR unknown command\r\n").closing()) != nil)
    }

    @Test(arguments: [
        (500, "it failed: status 500"), (503, "it failed: status 503"), (429, "too many requests"),
        (403, "forbids to read"), (304, "status 304"), (206, "does not know"), (204, "does not know"),
    ])
    func aWrongStatusIsAnError(status: Int, words: String) async throws {
        let error = try await error(of: .reply(status, [:], status == 204 || status == 304 ? [] : [1]))
        #expect(error?.description.contains(words) == true, "\(error as Any)")
    }

    @Test(arguments: [404, 410])
    func whatIsNotThereIsAbsent(status: Int) async throws {
        let (_, storage) = try server(.reply(status, [:], ascii("nothing here")))
        #expect(try await storage.get(objectName()) == nil)
    }

    @Test(arguments: [
        (507, "507, it is full"), (413, "413, the object is too large"), (409, "create_full_put_path"),
        (405, "set remoteMode to read-only"), (501, "set remoteMode to read-only"),
        (403, "set remoteMode to read-only"),
        (200, nil), (201, nil), (204, nil), (404, "status 404"), (502, "it failed"),
    ])
    func aStatusTellsWhyNothingWasWritten(status: Int, words: String?) async throws {
        let (_, storage) = try server(.reply(status, [:], []))
        let error = await failure { try await storage.put(objectName(), [1], seconds: nil) }
        if let words {
            #expect(error?.description.contains(words) == true, "\(error as Any)")
        } else {
            #expect(error == nil)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func whatIsWrittenIsNotRedirected(status: Int) async throws {
        let target = try LocalServer { _ in .reply(200, [:], []) }
        let (_, storage) = try server(.redirect(to: target.url("/elsewhere"), status: status))
        for error in [
            await failure { try await storage.put(objectName(), [1], seconds: nil) },
            await failure { try await storage.remove(objectName()) },
        ] { #expect(error?.description.contains("redirects") == true, "\(error as Any)") }
        #expect(target.requests.isEmpty)
    }

    @Test func credentialsDoNotFollowARedirectToAnotherServer() async throws {
        let target = try LocalServer { _ in .reply(200, [:], [9]) }
        let first = try LocalServer { _ in .redirect(to: target.url("/object")) }
        let storage = try makeStorage("http://t0ken@127.0.0.1:\(first.port)/cache")
        #expect(try await storage.get(objectName()) == [9])
        #expect(first.requests.map { $0.headers["authorization"] } == ["Bearer t0ken"])
        #expect(target.requests.map { $0.headers["authorization"] } == [nil])
    }

    @Test func redirectsInACircleEnd() async throws {
        let server = try LocalServer { .redirect(to: $0.path + "x") }
        let storage = try makeStorage(server.url("/cache"))
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(error?.description.contains("redirects") == true, "\(error as Any)")
    }

    @Test func oneConnectionServesReadingWritingAndRemoving() async throws {
        let server = try LocalServer { .reply(200, [:], $0.method == "GET" ? [1] : []) }
        let storage = try makeStorage(server.url("/cache"))
        for _ in 0..<5 {
            _ = try await storage.get(objectName())
            try await storage.put(objectName(), [1, 2], seconds: nil)
            try await storage.remove(objectName())
        }
        #expect(server.connectionCount == 1)
        #expect(server.requests.prefix(3).map(\.method) == ["GET", "PUT", "DELETE"])
        #expect(server.requests[1].body == [1, 2])
    }

    @Test func aWriteOverAConnectionThatTheServerHasClosedIsMadeAgain() async throws {
        let server = try LocalServer { request in
            request.method == "GET" ? Script.reply(200, [:], [1]).closing() : .reply(200, [:], [])
        }
        let storage = try makeStorage(server.url("/cache"))
        for _ in 0..<10 {
            _ = try await storage.get(objectName())
            try await storage.put(objectName(), [1, 2], seconds: nil)
        }
    }

    @Test func equalRequestsAreSentEach() async throws {
        let gate = Gate()
        let server = try LocalServer { _ in Script.empty.waiting(for: gate).followed(by: .reply(200, [:], [3])) }
        let storage = try makeStorage(server.url("/cache"))
        let (one, other) = (Task { try await storage.get(objectName()) }, Task { try await storage.get(objectName()) })
        try await eventually("both have come") { server.requests.count == 2 }
        gate.open()
        #expect(try await one.value == [3])
        #expect(try await other.value == [3])
    }

    @Test func aCancelledTaskDropsItsConnection() async throws {
        let (server, storage) = try server(Script.empty.waiting(for: Gate()))
        let task = Task { try await storage.get(objectName()) }
        try await eventually("it has come") { server.requests.count == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await eventually("it is gone") { server.openCount == 0 }
    }

    @Test func aServerMayBeSilentForAsLongAsIsSet() async throws {
        let (server, patient) = try server(Script.empty.waiting(for: Gate()))
        let waiting = Task { try await patient.get(objectName()) }
        try await eventually("it has come") { server.requests.count == 1 }
        let storage = try makeStorage(server.url("/cache"), silenceSeconds: 0.1)
        #expect(await failure { _ = try await storage.get(objectName()) } == .timedOut)
        try await eventually("only the other one waits") { server.openCount == 1 }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func aServerThatNeverAnswersTheHandshakeIsUnreachableByTheConnectLimit() async throws {
        let server = try LocalServer { _ in .empty }
        let storage = try makeStorage("https://127.0.0.1:\(server.port)/cache", connectSeconds: 0.1)
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(error == .unreachable("no connection could be made in time"))
    }

    @Test func aServerThatAcceptsNobodyIsUnreachableByTheConnectLimit() async throws {
        let server = try FullPort()
        let storage = try makeStorage("http://127.0.0.1:\(server.number)/cache", connectSeconds: 0.1)
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(error == .unreachable("no connection could be made in time"))
    }

    @Test func aServerThatIsNotThereIsUnreachable() async throws {
        let port = try DeafPort()
        let storage = try makeStorage(port.url("/cache"))
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(error?.description.contains("connection refused") == true, "\(error as Any)")
    }

    @Test func whatIsSetForImagesDoesNotCount() async throws {
        let folder = try TemporaryFolder()
        let cookies = folder.path + "/cookies"
        try "127.0.0.1\tFALSE\t/\tFALSE\t0\tuser\tcarol\n".write(toFile: cookies, atomically: true, encoding: .utf8)
        let server = try LocalServer { _ in .reply(200, [:], [1]) }
        let storage = try makeStorage(server.url("/cache")) {
            $0.policy.allowedHosts = ["images.example"]
            $0.policy.allowedSchemes = ["https"]
            $0.policy.reach = .public
            $0.cookieFile = cookies
            $0.rules.hosts = [HostRule(hosts: ["127.0.0.1"])]
            $0.rules.hosts[0].headers = ["X-Own": "1"]
            $0.startsPerSecond = 0.001
            $0.burst = 1
        }
        for _ in 0..<3 { #expect(try await storage.get(objectName()) == [1]) }
        #expect(server.requests.allSatisfy { $0.headers["cookie"] == nil && $0.headers["x-own"] == nil })
    }

    @Test func theProxyOfDownloadsIsUsed() async throws {
        let proxy = try LocalServer { _ in .reply(200, [:], [8]) }
        let storage = try makeStorage("http://cache.invalid/images") {
            $0.proxy = .url("http://127.0.0.1:\(proxy.port)")
        }
        #expect(try await storage.get(objectName()) == [8])
        #expect(proxy.requests.map(\.path) == ["http://cache.invalid/images/\(RemoteObject.path(of: objectName()))"])
    }

    @Test func theClockOfACachedAnswerGoesOn() async throws {
        let (_, storage) = try server(.reply(404, ["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Age": "100"], []))
        #expect(try await storage.wallClock() == (784_111_777 + 100) * 1_000_000_000)
        let (_, silent) = try server(.reply(404, [:], []))
        #expect(try await silent.wallClock() == nil)
    }
}

/// A port that nobody accepts connections at, and whose queue for them is full.
private final class FullPort: Sendable {
    let number: UInt16
    private let descriptors: [Int32]

    init() throws {
        func make() -> Int32 {
            socket(
                AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        }
        let listener = make()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        var descriptors = [listener]
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                guard bind(listener, pointer, size) == 0, listen(listener, 0) == 0,
                    getsockname(listener, pointer, &size) == 0
                else { return false }
                for _ in 0..<8 {
                    descriptors.append(make())
                    _ = connect(descriptors[descriptors.count - 1], pointer, size)
                }
                return true
            }
        }
        (number, self.descriptors) = (UInt16(bigEndian: address.sin_port), descriptors)
        guard isBound else { throw PatienceExhausted(description: "no port could be had") }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }
}
