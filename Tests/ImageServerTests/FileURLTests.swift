import ImageEngine
import Platform
import Testing

/// `uri` beside every `path` (RFC 8089).
@Suite struct FileURLTests {
    static let table = [
        ("/a/b-c_d.e~f/9Z.png", "file:///a/b-c_d.e~f/9Z.png"), ("/a b", "file:///a%20b"), ("/100%", "file:///100%25"),
        ("/é", "file:///%C3%A9"), ("/e\u{301}", "file:///e%CC%81"), ("/😀", "file:///%F0%9F%98%80"),
        ("/a?b#c&d+e:f", "file:///a%3Fb%23c%26d%2Be%3Af"), ("/\"\\\n\u{7F}", "file:///%22%5C%0A%7F"), ("/", "file:///"),
    ]

    @Test(arguments: table)
    func everythingButUnreservedCharactersAndSlashesIsEncoded(path: String, url: String) {
        #expect(FileURL.text(path) == url)
    }
}
