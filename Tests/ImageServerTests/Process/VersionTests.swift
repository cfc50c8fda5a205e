import Foundation
import TestSupport
import Testing

@Suite(.onThreads)
struct VersionTests {
    /// The commit may be an older one than the repository is at: nothing has been built since.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: Fixtures.repository + "/.git")))
    func theVersionNamesTheCommitThatWasBuiltAndItsDay() throws {
        let version = String(decoding: try Command.shell("$HALCYON --version").output, as: UTF8.self)
        let parts = try #require(
            version.wholeMatch(of: /0\.1\.0 \(([0-9a-f]{12,40}), (\d{4}-\d\d-\d\d)(, changed)?\)\n/),
            "\(version)")
        let commit = try Command.shell(
            "git show --no-patch --no-show-signature --date=short --format=%cd \(parts.1)",
            directory: Fixtures.repository)
        #expect(String(decoding: commit.output, as: UTF8.self) == "\(parts.2)\n", "\(commit.errors)")
    }
}
