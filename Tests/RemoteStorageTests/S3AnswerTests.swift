import TestSupport
import Testing

@testable import RemoteStorage

@Suite("What is asked of S3, and what its answers mean")
struct S3AnswerTests {
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let seconds = 784_111_777

    private func storage(
        of server: LocalServer, keys: String = "AKIAKEY:s3cret@", now: Int = seconds + 5,
        _ variables: [String: String] = [:]
    ) throws -> any RemoteStorage {
        try makeStorage(
            "s3://\(keys)bucket/a%20b?endpoint=http://127.0.0.1:\(server.port)",
            environment: AWSEnvironment { variables[$0] }, now: now)
    }

    private static func script(_ status: Int, _ code: String?, _ more: String = "", headers: [String: String] = [:])
        -> Script
    {
        let text =
            "<?xml version=\"1.0\"?><Error><Code>\(code ?? "")</Code><Message>AKIAKEY s3cret</Message>\(more)</Error>"
        return .reply(status, headers.merging(["Date": date]) { $1 }, code == nil ? [] : ascii(text))
    }

    @Test func aRequestIsSentAsItIsSigned() async throws {
        let server = try LocalServer { _ in .reply(200, [:], []) }
        let storage = try storage(
            of: server, keys: "",
            ["AWS_ACCESS_KEY_ID": "AKIAKEY", "AWS_SECRET_ACCESS_KEY": "s3cret", "AWS_SESSION_TOKEN": "t0ken"])
        try await storage.put(objectName(), [1, 2], seconds: nil)
        _ = try await storage.get(objectName())
        try await storage.remove(objectName())
        let requests = server.requests
        #expect(requests.map(\.method) == ["PUT", "GET", "DELETE"])
        for request in requests {
            #expect(request.path == "/bucket/a%20b/\(RemoteObject.path(of: objectName()))")
            #expect(request.headers["host"] == "127.0.0.1:\(server.port)")
            #expect(request.headers["x-amz-security-token"] == "t0ken")
            let signed = AWSSignature(
                method: request.method, host: request.headers["host"] ?? "", path: request.path,
                headers: request.headers["content-type"].map { ["Content-Type": $0] } ?? [:], body: request.body,
                time: Self.seconds + 5, region: "us-east-1",
                credentials: AWSCredentials(keyID: "AKIAKEY", secret: "s3cret", token: "t0ken"))
            for (name, value) in signed.fields { #expect(request.headers[name.lowercased()] == value) }
        }
    }

    @Test func withoutKeysNothingIsSigned() async throws {
        let server = try LocalServer { $0.method == "GET" ? .reply(200, [:], [5]) : Self.script(403, "AccessDenied") }
        let storage = try storage(of: server, keys: "")
        #expect(try await storage.get(objectName()) == [5])
        #expect(server.requests[0].headers.keys.allSatisfy { $0 != "authorization" && !$0.hasPrefix("x-amz") })
        let error = await failure { try await storage.put(objectName(), [1], seconds: nil) }
        #expect(error?.description.contains("without keys") == true, "\(error as Any)")
    }

    @Test(arguments: [(404, "NoSuchKey"), (404, nil), (404, "NotFound")])
    func aMissingObjectIsAbsent(status: Int, code: String?) async throws {
        let server = try LocalServer { _ in Self.script(status, code) }
        #expect(try await storage(of: server).get(objectName()) == nil)
    }

    @Test(arguments: [
        (403, "SignatureDoesNotMatch", "", "secret does not fit"), (403, "InvalidAccessKeyId", "", "ID of the key"),
        (400, "ExpiredToken", "", "session token"), (404, "NoSuchBucket", "", "no such bucket"),
        (403, "AccessDenied", "", "s3:ListBucket"), (403, nil, "", "s3:GetObject"),
        (400, "AuthorizationHeaderMalformed", "<Region>eu-west-3</Region>", "region=eu-west-3"),
        (301, "PermanentRedirect", "", "region=, endpoint="),
        (400, "AuthorizationHeaderMalformed", "<Region>a b</Region>", "another region,"),
        (503, "SlowDown", "", "it failed: status 503 (SlowDown)"), (500, nil, "", "it failed: status 500"),
        (403, "RequestTimeTooSkewed", "", "1005 s ahead of"), (400, "<b>", "", "status 400"),
        (405, "MethodNotAllowed", "", "status 405 (MethodNotAllowed)"),
    ])
    func anErrorSaysPlainlyWhatIsWrong(status: Int, code: String?, more: String, words: String) async throws {
        let server = try LocalServer { _ in Self.script(status, code, more) }
        let storage = try storage(of: server, now: Self.seconds + 1005)
        let error = await failure { _ = try await storage.get(objectName()) }
        let text = error?.description ?? ""
        #expect(text.contains(words), "\(text)")
        #expect(!text.contains("AKIA") && !text.contains("s3cret"))
    }

    @Test(arguments: [
        (403, "AccessDenied", "s3:PutObject"), (507, "XMinioStorageFull", "it is full"), (507, nil, "it is full"),
        (400, "EntityTooLarge", "too large"), (413, nil, "too large"), (405, nil, "read-only"),
        (501, "NotImplemented", "status 501"),
        (503, nil, "it failed"),
    ])
    func aFailedWriteSaysWhy(status: Int, code: String?, words: String) async throws {
        let server = try LocalServer { _ in Self.script(status, code) }
        let storage = try storage(of: server)
        let error = await failure { try await storage.put(objectName(), [1], seconds: nil) }
        #expect(error?.description.contains(words) == true, "\(error as Any)")
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let target = try LocalServer { _ in .reply(200, [:], [1]) }
        let server = try LocalServer { _ in .redirect(to: target.url("/"), status: 307) }
        let storage = try storage(of: server)
        #expect(await failure { _ = try await storage.get(objectName()) } != nil)
        #expect(await failure { try await storage.put(objectName(), [1], seconds: nil) } != nil)
        #expect(target.requests.isEmpty)
    }

    @Test func aRegionInTheHeadOfARedirectIsTold() async throws {
        let server = try LocalServer { _ in Self.script(301, nil, headers: ["x-amz-bucket-region": "ap-south-1"]) }
        let storage = try storage(of: server)
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(error?.description.contains("region=ap-south-1") == true, "\(error as Any)")
    }

    @Test func aClockThatIsBehindIsToldEvenFromARefusal() async throws {
        let server = try LocalServer { _ in Self.script(403, "RequestTimeTooSkewed") }
        let storage = try storage(of: server, now: Self.seconds - 3600)
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(error?.description.contains("3600 s behind the server's") == true, "\(error as Any)")
        #expect(try await storage.wallClock() == Self.seconds * 1_000_000_000)
    }
}
