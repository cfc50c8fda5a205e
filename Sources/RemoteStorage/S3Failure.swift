internal import HTTPSemantics

/// What an answer of S3 says went wrong. Of its text only words of a known form are repeated.
struct S3Failure: Sendable {
    private let status: Int
    /// The word for it, such as `NoSuchKey`.
    let code: String?
    /// The region that the bucket is in.
    private let region: String?
    private let answer: HTTPClient.Answer

    init(_ answer: HTTPClient.Answer) {
        (status, self.answer) = (answer.status, answer)
        let text = String(decoding: answer.body.prefix(4096), as: UTF8.self)
        code = Self.element("Code", of: text)
        let region = answer.fields["x-amz-bucket-region"] ?? Self.element("Region", of: text)
        self.region = region.flatMap { S3Location.isRegion($0) ? $0 : nil }
    }

    /// The content of an element of letters, digits, dots and hyphens.
    private static func element(_ name: String, of text: String) -> String? {
        guard let start = text.firstRange(of: "<\(name)>")?.upperBound else { return nil }
        let word = text[start...].prefix { $0 != "<" }
        let isWord =
            (1...64).contains(word.utf8.count)
            && word.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x2D || byte == 0x2E
            }
        return isWord ? String(word) : nil
    }

    func error(to method: RequestMethod, _ target: S3Target, now: Int) -> RemoteError {
        let word = code.map { "status \(status) (\($0))" } ?? "status \(status)"
        func refused(_ advice: String) -> RemoteError { .refused("\(word), \(advice)") }
        let elsewhere =
            region.map { "the bucket is in another region (region=\($0))" }
            ?? "the bucket is in another region, or at another endpoint (region=, endpoint=)"
        switch code {
        case "SignatureDoesNotMatch":
            return refused("the secret does not fit the ID of the key, or a proxy changes the request")
        case "InvalidAccessKeyId": return refused("it does not know the ID of the key")
        case "ExpiredToken", "InvalidToken", "TokenRefreshRequired":
            return refused("the session token is too old or not its own; start again with new keys")
        case "RequestTimeTooSkewed", "RequestExpired":
            return refused(skew(now) ?? "the clock of this machine is wrong")
        case "NoSuchBucket": return refused("there is no such bucket at this endpoint")
        case "AuthorizationHeaderMalformed", "PermanentRedirect", "TemporaryRedirect",
            "IllegalLocationConstraintException":
            return refused(elsewhere)
        case "EntityTooLarge": return refused("the object is too large for it")
        case "QuotaExceeded", "XMinioStorageFull", "InsufficientStorage": return refused("it is full")
        case "SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "OperationAborted":
            return .failed(word)
        default: break
        }
        switch status {
        case 301, 307: return refused(elsewhere)
        case 403: return refused(permission(method, target))
        default:
            guard code != nil else { return answer.error(to: method) }
            return status >= 500 && status != 501 && status != 507 ? .failed(word) : .refused(word)
        }
    }

    /// What it takes to be allowed to.
    private func permission(_ method: RequestMethod, _ target: S3Target) -> String {
        if target.credentials == nil {
            return "it lets nobody in without keys (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
        }
        return switch method {
        case .get:
            "the keys may not read: allow them s3:GetObject, and s3:ListBucket, without which S3 answers so for an object that is not there"
        case .delete: "the keys may not remove: allow them s3:DeleteObject"
        default: "the keys may not write: allow them s3:PutObject, or set remoteMode to read-only"
        }
    }

    /// How far this machine's clock is off.
    private func skew(_ now: Int) -> String? {
        guard let clock = answer.clock else { return nil }
        return "the clock of this machine is \(abs(now - clock)) s \(now > clock ? "ahead of" : "behind") the server's"
    }
}
