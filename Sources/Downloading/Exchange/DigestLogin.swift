internal import HTTPSemantics
internal import Platform

/// A digest challenge and its answer (RFC 7616, and RFC 2617 before it).
///
/// libcurl can answer one, too, but by itself: it sends the request, reads the rejection to its end, and repeats the
/// request over the same connection, so that a server that withholds the body of its rejection delays the download.
/// libcurl answers the challenges that are not parsed here: SHA-512/256, `auth-int` alone, and hashed user names.
struct DigestChallenge: Hashable, Sendable {
    private enum Algorithm: String { case md5 = "md5", sha256 = "sha-256" }

    let realm: String
    let nonce: String
    private let opaque: String?
    private let algorithm: Algorithm
    /// The algorithm as the server wrote it, which is sent back. `nil`: it named none.
    private let algorithmText: String?
    /// `true` when the digest of the password is valid for this nonce only (`-sess`).
    private let isSession: Bool
    /// `true` when `qop` is `auth`; otherwise the older form of RFC 2069 is used.
    private let hasQuality: Bool
    /// `true` when only the nonce was too old and the credentials were not rejected.
    let isStale: Bool

    /// Parses a challenge. `nil`: libcurl answers it.
    init?(_ challenge: ChallengeList.Challenge) {
        func plain(_ name: String) -> String? {
            challenge.parameters[name].flatMap { Self.isPlain($0) ? $0 : nil }
        }
        guard challenge.scheme == "digest", let realm = plain("realm"), let nonce = plain("nonce"),
            challenge.parameters["opaque"] == nil || plain("opaque") != nil,
            challenge.parameters["userhash"]?.lowercased() != "true"
        else { return nil }
        let name = challenge.parameters["algorithm"]?.lowercased() ?? "md5"
        let isSession = name.hasSuffix("-sess")
        guard let algorithm = Algorithm(rawValue: isSession ? String(name.dropLast(5)) : name) else { return nil }
        let qualities = challenge.parameters["qop"]?.lowercased().split { ", \t".contains($0) }
        if let qualities, !qualities.contains("auth") { return nil }
        // The client nonce is part of the secret then, but the server would not receive it.
        if isSession, qualities == nil { return nil }
        (self.realm, self.nonce, opaque, self.algorithm) = (realm, nonce, plain("opaque"), algorithm)
        (self.isSession, hasQuality) = (isSession, qualities != nil)
        algorithmText = challenge.parameters["algorithm"]
        isStale = challenge.parameters["stale"]?.lowercased() == "true"
    }

    /// `true` when a text can stand in a header line and is what the server sent. Bytes that are not UTF-8 are lost.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !text.unicodeScalars.contains("\u{FFFD}")
    }

    /// The value of the `Authorization` field that answers the challenge for a request line with `method` and `target`.
    ///
    /// - Parameters:
    ///   - use: The number of the request with this nonce, from 1; one that does not increase is taken for a replay.
    ///   - own: The client nonce, new for each request.
    func answer(
        user: String, password: String, method: String = "GET", target: String, use: Int = 1, own: String
    ) -> String {
        let digits = String(use, radix: 16)
        let count = String(repeating: "0", count: max(8 - digits.count, 0)) + digits
        var secret = digest("\(user):\(realm):\(password)")
        if isSession { secret = digest("\(secret):\(nonce):\(own)") }
        let request = digest("\(method):\(target)")
        let middle = hasQuality ? "\(nonce):\(count):\(own):auth" : nonce
        var fields = [
            "username=\(Self.quoted(user))", "realm=\(Self.quoted(realm))", "nonce=\(Self.quoted(nonce))",
            "uri=\(Self.quoted(target))",
        ]
        if hasQuality { fields += ["cnonce=\(Self.quoted(own))", "nc=\(count)", "qop=auth"] }
        fields.append("response=\"\(digest("\(secret):\(middle):\(request)"))\"")
        if let algorithmText { fields.append("algorithm=\(algorithmText)") }
        if let opaque { fields.append("opaque=\(Self.quoted(opaque))") }
        return "Digest " + fields.joined(separator: ", ")
    }

    private func digest(_ text: String) -> String {
        (algorithm == .md5 ? Digest(md5Of: text) : Digest(of: text)).hex
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension ChallengeList {
    /// The digest challenge that this software can answer. `nil`: there is none.
    var digest: DigestChallenge? { challenges.lazy.compactMap(DigestChallenge.init).first }

    /// The digest challenge that this software can answer with these credentials.
    func digest(for credentials: Authorization?) -> DigestChallenge? {
        if case .basic(let user, _) = credentials, DigestChallenge.isPlain(user) { digest } else { nil }
    }
}

extension HTTPRequest {
    /// The `Authorization` field that answers the server's digest challenge. `nil`: there is nothing to answer.
    func digestAnswer(use: Int, own: @autoclosure () -> String) -> String? {
        guard let digest, case .basic(let user, let password) = authorization else { return nil }
        return digest.answer(
            user: user, password: password, method: method.rawValue,
            target: String(decoding: url.target, as: UTF8.self), use: use, own: own())
    }

    /// The `Proxy-Authorization` field that answers a proxy's digest challenge. `nil`: there is nothing to answer.
    func digestAnswer(to proxy: String?, use: Int, own: @autoclosure () -> String) -> String? {
        guard let digest = proxyLogin?.digest, case .basic(let user, let password) = proxyLogin?.credentials(for: proxy)
        else { return nil }
        // The target of a tunnel is host and port, that of other requests the whole URL (RFC 9112, 3.2).
        return digest.answer(
            user: user, password: password, method: url.isSecure ? "CONNECT" : method.rawValue,
            target: url.proxyTarget, use: use, own: own())
    }

    /// The request with digest authentication: answered by this software where it can, else by libcurl.
    ///
    /// - Parameter sent: The request with its credentials, which the rules of its host may have added.
    func usingDigest(_ challenges: ChallengeList, as sent: HTTPRequest) -> HTTPRequest {
        var outgoing = self
        (outgoing.scheme, outgoing.digest) = ("digest", challenges.digest(for: sent.authorization))
        return outgoing
    }
}
