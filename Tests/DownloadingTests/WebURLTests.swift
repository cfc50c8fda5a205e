import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// What is judged of a URL is what is dialled.
@Suite struct WebURLTests {
    @Test(arguments: [
        ("http://b\u{FC}cher.example:80/\u{FC}?\u{FC}", "xn--bcher-kva.example"),
        ("https://B\u{DC}CHER.example/", "xn--bcher-kva.example"),
        ("http://u:p@b\u{FC}cher.example/", "xn--bcher-kva.example"),
        // Letters that stand for others: an address, and a name of ASCII.
        ("http://\u{FF11}\u{FF12}\u{FF17}.0.0.1/", "127.0.0.1"), ("http://\u{24D4}xample.com/", "example.com"),
        ("http://\u{FF11}\u{FF12}\u{FF17}.1/", "127.0.0.1"),
    ])
    func hostThatIsNotASCIIIsThatWhichIsLookedUp(_ text: String, _ host: String) throws {
        let url = try WebURL(text)
        #expect(url.host == host && url.text.utf8.allSatisfy { $0 < 0x80 })
        #expect(url.origin == "\(url.scheme)://\(host):\(url.isSecure ? 443 : 80)")
        #expect(try WebURL(url.text).text == url.text)
    }

    /// What libcurl dials, or names to a proxy, when it parses the text again.
    @Test(arguments: [
        ("http://%30xa9fea9fe/latest/", "169.254.169.254", "http://169.254.169.254/latest/"),
        ("http://%31%36%39.254.43518/", "169.254.169.254", "http://169.254.169.254/"),
        ("http://%31%32%37.1/", "127.0.0.1", "http://127.0.0.1/"), ("http://%30/", "0.0.0.0", "http://0.0.0.0/"),
        ("http://169.254.169.254./a", "169.254.169.254", "http://169.254.169.254/a"),
        ("http://0177.0.0.1./", "127.0.0.1", "http://127.0.0.1/"),
        ("http://u:p@%31%32%37.1.:81/?%31", "127.0.0.1", "http://127.0.0.1:81/?%31"),
        ("http://ex%61mple.com/%41", "example.com", "http://example.com/%41"),
        ("http://example.com./", "example.com.", "http://example.com./"),
        ("http://1.example.com./", "1.example.com.", "http://1.example.com./"),
        ("http://[fe80::1%25eth0]/", "[fe80::1]", "http://[fe80::1%25eth0]/"),
    ])
    func hostIsThatOfTheTextParsedAgain(_ text: String, _ host: String, _ sent: String) throws {
        let url = try WebURL(text)
        #expect(url.host == host && url.text == sent)
        let again = try WebURL(url.text)
        #expect(again.text == url.text && again.host == url.host && again.origin == url.origin)
        let led = try WebURL("http://start.example/a").following(text, naming: "a")
        #expect(led.text == sent && led.host == host)
    }

