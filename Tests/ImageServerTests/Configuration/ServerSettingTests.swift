import Foundation
import JSONRPC
import TestSupport
import Testing

@testable import ImageServer

/// The table of the process's settings: its names, what its types take, and the pages that list it.
@Suite struct ServerSettingTests {
    @Test func everySettingHasNamesOfItsOwn() throws {
        let names = ServerSetting.accepted.map(\.name)
        #expect(Set(names).count == names.count && Set(names).isSuperset(of: ServerSetting.all.map(\.name)))
        #expect(Set(names).isDisjoint(with: CacheLayer.names + ["config"]))
        let setting = try #require(ServerSetting.named("downloadsPerSecondPerHost"))
        #expect(setting.flag == "downloads-per-second-per-host")
        #expect(setting.variable == "HALCYON_DOWNLOADS_PER_SECOND_PER_HOST")
    }

    @Test func everySettingIsExplainedInOneSentenceThatSaysWhatItIs() {
        for setting in ServerSetting.all {
            #expect(setting.help.hasSuffix(".") && !setting.help.dropLast().contains(". "), "\(setting.name)")
            let start = setting.help.prefix { $0 != " " }
            #expect(!["What", "Where", "Whether", "Which", "When", "Who", "How"].contains(start), "\(setting.name)")
        }
    }

    @Test(arguments: [
        (
            "memoryLimit", "-1",
            "must be a number of bytes from 0 to 9007199254740991, such as 500000000, 500MB or 2GiB, not \"-1\""
        ),
        ("timeout", "0", "must be a number above 0, at most 1000000000, not \"0\""),
        ("timeout", "inf", "must be a number above 0, at most 1000000000, not \"inf\""),
        ("cleanInterval", "nan", "must be a number, at least 0, not \"nan\""),
        ("downloadBurst", "1.5", "must be an integer from 1 to 1000000000, not \"1.5\""),
        ("activateAfter", "soon", "must be a number, at least 0, not \"soon\""),
        ("completeAfter", "-1", "must be a number, at least 0, not \"-1\""),
        ("activationDelay", "0.5", "must be an integer, at least 0, not \"0.5\""),
        ("offline", "yes", "must be true or false, not \"yes\""),
        ("framing", "xml", "must be auto, lines or content-length, not \"xml\""),
        ("durability", "memory", "must be process or disk, not \"memory\""),
        ("downloadOrder", "", "must be fifo or lifo, not \"\""),
        ("networkPolicy", "Any", "must be noCrossover, public or any, not \"Any\""),
        (
            "logLevel", "loud",
            "must be one of trace, debug, info, notice, warning, error, critical, not \"loud\""
        ),
        ("proxy", "http://:1", "must be none or a URL such as http://proxy.example:3128, not \"http://:1\""),
        (
            "trustedHosts", "a, b:4",
            "must be hosts such as example.com or *.example.com with commas between them, not \"b:4\""
        ),
        (
            "allowedHosts", " ,",
            "must be hosts such as example.com or *.example.com with commas between them, not \" ,\""
        ),
        (
            "allowedSchemes", "http,ftp",
            "must be some of http, https, file and data with commas between them, not \"http,ftp\""
        ),
        ("userAgent", "a\nb", "must not contain control characters"),
        ("netrc", "a", "must be an absolute path, not \"a\""), ("mirror", "", "must be an absolute path, not \"\""),
    ])
    func aBadValueIsRefusedInWordsThatFollowItsName(_ name: String, _ text: String, _ words: String) throws {
        let setting = try #require(ServerSetting.named(name))
        var sources = SettingSources()
        #expect(throws: SettingProblem(words)) { try setting.set(text, in: &sources, from: .file) }
        #expect(sources.source(of: name) == .default, "nothing has changed")
    }

    @Test(arguments: [
        ("cacheDir", "/a", "/a"), ("cacheDir", "", nil), ("framing", "lines", "lines"), ("framing", "auto", "auto"),
        ("memoryLimit", "0", "0"), ("durability", "disk", "disk"), ("maxDownloadsPerHost", "9", "9"),
        ("downloadsPerSecond", "3", "3"), ("timeout", "20", "20"), ("timeout", "0.5", "0.5"),
        ("cleanInterval", "0", "0"),
        ("activateAfter", "0.25", "0.25"), ("completeAfter", "2", "2"), ("delegateTimeout", "2.5", "2.5"),
        ("activateAfter", "1e300", "1000000000"),
        ("allowedHosts", " a.b , *.c,", "a.b,*.c"), ("allowedHosts", "", nil), ("allowedSchemes", "https", "https"),
        ("proxy", "none", "none"), ("proxy", "http://ann:secret@a.b:1", "http://ann:…@a.b:1"),
        ("offline", "true", "true"), ("logLevel", "debug", "debug"), ("userAgent", "a/1", "a/1"),
    ])
    func aGoodValueIsInForceAndShown(_ name: String, _ text: String, _ shown: String?) throws {
        let setting = try #require(ServerSetting.named(name))
        var sources = SettingSources()
        try setting.set(text, in: &sources, from: .flag)
        #expect(setting.text(in: sources.configuration(ServerConfiguration())) == shown)
        #expect(setting.isOfCaches || sources.source(of: name) == .flag)
    }

