import Foundation
import TestSupport
import Testing

/// A cache folder that a newer version has used, met by the built binary.
@Suite(.onThreads)
struct NewerIndexProcessTests {
    @Test func aFolderOfANewerVersionIsRefusedWithBothVersionsAndLosesNothing() throws {
        let scratch = try TemporaryFolder()
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        func run(_ line: String) throws -> Command {
            try Command.shell(
                line, directory: scratch.path,
                environment: ["HALCYON_CACHE_DIR": scratch.path + "/cache", "WEB": web.url("")])
        }
        func change(_ sql: String) throws {
            let program = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])"
            #expect(try run("python3 -c '\(program)' cache/default/index.sqlite '\(sql)'").status == 0)
        }
        #expect(try run("$HALCYON get $WEB/a.png $WEB/b.png").status == 0)
        let before = try run("$HALCYON ls --json").lines.compactMap { $0["key"]?.string }
        // Its log may still have it.
        let asking = "import sqlite3, sys; print(*next(sqlite3.connect(sys.argv[1]).execute(\"PRAGMA user_version\")))"
        let version = try run("python3 -c '\(asking)' cache/default/index.sqlite")
        let own = try #require(
            Int(String(decoding: version.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)))
        try change("ALTER TABLE entries ADD COLUMN mood TEXT; PRAGMA user_version = \(own + 1);")
        // What is said of the folder is said once, and each image that has no place says it too.
        let several = try run("$HALCYON get $WEB/a.png $WEB/b.png $WEB/c.png")
        let warnings = several.errors.split(separator: "\n").filter { $0.contains("warning") }
        #expect(several.status == 1 && warnings.count == 1)
        #expect(warnings.first?.contains("version \(own + 1)") == true, "\(several.errors)")
        let commands = ["ls", "size", "verify", "clean", "clean --all", "rm \(web.url("/a.png"))", "get $WEB/a.png"]
        for command in commands {
            let got = try run("$HALCYON \(command)")
            let versions = "of version \(own + 1), made by a newer halcyon; this one knows version \(own)"
            #expect(
                got.status == 1
                    && got.errors.contains("halcyon: The cache cannot be used: the index says: it is \(versions)."),
                "\(command): \(got.errors)")
            #expect(got.errors.contains("give this one another with --cache-dir"))
        }
        #expect(try run("$HALCYON get --cache-dir other $WEB/a.png").status == 0)
        try change("ALTER TABLE entries DROP COLUMN mood; PRAGMA user_version = \(own);")
        #expect(try run("$HALCYON ls --json").lines.compactMap { $0["key"]?.string } == before && before.count == 2)
        #expect(try run("$HALCYON verify").status == 0)
    }
}
