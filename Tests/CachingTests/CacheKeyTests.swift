import TestSupport
import Testing

@testable import Caching
@testable import HTTPSemantics
@testable import ImageErrors
@testable import ImageFormats
@testable import Platform

/// Keys and the names made from them.
@Suite struct CacheKeyTests {
    @Test(arguments: [
        ("http://host/a.png", "png"),
        ("http://host/a.png?size=1.gif", "png"),
        ("http://host/a.png#x.gif", "png"),
        ("http://host/a?name=b.png", ""),
        ("http://host/a.jpeg", "jpg"),
        ("http://host/a.JPG", "jpg"),
        ("http://host/archive.tar.png", "png"),
        ("http://host/a@2x.png", "png"),
        ("http://user@host/a.webp", "webp"),
        ("http://host/a.png@x", ""),
        ("http://host/a.png/b", ""),
        ("http://host/a.png/", ""),
        ("http://host/a.", ""),
        ("http://host/.png", ""),
        ("http://host/a.pngpngpngpngpngpngpngpngpngpngpngpngpng", ""),
        ("http://host/a.exe", ""),
        ("http://host/a%00.png", "png"),
        ("http://host/a.png%00", ""),
        ("http://host/a\u{0}.png", "png"),
        ("http://host.png", "png"),
        ("a.png", "png"),
        ("what?.png", "png"),
        ("..", ""),
        (".", ""),
        ("/", ""),
        ("", ""),
    ])
    func extensionIsForetoldFromThePathAlone(_ key: String, _ fileExtension: String) {
        #expect(CacheKey(key).foretoldExtension == fileExtension)
    }

    @Test func keysAreTheSameOnlyWhenTheirBytesAre() {
        let composed = "é"
        let decomposed = "e\u{301}"
        #expect(composed == decomposed, "Swift takes them for the same text")
        #expect(CacheKey(composed) != CacheKey(decomposed))
        #expect(CacheKey("a", identifier: composed) != CacheKey("a", identifier: decomposed))
        #expect(Set([CacheKey(composed), CacheKey(decomposed), CacheKey("\u{212B}"), CacheKey("Å")]).count == 4)
        #expect(Digest(of: CacheKey(composed).computed) != Digest(of: CacheKey(decomposed).computed))
    }

    @Test func identifierMakesAnotherKey() {
        #expect(CacheKey("a") != CacheKey("a", identifier: "blur"))
        #expect(CacheKey("a").computed == "a")
        #expect(CacheKey("a", identifier: "blur").computed == "a@blur")
    }

    @Test func longKeysAreIndexedByTheirDigest() {
        let long = String(repeating: "k", count: 2049)
        #expect(CacheKey(String(long.dropLast())).indexed == String(long.dropLast()))
        #expect(CacheKey(long).indexed == "sha256:" + Digest(of: long).hex)
    }
}
