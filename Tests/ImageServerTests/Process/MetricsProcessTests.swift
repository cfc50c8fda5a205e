import Foundation
import TestSupport
import Testing

/// The file of counters that `--metrics` names, by the built binary.
@Suite(.onThreads)
struct MetricsProcessTests {
    private func serve(_ flags: String, in scratch: TemporaryFolder) throws -> Command {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer { web.stop() }
        let request = #"{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"url":"\#(web.url("/a.png"))"}}"# + "\n"
        return try Command.shell(
            "$HALCYON \(flags)", input: Array(request.utf8), directory: scratch.path,
            environment: ["HALCYON_CACHE_DIR": scratch.path + "/cache"])
    }

    @Test func aServerLeavesItsCountersInAFileOfItsOwn() throws {
        let scratch = try TemporaryFolder()
        #expect(try serve("--metrics counters-%p.prom", in: scratch).status == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0 != "cache" }
        let file = try #require(files.first)
        #expect(files.count == 1 && Int(file.dropFirst(9).dropLast(5)) != nil, "\(files)")
        let text = String(
            decoding: FileManager.default.contents(atPath: scratch.path + "/" + file) ?? Data(), as: UTF8.self)
        let lines = Set(text.split(separator: "\n").map(String.init))
        for line in [
            "# TYPE halcyon_downloads_total counter", #"halcyon_downloads_total{result="success"} 1"#,
            #"halcyon_answers_total{tier="none"} 1"#,
            "halcyon_downloaded_bytes_total \(try Fixtures.bytes("png-rgb.png").count)",
            "# TYPE halcyon_request_duration_seconds histogram",
            #"halcyon_request_duration_seconds_bucket{method="retrieve",le="+Inf"} 1"#,
            #"halcyon_request_duration_seconds_count{method="retrieve"} 1"#,
        ] { #expect(lines.contains(line), "\(line) in \(text)") }
        // Each is a comment or a name with a number.
        for line in lines where !line.hasPrefix("# ") {
            #expect(line.hasPrefix("halcyon_") && Double(line.split(separator: " ").last ?? "") != nil, "\(line)")
        }
    }

    @Test func whatIsNoFileIsLeftAloneAndALinkLeadsToTheFileAsBefore() throws {
        let scratch = try TemporaryFolder()
        let (pipe, link) = (scratch.path + "/pipe", scratch.path + "/link")
        #expect(mkfifo(pipe, 0o600) == 0)
        let refused = try serve("--metrics pipe", in: scratch)
        #expect(refused.status == 0 && refused.errors.contains("pipe cannot be written: it is not a regular file"))
        var status = stat()
        #expect(lstat(pipe, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
        overwrite(scratch.path + "/counters", [])
        #expect(symlink("counters", link) == 0)
        #expect(try serve("--metrics link", in: scratch).status == 0)
        #expect(lstat(link, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
        #expect(stat(link, &status) == 0 && status.st_size > 0)
        #expect(scratch.files.allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test func aFileThatCannotBeWrittenIsSaidOnceAndStopsNothing() throws {
        let scratch = try TemporaryFolder()
        let served = try serve("--metrics none/counters", in: scratch)
        #expect(served.status == 0 && served.output.starts(with: ascii(#"{"jsonrpc""#)))
        let warnings = served.errors.split(separator: "\n").filter { $0.contains("none/counters cannot be written") }
        #expect(warnings.count == 1, "\(served.errors)")
    }
}
