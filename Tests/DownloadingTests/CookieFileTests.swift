import Foundation
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Cookies of a file, and the hosts that get to see them.
@Suite struct CookieFileTests {
    private let folder: TemporaryFolder
    private var file: String { folder.path + "/cookies.txt" }

    init() throws { folder = try TemporaryFolder() }

    private static let text = """
        # Netscape HTTP Cookie File
        #HttpOnly_.example.com\tTRUE\t/\tFALSE\t0\tsession\ts1
        example.com\tFALSE\t/deep\tFALSE\t2000000000\tdeep\td=1
        .example.com\tTRUE\t/\tTRUE\t2000000000\tsecure\tx
        example.com\tFALSE\t/\tFALSE\t1000\told\tgone
        127.0.0.1\tTRUE\t/\tFALSE\t0\tlocal\tl
        Example.ORG\tFALSE\t/a/\tFALSE\t0\tempty
        broken line
        example.com\tFALSE\t/\tFALSE\t0\tbad\u{1}\tx
        example.com\tFALSE\t/\tFALSE\t0\t\tnameless
        """

    @Test(arguments: [
        ("https://example.com/", "session=s1; secure=x"), ("http://example.com/", "session=s1"),
        ("http://sub.example.com/x", "session=s1"), ("http://notexample.com/", nil), ("http://com/", nil),
        ("https://example.com/deep", "deep=d=1; session=s1; secure=x"),
        ("http://example.com/deep/er?q", "deep=d=1; session=s1"), ("http://example.com/deeper", "session=s1"),
        ("http://sub.example.com/deep", "session=s1"), ("http://127.0.0.1/", "local=l"), ("http://1.127.0.0.1.x/", nil),
        ("http://example.org/a/b", "empty="), ("http://example.org/a", nil), ("http://example.com.evil/", nil),
        ("http://EXAMPLE.com?x", "session=s1"),
    ])
    func cookiesAreSentToTheirHostsAndPathsOnly(_ url: String, _ wanted: String?) throws {
        let cookies = Cookie.parse(Array(Self.text.utf8))
        #expect(try Cookie.value(of: cookies, for: WebURL(url), now: 1_800_000_000) == wanted)
    }

    @Test func cookieEndsWithItsTime() throws {
        let cookies = Cookie.parse(Array("a\tFALSE\t/\tFALSE\t100\tn\tv".utf8))
        let url = try WebURL("http://a/")
        #expect(Cookie.value(of: cookies, for: url, now: 99) == "n=v")
        #expect(Cookie.value(of: cookies, for: url, now: 100) == nil)
    }

    @Test func ofTwoWithOneNameTheLaterCounts() throws {  // RFC 6265, 5.3
        let lines = ["a\tFALSE\t/\tFALSE\t0\tn\told", "a\tFALSE\t/\tFALSE\t0\tm\tx", "a\tFALSE\t/\tFALSE\t0\tn\tnew"]
        let cookies = Cookie.parse(Array(lines.joined(separator: "\n").utf8))
        #expect(try Cookie.value(of: cookies, for: WebURL("http://a/"), now: 0) == "n=new; m=x")
    }

    /// RFC 6265bis, 5.7, and curl.
    @Test func oneForAHostAloneIsAnotherThanOneForThoseBelow() throws {
        let text = "a.b\tTRUE\t/\tFALSE\t0\tn\twide\na.b\tFALSE\t/\tFALSE\t0\tn\tnarrow"
        let cookies = Cookie.parse(Array(text.utf8))
        #expect(try Cookie.value(of: cookies, for: WebURL("http://c.a.b/"), now: 0) == "n=wide")
        #expect(try Cookie.value(of: cookies, for: WebURL("http://a.b/"), now: 0) == "n=wide; n=narrow")
    }

    @Test(arguments: [
        ("", "n=v"), ("0", "n=v"), ("100.25", "n=v"), ("99.9", nil), ("-1", nil), ("soon", nil), ("101", "n=v"),
    ])
    func endOfACookieIsReadAsOthersReadIt(_ expiry: String, _ wanted: String?) throws {
        let cookies = Cookie.parse(Array("a\tFALSE\t/\tFALSE\t\(expiry)\tn\tv".utf8))
        #expect(try Cookie.value(of: cookies, for: WebURL("http://a/"), now: 99) == wanted)
    }

    @Test(arguments: ["::1", "[::1]"]) func addressOfVersionSixMayHaveBrackets(_ domain: String) throws {
        let cookies = Cookie.parse(Array("\(domain)\tFALSE\t/\tFALSE\t0\tn\tv".utf8))
        #expect(try Cookie.value(of: cookies, for: WebURL("http://[::1]/"), now: 0) == "n=v")
    }

    @Test func fileIsReadAgainWhenItChangedAndNeedNotBeThere() throws {
        let cookies = CookieFile(path: file)
        let url = try WebURL("http://a/")
        #expect(cookies.value(for: url, now: 0) == nil)
        try Data("a\tFALSE\t/\tFALSE\t0\tn\t1".utf8).write(to: URL(fileURLWithPath: file))
        #expect(cookies.value(for: url, now: 0) == "n=1")
        try Data("a\tFALSE\t/\tFALSE\t0\tn\t22".utf8).write(to: URL(fileURLWithPath: file))
        #expect(cookies.value(for: url, now: 0) == "n=22")
    }

    /// A process may have no free descriptor for a moment.
    @Test func cookiesThatWereReadCountAsLongAsTheFileCannotBeOpened() throws {
        let cookies = CookieFile(path: file)
        let url = try WebURL("http://a/")
        try Data("a\tFALSE\t/\tFALSE\t0\tn\t1".utf8).write(to: URL(fileURLWithPath: file))
        #expect(cookies.value(for: url, now: 0) == "n=1")
        try FileManager.default.moveItem(atPath: file, toPath: file + ".away")
        // Opening a link to itself fails, with ELOOP.
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: file)
        #expect(cookies.value(for: url, now: 0) == "n=1")
        try FileManager.default.removeItem(atPath: file)
        #expect(cookies.value(for: url, now: 0) == nil, "there is none")
        try FileManager.default.moveItem(atPath: file + ".away", toPath: file)
        #expect(cookies.value(for: url, now: 0) == "n=1")
    }
}