    /// A flag, the same setting in `configure` or the file, and what `configure` has answered.
    @Test(arguments: [
        ("timeout", "downloader.timeout", ["0.5", "100000", "1000000000"], ["0", "-1"]),
        ("maxDownloadsPerHost", "downloader.maxDownloadsPerHost", ["1", "100000", "1000000000"], ["0", "1000000001"]),
        ("maxConcurrentDownloads", "downloader.maxConcurrentDownloads", ["1", "1000000000"], ["0", "1000000001"]),
        ("downloadsPerSecond", "downloader.downloadsPerSecond", ["0", "1000000000"], ["-1", "0.5", "1000000001"]),
        ("downloadsPerSecondPerHost", "downloader.downloadsPerSecondPerHost", ["0", "1000000000"], ["1000000001"]),
        ("downloadBurst", "downloader.downloadBurst", ["1", "1000000000"], ["0", "1000000001"]),
        ("memoryLimit", "memory.totalBytesLimit", ["0", "9007199254740991"], ["-1", "9007199254740992"]),
        ("diskLimit", "disk.bytesLimit", ["0", "9007199254740991"], ["-1", "9007199254740992"]),
        ("remoteMaxBytes", "remote.maxBytes", ["0", "9007199254740991"], ["-1", "9007199254740992"]),
        ("remoteTimeout", "remote.timeout", ["0.001", "60"], ["0", "61"]),
    ])
    func aSettingHasTheSameBoundsWhereverItStands(
        _ name: String, _ path: String, _ good: [String], _ bad: [String]
    ) throws {
        let (setting, parts) = (try #require(ServerSetting.named(name)), path.split(separator: "."))
        func setByName(_ text: String) throws {
            var sources = SettingSources()
            try setting.set(text, in: &sources, from: .flag)
        }
        func setByPath(_ text: String) throws {
            let object = "{\"\(parts[1])\":\(text)}"
            switch parts[0] {
            case "memory": _ = try decode(MemoryChange.self, object)
            case "disk": _ = try decode(DiskChange.self, object)
            case "remote": _ = try decode(RemoteSettings.self, object)
            default: _ = try decode(DownloaderSettings.self, object)
            }
        }
        for text in good {
            #expect(throws: Never.self, "--\(setting.flag) \(text)") { try setByName(text) }
            #expect(throws: Never.self, "\(path) \(text)") { try setByPath(text) }
        }
        for text in bad {
            #expect(throws: SettingProblem.self, "--\(setting.flag) \(text)") { try setByName(text) }
            #expect(throws: Mismatch.self, "\(path) \(text)") { try setByPath(text) }
        }
    }

    @Test func relativePathsStartAtTheWorkingFolder() throws {
        var sources = SettingSources()
        try #require(ServerSetting.named("logFile")).set("a/b", in: &sources, from: .environment)
        let folder = FileManager.default.currentDirectoryPath
        #expect(sources.configuration(ServerConfiguration()).logFile == folder + "/a/b")
    }

    @Test(arguments: ["logFile", "cacheDir", "metrics", "mirror", "codec", "netrc"])
    func aPathWithANULCharacterIsRefused(_ name: String) throws {
        let setting = try #require(ServerSetting.named(name))
        var sources = SettingSources()
        #expect(throws: SettingProblem.self) { try setting.set("/a\0b", in: &sources, from: .file) }
    }

    @Test func theReadmeHasTheTableOfSettings() throws {
        let expected = ServerSetting.all.map { setting in
            let value =
                if case .choice = setting.form { setting.form.placeholder } else {
                    setting.form.placeholder.uppercased()
                }
            let flag = setting.form == .boolean ? setting.flag : "\(setting.flag) \(value)"
            let cells = ["`--\(flag)`", "`\(setting.variable)`", setting.help, setting.defaultText]
            return "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |"
        }
        let rows = try lines(of: "README.md").filter { $0.hasPrefix("| `--") }
        #expect(rows == expected, "the rows of README.md must be:\n\(expected.joined(separator: "\n"))")
    }

    @Test func theProtocolListsEverySettingWithItsFlagAndDefault() throws {
        let rows = try lines(of: "protocol/configuration.md").map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().map {
                $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
            }
        }.filter { $0.count >= 4 && $0[1].hasPrefix("--") && $0[1] != "---" }
        #expect(Set(rows.map { $0[0] }) == Set(ServerSetting.all.map(\.name)) && rows.count == ServerSetting.all.count)
        for row in rows {
            let setting = try #require(ServerSetting.named(row[0]))
            #expect(row[1] == "--" + setting.flag)
            let value = setting.value(ServerConfiguration())
            let isDefault = try value.text == nil ? row[2].isEmpty : (try? JSON(row[2])) == JSON(written(value))
            #expect(isDefault || row[2] == setting.defaultText, "\(setting.name): \(row[2])")
        }
    }

    @Test func theProtocolListsEveryFormerName() throws {
        let rows = try lines(of: "protocol/former-names.md")
        for member in RenamedMember.all {
            let start = "| `\(member.name)` | `\(member.former)`"
            #expect(rows.contains { $0.hasPrefix(start) }, "\(start)")
        }
        for setting in ServerSetting.all {
            for former in setting.former {
                let start =
                    "| `\(setting.name)`, `--\(setting.flag)`, `\(setting.variable)` | "
                    + "`\(former.name)`, `--\(former.flag)`, `\(former.variable)`"
                #expect(rows.contains { $0.hasPrefix(start) }, "\(start)")
            }
        }
    }

    @Test func theProtocolNamesTheSettingsOfTheDownloaderThatClientsMayChange() throws {
        let names = ServerSetting.all.compactMap(\.downloaderField).map { "`\($0.name)`" }
        let list = "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")"
        let page = try lines(of: "protocol/configuration.md").joined(separator: " ")
        #expect(page.contains("`downloader` takes \(list)"))
    }

    private func lines(of page: String) throws -> [String] {
        let url = URL(fileURLWithPath: Fixtures.repository + "/" + page)
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    private func written(_ value: JSONLiteral) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }
}
