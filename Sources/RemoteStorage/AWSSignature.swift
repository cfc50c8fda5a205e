internal import Platform

/// A pair of keys of AWS, or of one who speaks its protocol.
struct AWSCredentials: Sendable, Hashable {
    let keyID: String
    let secret: String
    /// The token of a pair that is good for some hours only.
    var token: String?
}

/// The signature of a request to S3, by version 4 of AWS's rules. A plain value.
///
/// libcurl could sign as well (`CURLOPT_AWS_SIGV4`). But 7.88, that of Debian 12, signs every header line that it is given,
/// even those that only keep it from sending a field of its own, and sorts them with their values; it leaves the hash of the
/// body out of the fields, which S3 wants. Later versions have other rules for path and fields, and the library is only
/// chosen when the program runs.
struct AWSSignature: Sendable {
    var method: String
    /// Host and port, as the request names them: no port that is the scheme's own.
    var host: String
    /// The path as it is sent: S3 does not encode it again. There is no query.
    var path: String
    /// What is signed beside host, time, token and the hash of the body.
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    /// Seconds since 1970.
    var time: Int
    var region: String
    var credentials: AWSCredentials

    private static let algorithm = "AWS4-HMAC-SHA256"

    /// The time as `20261128T064500Z`.
    private var timestamp: String { ISO8601.text(time).filter { $0 != "-" && $0 != ":" } }

    private var scope: String { "\(timestamp.prefix(8))/\(region)/s3/aws4_request" }

    private var bodyHash: String { body.withUnsafeBytes { Digest(of: $0) }.hex }

    /// What is signed, in the order of its names in lower case.
    private func signed(_ bodyHash: String) -> [(name: String, value: String)] {
        var fields = Dictionary(
            headers.map { ($0.key.lowercased(), Self.trimmed($0.value)) }, uniquingKeysWith: { "\($0),\($1)" })
        fields["host"] = host
        fields["x-amz-content-sha256"] = bodyHash
        fields["x-amz-date"] = timestamp
        fields["x-amz-security-token"] = credentials.token
        return fields.map { (name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
    }

    /// A value without the spaces around it, and with one where there are several.
    private static func trimmed(_ value: String) -> String {
        value.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// What the hash is made of that is signed.
    var canonicalRequest: String { canonicalRequest(bodyHash) }

    private func canonicalRequest(_ bodyHash: String) -> String {
        let signed = signed(bodyHash)
        let names = signed.map(\.name).joined(separator: ";")
        return ([method, path, ""] + signed.map { "\($0.name):\($0.value)" } + ["", names, bodyHash])
            .joined(separator: "\n")
    }

    /// The header fields of the signed request; libcurl adds the host.
    var fields: [String: String] {
        let bodyHash = bodyHash
        let request = canonicalRequest(bodyHash)
        let text = [Self.algorithm, timestamp, scope, Digest(of: request).hex].joined(separator: "\n")
        let key = scope.split(separator: "/").reduce(Array("AWS4\(credentials.secret)".utf8)) { key, word in
            Digest(of: Array(word.utf8), key: key).bytes
        }
        let signature = Digest(of: Array(text.utf8), key: key).hex
        let signed = signed(bodyHash)
        var fields = headers
        for (name, value) in signed where name.hasPrefix("x-amz-") { fields[name] = value }
        fields["Authorization"] =
            "\(Self.algorithm) Credential=\(credentials.keyID)/\(scope), "
            + "SignedHeaders=\(signed.map(\.name).joined(separator: ";")), Signature=\(signature)"
        return fields
    }
}

extension Digest {
    /// The HMAC with SHA-256 of a text (RFC 2104).
    fileprivate init(of text: [UInt8], key: [UInt8]) {
        var block = key.count > 64 ? key.withUnsafeBytes { Digest(of: $0) }.bytes : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = (block.map { $0 ^ 0x36 } + text).withUnsafeBytes { Digest(of: $0) }
        self = (block.map { $0 ^ 0x5C } + inner.bytes).withUnsafeBytes { Digest(of: $0) }
    }
}
