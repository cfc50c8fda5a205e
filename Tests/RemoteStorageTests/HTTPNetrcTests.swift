import Foundation
import Glibc
import TestSupport
import Testing

@testable import HTTPSemantics
@testable import RemoteStorage

@Suite("Netrc files for the remote tier")
struct HTTPNetrcTests {
    @Test(arguments: [
        ("machine cache.example login u password p", "u", "p"),
        ("machine other login x password y\nmachine cache.example\n  password p\n  login u\n", "u", "p"),
        (
            "# machine cache.example login no password no\nmachine CACHE.example login u password \"p \\\" q\"", "u",
            "p \" q"
        ),
        (
            "macdef init\nmachine cache.example login no password no\n\nmachine cache.example login u password p", "u",
            "p"
        ),
        ("machine other login a password b default login u password p", "u", "p"),
        ("machine cache.example account acc login u password p", "u", "p"),
    ])
    func theCredentialsOfAHostAreFound(text: String, user: String, password: String) {
        let found = NetrcFile(text).authorization(for: "https://cache.example:8443/images")
        #expect(found == .basic(user: user, password: password))
    }

    @Test(arguments: [
        "", "machine", "machine other login u password p", "login u password p", "default", "\"", "machine \"",
    ])
    func otherTextsHaveNone(text: String) {
        #expect(NetrcFile(text).authorization(for: "https://cache.example/images") == nil)
    }

    @Test func aPipeOrAHugeFileInItsPlaceIsNotRead() throws {
        let folder = try TemporaryFolder()
        mkfifo(folder.path + "/pipe", 0o600)
        try Data(count: CredentialFile.mostBytes + 1).write(to: URL(fileURLWithPath: folder.path + "/huge"))
        #expect(NetrcFile(path: folder.path + "/pipe") == nil)
        #expect(NetrcFile(path: folder.path + "/huge") == nil)
        #expect(NetrcFile(path: folder.path + "/missing") == nil)
    }
}
