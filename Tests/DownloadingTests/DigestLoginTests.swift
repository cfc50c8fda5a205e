import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Logging in by digest (RFC 7616).
@Suite struct DigestLoginTests {
    private func answer(
        _ challenge: String, user: String = "Mufasa", password: String, target: String = "/dir/index.html", own: String
    ) throws -> String {
        let digest = try #require(ChallengeList(challenge).digest)
        return digest.answer(user: user, password: password, target: target, own: own)
    }

    /// The examples of RFC 7616, 3.9.1, and of RFC 2617, 3.5.
    @Test func theExamplesOfTheStandardsComeOut() throws {
        let start =
            #"Digest realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", algorithm="#
        let own = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            #expect(
                try answer(start + algorithm, password: "Circle of Life", own: own)
                    == #"Digest username="Mufasa", realm="http-auth@example.org", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", uri="/dir/index.html", cnonce="\#(own)", nc=00000001, qop=auth, response="\#(response)", algorithm=\#(algorithm), opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
            )
        }
        let older = try answer(
            #"Digest realm="testrealm@host.com", qop="auth", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#,
            password: "Circle Of Life", own: "0a4f113b")
        #expect(older.contains(#"response="6629fae49393a05397450978507c4ef1""#) && !older.contains("algorithm"))
    }

    @Test func withoutAQualityItIsTheWayOfRFC2069() throws {
        let text = try answer(#"Digest realm="r", nonce="n""#, user: "u", password: "p", target: "/a", own: "o")
        // MD5 of "md5(u:r:p):n:md5(GET:/a)".
        let inner = Digest(md5Of: "u:r:p").hex + ":n:" + Digest(md5Of: "GET:/a").hex
        #expect(text.hasSuffix("uri=\"/a\", response=\"\(Digest(md5Of: inner).hex)\""))
    }

    /// RFC 7616, 3.4: eight hexadecimal digits that rise with each request.
    @Test func requestsWithOneNonceAreCounted() throws {
        let digest = try #require(ChallengeList(#"Digest realm="r", nonce="n", qop=auth"#).digest)
        for (use, count) in [(1, "00000001"), (2, "00000002"), (26, "0000001a")] {
            let text = digest.answer(user: "u", password: "p", target: "/a", use: use, own: "o")
            let inner = Digest(md5Of: "u:r:p").hex + ":n:\(count):o:auth:" + Digest(md5Of: "GET:/a").hex
            #expect(text.contains("nc=\(count), qop=auth, response=\"\(Digest(md5Of: inner).hex)\""))
        }
    }

    @Test func quotesAreEscapedAndHashedAsTheyAre() throws {
        let text = try answer(
            #"Digest realm="a\"b\\c", nonce="n", algorithm=MD5-sess, qop=auth"#, user: #"u"1"#, password: "p",
            target: "/a", own: "o")
        #expect(text.hasPrefix(#"Digest username="u\"1", realm="a\"b\\c", nonce="n""#))
        let secret = Digest(md5Of: Digest(md5Of: #"u"1:a"b\c:p"#).hex + ":n:o").hex
        let response = Digest(md5Of: "\(secret):n:00000001:o:auth:\(Digest(md5Of: "GET:/a").hex)").hex
        #expect(text.contains("response=\"\(response)\"") && text.hasSuffix("algorithm=MD5-sess"))
    }

    @Test func whatIsNotReadHereIsLeftToTheLibrary() {
        for text in [
            #"Basic realm="r", nonce="n""#, #"Digest realm="r""#, #"Digest nonce="n""#,
            #"Digest realm="r", nonce="n", algorithm=SHA-512-256"#, #"Digest realm="r", nonce="n", algorithm=sess"#,
            #"Digest realm="r", nonce="n", qop="auth-int""#, #"Digest realm="r", nonce="n", userhash=true"#,
            // Our part stands in the secret, and there is no field to tell it in.
            #"Digest realm="r", nonce="n", algorithm=MD5-sess"#,
            // Bytes that are no UTF-8 have been lost on the way here.
            "Digest realm=\"Gesch\u{FFFD}tzt\", nonce=\"n\"", "Digest realm=\"r\", nonce=\"n\", opaque=\"\u{FFFD}\"",
        ] {
            #expect(ChallengeList(text).digest == nil, "\(text)")
        }
        let second = ChallengeList(#"Digest realm="r", nonce="n", algorithm=SHA-512-256, Digest realm="r", nonce="m""#)
        #expect(second.digest?.nonce == "m")
        #expect(ChallengeList(#"Digest realm="r", nonce="n", stale=TRUE"#).digest?.isStale == true)
    }
}
