internal import HTTPSemantics
internal import Platform

/// A challenge to log in by digest, and what answers it (RFC 7616, and RFC 2617 before it): pure.
///
/// libcurl does that too, but by itself: it asks, reads the refusal to its end, and asks again over the same connection, so
/// that a server that withholds the body of its refusal holds the download up. What is left to it is what is not read here:
/// SHA-512/256, `auth-int` alone, and hashed names.
struct DigestChallenge: Hashable, Sendable {
    /// What the digests are made with.
    private enum Algorithm: String { case md5 = "md5", sha256 = "sha-256" }

    let realm: String
    let nonce: String
    private let opaque: String?
    private let algorithm: Algorithm
    /// The algorithm in the words of the server, which are sent back; nil when it has none.
    private let algorithmText: String?
    /// Whether the digest of the password is good for this nonce alone (`-sess`).
    private let isSession: Bool
    /// Whether `qop` is `auth`; without, it is the older way of RFC 2069.
    private let hasQuality: Bool
    /// Whether only the nonce was too old, and not the credentials wrong.
    let isStale: Bool

    /// Reads a challenge; nil for one that is left to libcurl.
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
        // Our part stands in the secret then, and the server would not be told it.
        if isSession, qualities == nil { return nil }
        self.realm = realm
        self.nonce = nonce
        opaque = plain("opaque")
        self.algorithm = algorithm
        algorithmText = challenge.parameters["algorithm"]
        self.isSession = isSession
        hasQuality = qualities != nil
        isStale = challenge.parameters["stale"]?.lowercased() == "true"
    }

    /// Whether a text can stand in a header line, and is what the server said: of bytes that are no UTF-8 nothing is left.
    static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } && !text.unicodeScalars.contains("\u{FFFD}")
    }

    /// The value of the `Authorization` that answers the challenge.
    ///
    /// - Parameters:
    ///   - method: `GET`, or `CONNECT` for a tunnel.
    ///   - target: What the request line asks for, as it is sent.
    ///   - use: The how manieth request it is with this nonce, from 1: a server takes one that does not rise for a replay.
    ///   - own: Our part of the digest, new for each request.
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
        switch algorithm {
        case .md5: Digest(md5Of: text).hex
        case .sha256: Digest(of: text).hex
        }
    }

    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

extension ChallengeList {
    /// The challenge by digest that is answered here; nil when there is none.
    var digest: DigestChallenge? { challenges.lazy.compactMap(DigestChallenge.init).first }
}

extension HTTPRequest {
    /// The `Authorization` that answers the digest challenge of its server; nil when there is nothing to answer.
    func digestAnswer(use: Int, own: @autoclosure () -> String) -> String? {
        guard let digest, case .basic(let user, let password) = authorization else { return nil }
        return digest.answer(
            user: user, password: password, method: method.rawValue,
            target: String(decoding: url.target, as: UTF8.self), use: use, own: own())
    }

    /// The `Proxy-Authorization` that answers the digest challenge of a proxy; nil when there is nothing to answer.
    func digestAnswer(to proxy: String?, use: Int, own: @autoclosure () -> String) -> String? {
        guard let digest = proxyLogin?.digest, case .basic(let user, let password) = proxyLogin?.credentials(for: proxy)
        else { return nil }
        // A tunnel is asked for by host and port, anything else by its whole URL (RFC 9112, 3.2).
        return digest.answer(
            user: user, password: password, method: url.isSecure ? "CONNECT" : method.rawValue,
            target: url.proxyTarget, use: use, own: own())
    }

    /// The same, logging in by digest: by ourselves where we can, else as libcurl does.
    ///
    /// - Parameter sent: The request with the credentials, which the rules of its host may add.
    func speakingDigest(_ challenges: ChallengeList, as sent: HTTPRequest) -> HTTPRequest {
        var outgoing = self
        outgoing.scheme = "digest"
        outgoing.digest = nil
        if case .basic(let user, _) = sent.authorization, DigestChallenge.isPlain(user) {
            outgoing.digest = challenges.digest
        }
        return outgoing
    }
}
