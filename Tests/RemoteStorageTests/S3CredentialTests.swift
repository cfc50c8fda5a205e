import Foundation
import Glibc
import TestSupport
import Testing

@testable import RemoteStorage

@Suite("Where the keys of S3 come from")
struct S3CredentialTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path + "/.aws", withIntermediateDirectories: false)
        try write(
            "credentials",
            """
            # keys
            [default]
            aws_access_key_id = FILEKEY\r
            aws_secret_access_key=file+secret/==
            [work]
            AWS_ACCESS_KEY_ID = WORKKEY
            aws_secret_access_key = worksecret
            aws_session_token = worktoken
            """)
        try write(
            "config",
            """
            [default]
            region = eu-north-1
            s3 =
                addressing_style = path
            [profile work]
            region = ap-south-1
            endpoint_url = http://minio.example:9000
            [profile "sso one"]
            sso_session = main
            region = eu-west-2
            [profile broken]
            """)
    }

    private func write(_ name: String, _ text: String) throws {
        try text.write(toFile: folder.path + "/.aws/" + name, atomically: true, encoding: .utf8)
    }

    private func target(_ url: String, _ variables: [String: String] = [:]) throws -> S3Target {
        let url = try RemoteURL(url)
        guard case .s3(let place) = url.place else { throw RemoteError.malformed }
        let all = variables.merging(["HOME": folder.path]) { one, _ in one }
        return S3Target(place, url, AWSEnvironment { all[$0] })
    }

    @Test func theURLComesBeforeTheEnvironmentAndThatBeforeTheFiles() throws {
        let variables = [
            "AWS_ACCESS_KEY_ID": "ENVKEY", "AWS_SECRET_ACCESS_KEY": "envsecret", "AWS_REGION": "us-west-2",
        ]
        let fromURL = try target("s3://URLKEY:url%2Fsecret@bucket?region=sa-east-1", variables)
        #expect(fromURL.credentials == AWSCredentials(keyID: "URLKEY", secret: "url/secret"))
        #expect(fromURL.base == "https://bucket.s3.sa-east-1.amazonaws.com")
        let fromEnvironment = try target("s3://bucket", variables)
        #expect(fromEnvironment.credentials == AWSCredentials(keyID: "ENVKEY", secret: "envsecret"))
        #expect(fromEnvironment.base == "https://bucket.s3.us-west-2.amazonaws.com")
        let fromFile = try target("s3://bucket")
        #expect(fromFile.credentials == AWSCredentials(keyID: "FILEKEY", secret: "file+secret/=="))
        #expect(fromFile.region == "eu-north-1" && fromFile.problem == nil)
    }

    @Test func aProfileHasItsOwnKeysRegionAndEndpoint() throws {
        let target = try target("s3://bucket/p", ["AWS_PROFILE": "work"])
        #expect(target.credentials == AWSCredentials(keyID: "WORKKEY", secret: "worksecret", token: "worktoken"))
        #expect(target.region == "ap-south-1" && target.base == "http://minio.example:9000/bucket/p")
    }

    @Test(arguments: [
        ("s3://bucket", [:], "https://bucket.s3.us-east-1.amazonaws.com"),
        ("s3://bucket?region=cn-north-1", [:], "https://bucket.s3.cn-north-1.amazonaws.com.cn"),
        ("s3://my.bucket", [:], "https://s3.us-east-1.amazonaws.com/my.bucket"),
        ("s3://bucket?style=path", [:], "https://s3.us-east-1.amazonaws.com/bucket"),
        ("s3://bucket?endpoint=http://localhost:9000", [:], "http://localhost:9000/bucket"),
        ("s3://bucket/p?endpoint=r2.example&style=virtual", [:], "https://bucket.r2.example/p"),
        ("s3://bucket", ["AWS_ENDPOINT_URL": "http://a.example/"], "http://a.example/bucket"),
        (
            "s3://bucket", ["AWS_ENDPOINT_URL": "http://a.example", "AWS_ENDPOINT_URL_S3": "https://b.example:80"],
            "https://b.example:80/bucket"
        ),
        ("s3://bucket", ["AWS_DEFAULT_REGION": "eu-west-3"], "https://bucket.s3.eu-west-3.amazonaws.com"),
    ])
    func hostAndPathAreThoseOfStyleAndEndpoint(url: String, variables: [String: String], base: String) throws {
        #expect(try target(url, variables.merging(["HOME": "/nonexistent"]) { $1 }).base == base)
    }

    @Test func withoutAnyPlaceThereAreNoKeys() throws {
        let target = try target("s3://bucket", ["HOME": "/nonexistent"])
        #expect(target.credentials == nil && target.problem == nil)
    }

    @Test(arguments: [
        (["AWS_PROFILE": "missing"], "AWS_PROFILE"), (["AWS_PROFILE": "sso one"], "export-credentials"),
        (["AWS_ACCESS_KEY_ID": "x"], "not both set"), (["AWS_SECRET_ACCESS_KEY": "x"], "not both set"),
        (["AWS_SHARED_CREDENTIALS_FILE": "/nonexistent"], "AWS_SHARED_CREDENTIALS_FILE"),
        (["AWS_ACCESS_KEY_ID": "x\r\ny", "AWS_SECRET_ACCESS_KEY": "s3cret"], "control character"),
        (["AWS_REGION": "a/b"], "region"), (["AWS_ENDPOINT_URL": "http://carol:s3cret@x"], "endpoint"),
    ])
    func keysThatCannotBeHadAreToldWithTheRequest(variables: [String: String], word: String) async throws {
        let all = variables.merging(["HOME": folder.path]) { one, _ in one }
        let storage = try makeStorage("s3://bucket", environment: AWSEnvironment { all[$0] })
        let error = await failure { _ = try await storage.get(objectName()) }
        #expect(
            error?.description.contains(word) == true && error?.description.contains("s3cret") == false,
            "\(error as Any)")
    }

    @Test func keysOfTheURLNeedNoFiles() throws {
        #expect(try target("s3://a:b@bucket", ["AWS_PROFILE": "missing"]).problem == nil)
    }

    @Test func aPipeOrAHugeFileIsNotRead() throws {
        let path = folder.path + "/.aws/credentials"
        unlink(path)
        mkfifo(path, 0o600)
        #expect(try target("s3://bucket").problem?.contains("cannot be read") == true)
        unlink(path)
        try Data(count: 1 << 20 + 1).write(to: URL(fileURLWithPath: path))
        #expect(try target("s3://bucket").problem?.contains("cannot be read") == true)
    }

    @Test func aFileThatCannotBeReadIsAProblemUnlessTheRegionIsNamedElsewhere() throws {
        let path = folder.path + "/.aws/config"
        unlink(path)
        mkfifo(path, 0o600)
        let keys = ["AWS_ACCESS_KEY_ID": "x", "AWS_SECRET_ACCESS_KEY": "y"]
        #expect(try target("s3://bucket", keys.merging(["AWS_CONFIG_FILE": "/nonexistent"]) { $1 }).problem == nil)
        #expect(try target("s3://bucket", keys).problem?.contains("\(path), the file of") == true)
        #expect(try target("s3://a:b@bucket", keys).problem?.contains("cannot be read") == true)
        #expect(try target("s3://bucket", keys.merging(["AWS_REGION": "eu-central-1"]) { $1 }).problem == nil)
        #expect(try target("s3://bucket?region=eu-central-1", keys).problem == nil)
    }

    @Test func theVariablesOfTheEnvironmentAreReadOnce() {
        let asked = Counter()
        let environment = AWSEnvironment { name in
            asked.add()
            return name == "AWS_REGION" ? "" : nil
        }
        let count = asked.value
        _ = AWSProfile(environment)
        #expect(asked.value == count && environment["AWS_REGION"] == nil)
    }
}