    /// What is not given to libcurl is what it would make of it.
    @Test func plainURLIsThatWhichLibcurlParses() throws {
        let pieces = [
            "http", "https", "HTTP", "://", ":", "/", "//", "/.", "/..", ".", "..", "-", "a", "xy", "Z", "0", "1",
            "127", "255",
            "256", "01", "0x7f", "127.0.0.1", "1.2.3.4", "a.b", "www.example.com", ":80", ":443", ":8080", ":0",
            ":65536",
            ":99999999999999999999", "?", "#", "@", "%41", "%", "=", "&", "+", ",", ";", "!", "*", "(", ")", "~", "_",
            " ", "[::1]",
            "\"", "<", "\\", "|", "é", "'", "$",
        ]
        var random = SeededGenerator(seed: 4)
        var plainCount = 0
        for _ in 0..<30_000 {
            let start = Bool.random(using: &random) ? "http://" : Bool.random(using: &random) ? "https://" : ""
            let host =
                Bool.random(using: &random) ? ["a.example", "127.0.0.1", "x"].randomElement(using: &random)! : ""
            let text =
                start + host + (Bool.random(using: &random) ? "/" : "")
                + (0..<Int.random(in: 0...4, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            guard let plain = WebURL(plain: text) else { continue }
            plainCount += 1
            let parsed = try WebURL(text, relativeTo: nil, naming: text)
            #expect(
                plain == parsed && plain.text == text && plain.host == parsed.host && plain.origin == parsed.origin,
                "\(text)")
        }
        #expect(plainCount > 1000)
        for text in ["http://a/", "https://a.b-c.example:8443/x/y_z.png?w=1&h=2", "http://10.0.0.1:81/~u/(1),2;3"] {
            #expect(WebURL(plain: text) != nil, "\(text)")
        }
    }

    /// Browsers end the host at a backslash, libcurl counts it to the user's name: no two readers may see two hosts.
    @Test(arguments: [
        #"http://public.example\@127.0.0.1/"#, #"http://public.example:80\@127.0.0.1/"#, #"http:/\127.0.0.1/"#,
        #"https://a\b:c@127.0.0.1?q"#,
    ])
    func backslashBeforeThePathIsRefused(_ text: String) throws {
        #expect(throws: ImageError.self) { try WebURL(text) }
        let base = try WebURL("https://start.example/a")
        #expect(throws: ImageError.self) { try base.following(text, naming: text) }
        #expect(try WebURL(#"http://127.0.0.1/\@a"#).text == "http://127.0.0.1/%5C@a")
    }

    /// What is written in another way goes to another origin, or to the same.
    @Test(
        arguments: [
            ("http://a/x", "HTTP://A:80/y", true), ("https://a/x", "https://u:p@a:443/y?q", true),
            ("http://127.0.0.1/x", "http://127.1/y", true), ("http:/a/x", "http:///a/y", true),
            ("http://b\u{FC}cher.example/", "http://xn--bcher-kva.example/", true),
            ("http:/a/x", "http:/b/x", false), ("http:///a/x", "http:///b/x", false),
            ("HTTP:a/x", "HTTP:b/x", false), ("http:/a:81/x", "http://a/x", false),
            ("http://a/", "https://a/", false), ("data:,a", "data:,b", false), ("file:///a", "file:///b", false),
        ])
    func credentialsCrossNoOriginsHoweverThoseAreWritten(_ one: String, _ other: String, _ isSame: Bool) {
        var content = RequestContent()
        (content.headers, content.authorization) = (["Cookie": "c", "Accept": "image/x"], .bearer("t"))
        (content.method, content.body) = (.post, [1])
        for (from, to) in [(one, other), (other, one)] {
            let scoped = content.scoped(from: from, to: to)
            #expect(scoped.headers == (isSame ? content.headers : ["Accept": "image/x"]))
            #expect(scoped.authorization == (isSame ? content.authorization : nil))
            #expect(scoped.method == .get && scoped.body == nil)
            let draft = DownloadDraft(url: from, headers: content.headers, method: .post, body: [1]).moved(to: to)
            #expect(draft.headers == scoped.headers && draft.method == (isSame ? .post : .get))
        }
        #expect(content.scoped(from: one, to: one) == content)
    }

    @Test func spacesAreSentAsBrowsersSendThem() throws {
        #expect(try WebURL("http://a/b c?d e=f+g h#i j").text == "http://a/b%20c?d%20e=f+g%20h")
        let base = try WebURL("http://a/b/c")
        #expect(try base.following("d e?f g", naming: "").text == "http://a/b/d%20e?f%20g")
        #expect(try base.following("?f g", naming: "").text == "http://a/b/c?f%20g")
    }

    /// RFC 3986, 3.3 and 3.4. Servers that follow it refuse them as they are.
    @Test func whatCannotStandInAURLIsSentPercentEncoded() throws {
        let odd = #""<>{}^\`"#
        let encoded = "%22%3C%3E%7B%7D%5E%5C%60"
        #expect(try WebURL("http://a/\(odd)/x?q=\(odd)&r#\(odd)").text == "http://a/\(encoded)/x?q=\(encoded)&r")
        #expect(try WebURL("http://a?\(odd)").text == "http://a/?\(encoded)")
        #expect(try WebURL("http://u:p@a:81/\(odd)").text == "http://a:81/\(encoded)")
        #expect(try WebURL("http://a/\u{FC}/%c3%bC?\u{20AC}#\u{FC}").text == "http://a/%C3%BC/%c3%bC?%E2%82%AC")
        #expect(try WebURL("https://b\u{FC}cher.example/\u{FC}").text == "https://xn--bcher-kva.example/%C3%BC")
        let others = "/-._~!$&'()*+,;=:@|[]%41?-._~!$&'()*+,;=:@|[]%41/?"
        #expect(try WebURL("http://a" + others).text == "http://a" + others, "what may stand there stays")
        #expect(try WebURL(WebURL("http://a/\(odd)?\(odd)").text).text == "http://a/\(encoded)?\(encoded)")
        let base = try WebURL("http://a/b/c")
        #expect(try base.following("d\(odd)?\(odd)", naming: "").text == "http://a/b/d\(encoded)?\(encoded)")
        #expect(try base.following("/{d}", naming: "").text == "http://a/%7Bd%7D")
        #expect(try base.following("//e/{d}", naming: "").text == "http://e/%7Bd%7D")
        #expect(try base.following("?{f}", naming: "").text == "http://a/b/c?%7Bf%7D")
    }

    @Test(arguments: ["http://a\"b/", "http://a{b}/", "http://a\\b/c"])
    func hostWithSuchACharacterIsRefused(_ text: String) {
        let error = #expect(throws: ImageError.self) { try WebURL(text) }
        #expect(error?.name == "invalidURL")
    }

    @Test(arguments: ["http://a%0ab:c@host/", "http://a:%09p@host/", "http://a%00:b@host/", "http://%7f%01@host/"])
    func credentialsThatCannotBeSentAreRefused(_ text: String) {
        let error = #expect(throws: ImageError.self) { try WebURL(text) }
        #expect(error?.name == "invalidURL" && "\(error.map { "\($0)" } ?? "")".contains("control character"))
    }

    @Test func hostThatNobodyCanLookUpIsRefused() {
        let error = #expect(throws: ImageError.self) { try WebURL("http://\u{FFFD}.example/") }
        #expect(error?.name == "invalidURL" && "\(error.map { "\($0)" } ?? "")".contains("host"))
    }

    /// A proxy dials for us: only an address that is written out can be judged.
    @Test(arguments: [
        "http://\u{FF11}\u{FF12}\u{FF17}.0.0.1/a", "http://%31%32%37.1/a", "http://%30xa9fea9fe/a",
        "http://127.0.0.1./a",
        "http://0177.0.0.1./a", "https://%31%36%39.254.43518/a",
    ])
    func anAddressInOddDigitsIsJudgedAsAnAddress(_ url: String) async throws {
        let proxy = try LocalServer { _ in .reply(200, [:], hollowPNG(width: 7)) }
        defer { proxy.stop() }
        let downloader = try TestDownloader {
            $0.proxy = .url(proxy.url(""))
            $0.policy.reach = .public
        }
        let error = try await downloader.failure(url)
        #expect(error?.name == "forbiddenAddress" && proxy.requests.isEmpty)
        let lure = try LocalServer { _ in .redirect(to: url) }
        defer { lure.stop() }
        let other = try TestDownloader { $0.proxy = .url(lure.url("")) }
        let refused = try await other.failure("http://public.example/")
        #expect(refused?.name == "forbiddenAddress" && lure.requests.count == 1, "nor by a redirect")
    }
}
