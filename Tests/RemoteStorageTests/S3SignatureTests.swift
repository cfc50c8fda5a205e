import Foundation
import TestSupport
import Testing

@testable import RemoteStorage

@Suite("The signature of requests to S3")
struct S3SignatureTests {
    private static let credentials = AWSCredentials(
        keyID: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")

    /// The examples of AWS's documentation, "Signature Calculations for the Authorization Header".
    @Test(arguments: [
        (
            "GET", "/test.txt", ["Range": "bytes=0-9"], "", "host;range;x-amz-content-sha256;x-amz-date",
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        (
            "PUT", "/test%24file.text",
            ["Date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"],
            "Welcome to Amazon S3.", "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
    ])
    func theExamplesOfAWSAreSignedAsThere(
        method: String, path: String, headers: [String: String], body: String, signed: String, signature: String
    ) {
        let fields = AWSSignature(
            method: method, host: "examplebucket.s3.amazonaws.com", path: path, headers: headers, body: ascii(body),
            time: 1_369_353_600, region: "us-east-1", credentials: Self.credentials
        ).fields
        #expect(
            fields["Authorization"]
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=\(signed), Signature=\(signature)"
        )
        #expect(fields["x-amz-date"] == "20130524T000000Z")
    }

    /// One request in the form that the program below reads.
    private struct Case: Codable {
        var method, endpoint, bucket, style, key, url, region, keyID, secret, body, canonical, authorization: String
        var token: String?
        var time: Int
        var headers: [String: String]
    }

    private static let program = """
        import datetime, json, sys
        from botocore import auth, awsrequest, credentials
        from botocore.utils import percent_encode
        wrong = []
        for case in json.load(sys.stdin):
            path = percent_encode(case["key"], safe="/~")
            scheme, _, host = case["endpoint"].partition("://")
            url = (f"{scheme}://{case['bucket']}.{host}/{path}" if case["style"] == "virtual"
                   else f"{scheme}://{host}/{case['bucket']}/{path}")
            request = awsrequest.AWSRequest(method=case["method"], url=url, headers=dict(case["headers"]),
                                            data=bytes.fromhex(case["body"]))
            moment = datetime.datetime.fromtimestamp(case["time"], datetime.timezone.utc).replace(tzinfo=None)
            auth.get_current_datetime = lambda: moment
            signer = auth.S3SigV4Auth(credentials.Credentials(case["keyID"], case["secret"], case.get("token")), "s3",
                                      case["region"])
            seen = []
            hash = signer.canonical_request
            signer.canonical_request = lambda request: seen.append(hash(request)) or seen[-1]
            signer.add_auth(request)
            if (url, seen[0], request.headers["Authorization"]) != (case["url"], case["canonical"], case["authorization"]):
                wrong.append([url, case["url"], seen[0], case["canonical"], request.headers["Authorization"],
                              case["authorization"]])
        print(json.dumps(wrong))
        """

    @Test(.enabled(if: S3Python.isInstalled, "\(S3Python.missing)"))
    func twoHundredRandomRequestsAreSignedAsBotocoreDoes() throws {
        var generator = SeededGenerator(seed: 6)
        func pick<Element>(_ all: [Element]) -> Element { all[Int.random(in: 0..<all.count, using: &generator)] }
        func text(_ letters: String, _ count: ClosedRange<Int>) -> String {
            String((0..<Int.random(in: count, using: &generator)).map { _ in pick(Array(letters)) })
        }
        let plain = "abcdefghijklmnopqrstuvwxyz0123456789"
        let cases = try (0..<200).map { _ in
            let method = pick(["GET", "PUT", "DELETE", "HEAD"])
            let style = pick(["path", "virtual"])
            let endpoint =
                pick(["http://", "https://"]) + text(plain, 1...9) + "." + pick(["example", "co.example"])
                + pick(["", ":9000", ":80", ":443", ":1"])
            let bucket = text(plain, 3...20)
            let words = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                text("abcXYZ019 -_.~!*'();:@&=+$,?%#[]{}|\\^`\"<>äß漢🙂é", 1...12) + "x"
            }
            let region = pick(["us-east-1", "eu-west-1", "auto", "cn-north-1", "garage", text(plain, 1...20)])
            let name = objectName(text(plain, 1...8))
            let prefix = S3Location.encoded(words.joined(separator: "/"))
            let token = pick([nil, text(plain + "+/=", 20...300)])
            let url = try RemoteURL(
                "s3://\(bucket)/\(prefix)?region=\(region)&style=\(style)&endpoint=\(endpoint)")
            guard case .s3(let place) = url.place else { throw RemoteError.malformed }
            let variables = [
                "AWS_ACCESS_KEY_ID": text(plain.uppercased(), 16...20),
                "AWS_SECRET_ACCESS_KEY": text(plain + "+/", 1...90),
                "AWS_SESSION_TOKEN": token,
            ]
            let target = S3Target(place, url, AWSEnvironment { variables[$0] ?? nil })
            let credentials = try #require(target.credentials)
            let body = method == "PUT" ? Array(text(plain, 0...300).utf8) : []
            let headers = method == "PUT" ? ["Content-Type": pick(["application/octet-stream", "a/b;  c=d "])] : [:]
            let time = Int.random(in: 0..<4_000_000_000, using: &generator)
            let path = RemoteObject.path(of: name)
            let signature = AWSSignature(
                method: method, host: target.host, path: "\(target.path)/\(path)", headers: headers, body: body,
                time: time,
                region: target.region, credentials: credentials)
            return Case(
                method: method,
                endpoint: endpoint.replacing(/^(http:..[^:]*):80$/, with: { $0.output.1 })
                    .replacing(/^(https:..[^:]*):443$/, with: { $0.output.1 }),
                bucket: bucket, style: style, key: (words + [path]).joined(separator: "/"),
                url: "\(target.base)/\(path)",
                region: region, keyID: credentials.keyID, secret: credentials.secret,
                body: body.map { String(format: "%02x", $0) }.joined(), canonical: signature.canonicalRequest,
                authorization: signature.fields["Authorization"] ?? "", token: token, time: time, headers: headers)
        }
        #expect(cases.contains { $0.token != nil } && cases.contains { $0.token == nil })
        let output = try S3Python.run(Self.program, input: Array(try JSONEncoder().encode(cases)))
        let wrong = try JSONDecoder().decode([[String]].self, from: Data(output))
        #expect(wrong == [])
    }
}
