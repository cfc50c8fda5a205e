import Foundation
import TestSupport
import Testing

@testable import RemoteStorage

@Suite("Objects on a server of S3", .enabled(if: S3Python.isInstalled, "\(S3Python.missing)"))
struct S3StorageTests {
    @Test(arguments: ["images", "images/a/b%20c%2B%24%C3%A4!'()*", "images/x~y"])
    func anObjectIsWhatWasPutLast(place: String) async throws {
        let server = try await MotoServer()
        let storage = try makeStorage(server.url(place))
        let name = objectName()
        #expect(try await storage.get(name) == nil)
        for size in [1, 100_000, 2 << 20] {
            let object = hollowPNG(width: 5, count: size + 100)
            try await storage.put(name, object, seconds: 60)
            #expect(try await storage.get(name) == object)
        }
        try await storage.remove(name)
        #expect(try await storage.get(name) == nil)
        try await storage.remove(name)
    }

    @Test func anotherClientFindsAnObjectByItsDecodedKey() async throws {
        let server = try await MotoServer()
        let storage = try makeStorage(server.url("images/a%20b/%C3%A4+1%25"))
        try await storage.put(objectName(), [1, 2, 3], seconds: nil)
        let output = try S3Python.run(
            """
            import boto3
            client = boto3.client("s3", endpoint_url="http://127.0.0.1:\(server.port)", region_name="us-east-1",
                                  aws_access_key_id="a", aws_secret_access_key="b")
            for found in client.list_objects_v2(Bucket="images")["Contents"]:
                body = client.get_object(Bucket="images", Key=found["Key"])["Body"].read()
                print(found["Key"], list(body), end="")
            """)
        #expect(String(decoding: output, as: UTF8.self) == "a b/ä+1%/\(RemoteObject.path(of: objectName())) [1, 2, 3]")
    }

    @Test func aMissingBucketIsAnError() async throws {
        let server = try await MotoServer()
        let storage = try makeStorage(server.url("another-bucket"))
        for error in [
            await failure { _ = try await storage.get(objectName()) },
            await failure { try await storage.put(objectName(), [1], seconds: nil) },
            await failure { try await storage.remove(objectName()) },
        ] { #expect(error?.description.contains("NoSuchBucket") == true, "\(error as Any)") }
    }

    @Test func theClockIsThatOfTheServer() async throws {
        let server = try await MotoServer()
        let clock = try #require(try await makeStorage(server.url()).wallClock())
        #expect(abs(Double(clock) / 1e9 - Date().timeIntervalSince1970) < 3600)
    }
}
