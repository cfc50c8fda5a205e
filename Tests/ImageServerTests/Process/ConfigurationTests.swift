import Foundation
import TestSupport
import Testing

@testable import ImageServer

/// The sources of the settings of a run, and how `config` tells them.
@Suite(.onThreads)
struct ConfigurationTests {
    private let scratch: TemporaryFolder
    private var cache: String { scratch.path + "/cache" }
    private var file: String { scratch.path + "/xdg/halcyon/config.json" }

    init() throws {
        scratch = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/xdg/halcyon", withIntermediateDirectories: true)
    }

    private func write(_ text: String, to path: String? = nil) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path ?? file))
    }

    private func server(_ arguments: [String] = [], _ environment: [String: String] = [:]) throws -> ServerProcess {
        try ServerProcess(
            cache: cache, arguments,
            environment: ["XDG_CONFIG_HOME": scratch.path + "/xdg"].merging(environment) { $1 })
    }

    /// It would name another file.
    @Test(
        arguments: [
            "HALCYON_CACHE_DIR=\"$BAD\" \"$HALCYON\" config", "XDG_CACHE_HOME=\"/$BAD\" \"$HALCYON\" config",
            "\"$HALCYON\" config --cache-dir \"$BAD\"", "echo \"$BAD\" | \"$HALCYON\" get -",
        ])
    func textThatIsNotUTF8IsRefused(_ command: String) throws {
        let run = try Command.shell("unset HALCYON_CACHE_DIR; BAD=$(printf 'a\\377b'); " + command)
        #expect([1, 2].contains(run.status) && run.errors.contains("is not UTF-8 text"), "\(run.errors)")
    }

    private func limit(_ server: ServerProcess, _ cache: String = "default") throws -> Int? {
        try server.call(1, "configure", #"{"cache":"\#(cache)"}"#)["result"]?["disk"]?["bytesLimit"]?.integer
    }

    @Test func flagsComeBeforeTheEnvironmentTheClientAndTheFile() throws {
        #expect(try limit(server()) == 2 << 30)
        try write(#"{"disk":{"bytesLimit":1},"diskLimit":9,"caches":{"a":{"disk":{"bytesLimit":11}}}}"#)
        #expect(try limit(server()) == 1)
        #expect(try limit(server(), "a") == 11)
        let options = #"{"initializationOptions":{"disk":{"bytesLimit":2},"caches":{"b":{"disk":{"bytesLimit":22}}}}}"#
        let initialized = try server()
        #expect(try initialized.call(0, "initialize", options)["result"] != nil)
        #expect(try limit(initialized) == 2 && limit(initialized, "a") == 2 && limit(initialized, "b") == 22)
        let both = try server([], ["HALCYON_DISK_LIMIT": "3"])
        _ = try both.call(0, "initialize", options)
        #expect(try limit(both) == 3 && limit(both, "b") == 3)
        #expect(try limit(server(["--disk-limit", "4"], ["HALCYON_DISK_LIMIT": "3"])) == 4)
        // What the client says at run time comes before everything.
        let running = try server(["--disk-limit", "4"])
        #expect(
            try running.call(2, "configure", #"{"disk":{"bytesLimit":5}}"#)["result"]?["disk"]?["bytesLimit"]
                == .integer(5))
        _ = try running.call(0, "initialize", options)
        #expect(try limit(running) == 5)
    }

    /// Most lines are read without the parser that reads all others: one with an equals sign among them.
    @Test(arguments: [
        "", "--disk-limit 5", "--disk-limit=5", "--disk-limit 5 --memory-limit 7 --shared-folders",
        "--disk-limit 5 --disk-limit 6",
        "--shared-folders --shared-folders", "--shared-folders=true", "--shared-folders true", "--disk-limit",
        "--disk-limit ''",
        "--disk-limit -5", "--disk-limit much", "--disk-limit --shared-folders", "--disk-limi 5", "--diskLimit 5",
        "-disk-limit 5",
        "--activation-delay 250", "--activate-after 3 --activation-delay 1", "--framing lines --", "--framing xml",
        "--framing lines 5",
        "--config none.json", "--config other.json", "--config other.json --disk-limit 8",
        "--config other.json --config none.json",
        "--config", "--help", "--version", "--user-agent 'a b=c'", "--", "---",
    ])
    func aLineOfFlagsMeansTheSameWhoeverReadsIt(line: String) throws {
        try write(#"{"diskLimit":2}"#, to: scratch.path + "/other.json")
        func run(_ command: String) throws -> Command {
            try Command.shell(
                "exec \"$HALCYON\" \(command) \(line)",
                input: Array(#"{"jsonrpc":"2.0","id":1,"method":"configure"}"#.utf8),
                directory: scratch.path,
                environment: ["XDG_CONFIG_HOME": scratch.path + "/none", "HALCYON_CACHE_DIR": cache])
        }
        let parsed = try run("serve --framing=auto")
        for read in try [run(""), run("serve")] {
            #expect(read.status == parsed.status && read.errors == parsed.errors)
            if line != "--help" { #expect(read.output == parsed.output) }
        }
    }

    @Test func aFileMayBeNamedByFlagOrVariable() throws {
        let other = scratch.path + "/other.json"
        try write(#"{"diskLimit":1}"#)
        try write(#"{"diskLimit":2}"#, to: other)
        #expect(try limit(server([], ["HALCYON_CONFIG": other])) == 2)
        #expect(try limit(server(["--config", other], ["HALCYON_CONFIG": file])) == 2)
    }

    @Test func settingsOfInitializeReachCachesThatAreOpen() throws {
        let server = try server()
        _ = try server.call(1, "isCached", #"{"key":"k"}"#)
        _ = try server.call(2, "initialize", #"{"initializationOptions":{"memory":false}}"#)
        #expect(try server.call(3, "configure")["result"]?["memory"] == .boolean(false))
    }

    @Test func aBadInitializeChangesNothingAndMayBeRepeated() throws {
        let server = try server()
        _ = try server.call(1, "isCached", #"{"key":"k"}"#)
        let folder = #"{"initializationOptions":{"memory":false,"caches":{"default":{"disk":{"folder":"/x"}}}}}"#
        let refusal = try server.call(2, "initialize", folder)["error"]
        #expect(refusal?["code"] == .integer(-32602))
        #expect(refusal?["data"]?["param"]?.string == "initializationOptions.caches.default.disk.folder")
        #expect(try server.call(3, "configure")["result"]?["memory"]?["countLimit"] == .integer(0))
        #expect(try server.call(4, "initialize")["result"] != nil)
    }

    @Test(arguments: [
        ("{", "is not JSON"),
        (#"{"disk":{"purgeRatio":2}}"#, "\"disk.purgeRatio\" must be a number from 0 to 1, not 2"),
        (#"{"cacheDir":"a"}"#, "must be an absolute path"), (#"{"logLevel":"loud"}"#, "must be one of trace"),
        (#"{"maxDownloadsPerHost":0}"#, "must be an integer from 1 to"),
        (#"{"networkPolicy":"private"}"#, "must be noCrossover, public or any"),
        (#"{"proxy":"proxy.example:3128"}"#, "must be none or a URL such as"),
        (#"{"proxy":"http://proxy.example:99999"}"#, "must be none or a URL such as"),
        (#"{"proxy":"HTTP://:3128"}"#, "must be none or a URL such as"),
        (#"{"allowedHosts":"a.example,https://b.example/"}"#, "not \"https://b.example/\""),
        (#"{"trustedHosts":"a.example:443"}"#, "must be hosts"), (#"{"caFile":"ca.pem"}"#, "must be an absolute path"),
        (#"{"netrc":"~/.netrc"}"#, "must be an absolute path"), (#"{"userAgent":"a\nb"}"#, "control characters"),
    ])
    func aMalformedFileIsAStartErrorThatNamesThePlace(_ text: String, _ words: String) throws {
        try write(text)
        let run = try Command.shell(
            "\"$HALCYON\" </dev/null", environment: ["XDG_CONFIG_HOME": scratch.path + "/xdg", "HOME": scratch.path])
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.errors.contains(file) && run.errors.contains(words), "\(run.errors)")
    }

    @Test func aMissingFileIsFineUnlessItWasNamed() throws {
        let environment = ["XDG_CONFIG_HOME": scratch.path + "/none", "HALCYON_CACHE_DIR": cache]
        #expect(try Command.shell("\"$HALCYON\" </dev/null", environment: environment).status == 0)
        let named = try Command.shell("\"$HALCYON\" serve --config /none.json </dev/null", environment: environment)
        #expect(named.status == 1 && named.errors.contains("/none.json cannot be read: No such file"))
    }

    @Test func aBadVariableIsRefusedUnlessAFlagComesBeforeIt() throws {
        let environment = ["HALCYON_DISK_LIMIT": "much", "HALCYON_CACHE_DIR": cache]
        let bad = try Command.shell("\"$HALCYON\" </dev/null", environment: environment)
        #expect(bad.status == 2 && bad.errors.contains("HALCYON_DISK_LIMIT must be a number of bytes"))
        let good = try Command.shell("\"$HALCYON\" --disk-limit 5 </dev/null", environment: environment)
        #expect(good.status == 0 && good.errors.isEmpty)
    }

    /// A name that is mistyped would else show itself as a refusal by a server.
    @Test func aFileThatDownloadsAreToGoWithIsMissedAtTheStart() throws {
        try write("", to: scratch.path + "/empty")
        func errors(_ arguments: String) throws -> String {
            let run = try Command.shell(
                "\"$HALCYON\" serve \(arguments) </dev/null",
                environment: ["XDG_CONFIG_HOME": scratch.path + "/none", "HALCYON_CACHE_DIR": cache])
            #expect(run.status == 0)
            return run.errors
        }
        for flag in ["ca-file", "client-certificate", "client-key", "cookie-file", "netrc"] {
            let isOptional = ["cookie-file", "netrc"].contains(flag)
            let words = isOptional ? "Downloads go without it" : "Downloads that need it fail"
            let missing = try errors("--\(flag) \(scratch.path)/none.txt")
            #expect(missing.contains("\(scratch.path)/none.txt"), "\(missing)")
            #expect(missing.contains("cannot be read: No such file") && missing.contains(words), "\(missing)")
            #expect(try errors("--\(flag) \(scratch.path)").contains("is not a regular file"))
            #expect(try errors("--\(flag) \(scratch.path)/empty").isEmpty)
        }
    }

    @Test func networkSettingsHoldForDownloads() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let params = #"{"url":"\#(web.url("/png-rgb.png"))","options":{"forceRefresh":true}}"#
        for (arguments, setting) in [
            (["--network-policy", "public"], "networkPolicy"),
            (["--allowed-hosts", "*.example.com, a.example"], "allowedHosts"),
        ] {
            let error = try server(arguments).call(1, "retrieve", params)["error"]
            #expect(error?["code"] == .integer(20004) && error?["data"]?["name"] == .string("forbiddenAddress"))
            #expect(error?["message"]?.string?.contains(setting) == true, "the setting is named")
        }
        #expect(web.requests.isEmpty)
        let allowed = try server(["--allowed-hosts", "127.0.0.1", "--user-agent", "mine/1"])
        #expect(try allowed.call(1, "retrieve", params)["result"] != nil)
        #expect(web.requests.first?.headers["user-agent"] == "mine/1")
        #expect(web.requests.first?.headers["accept"]?.hasPrefix("image/avif,image/webp,image/png;q=0.9,") == true)
        let proxied = try server([], ["HALCYON_PROXY": web.url("")])
        #expect(try proxied.call(1, "retrieve", #"{"url":"http://pictures.invalid/a.png"}"#)["error"] != nil)
        #expect(web.requests.last?.path == "http://pictures.invalid/a.png")
    }

    @Test func failedAttemptsAreListedInTheError() throws {
        let web = try LocalServer.fixtures()
        defer { web.stop() }
        let options = #"{"alternativeSources":["\#(web.url("/html"))"]}"#
        let error = try server().call(
            1, "retrieve", #"{"url":"\#(web.url("/status/404"))","options":\#(options)}"#)["error"]
        #expect(error?["code"] == .integer(10002) && error?["data"]?["statusCode"] == .integer(404))
        let attempts = error?["data"]?["attempts"]?.elements ?? []
        #expect(attempts.map { $0["code"] } == [.integer(10002), .integer(10000)])
        #expect(attempts.map { $0["name"] } == [.string("invalidStatusCode"), .string("badData")])
        #expect(attempts.map { $0["url"] } == [.string(web.url("/status/404")), .string(web.url("/html"))])
        #expect(attempts.map { $0["statusCode"] } == [.integer(404), nil])
        #expect(attempts.allSatisfy { $0["seconds"]?.real != nil && $0["byteCount"]?.integer != nil })
        #expect(attempts.map { $0["status"] } == [.integer(404), nil], "under the former names too")
        #expect(attempts.allSatisfy { $0["milliseconds"]?.integer != nil && $0["bytes"] == $0["byteCount"] })
        #expect(attempts.allSatisfy { $0["message"]?.string?.isEmpty == false })
    }

    /// A value that a setting takes from every source.
    private func sample(_ setting: ServerSetting) -> String {
        switch setting.form {
        case .text where setting.name == "remote": "https://cache.example/images"
        case .boolean: "true"
        case .integer: "7"
        case .number: "7.5"
        case .choice(let choices): choices.last ?? ""
        case .file, .folder: scratch.path + "/sample"
        case .text(let kind): kind == "url" ? "none" : "http"
        }
    }

    @Test func everySettingIsTakenFromFlagEnvironmentAndFile() throws {
        let values = ServerSetting.all.map { ($0, sample($0)) }
        let flags = values.map { $0.form == .boolean ? "--\($0.flag)" : "--\($0.flag)=\($1)" }
        let variables = Dictionary(uniqueKeysWithValues: values.map { ($0.variable, $1) })
        let members = values.map { setting, value in
            switch setting.form {
            case .boolean, .integer, .number: "\"\(setting.name)\":\(value)"
            case .choice, .file, .folder, .text: "\"\(setting.name)\":\"\(value)\""
            }
        }
        try write("{\(members.joined(separator: ","))}")
        for (source, arguments, environment) in [
            ("flag", flags, ["HALCYON_CONFIG": file]),
            ("environment", [], variables.merging(["HALCYON_CONFIG": file]) { $1 }),
            ("file", [], ["HALCYON_CONFIG": file]),
        ] {
            let run = try Command.shell(
                "\"$HALCYON\" config --json \(arguments.joined(separator: " "))", environment: environment)
            let listing = try JSON(run.output)
            for (setting, value) in values where !setting.isOfCaches {
                let shown = listing[setting.name]
                #expect(shown?["source"] == .string(source), "\(setting.name)")
                let text = shown?["value"].map { $0.string ?? $0.text }
                #expect(text == value, "\(setting.name) from \(source)")
            }
            for path in [["memory", "totalBytesLimit"], ["disk", "bytesLimit"], ["disk", "durability"]] {
                #expect(listing[path[0]]?[path[1]]?["source"] == .string(source), "\(path)")
            }
        }
    }

    @Test func aSettingIsTakenUnderItsFormerNameFromFlagEnvironmentAndFile() throws {
        try write(#"{"activationDelay":250,"completionDelay":1500}"#)
        let variables = ["HALCYON_ACTIVATION_DELAY": "250", "HALCYON_COMPLETION_DELAY": "1500"]
        for (source, arguments, environment) in [
            ("flag", "--activation-delay 250 --completion-delay=1500", [:]), ("environment", "", variables),
            ("file", "", ["HALCYON_CONFIG": file]),
        ] {
            let run = try Command.shell("\"$HALCYON\" config --json \(arguments)", environment: environment)
            let listing = try JSON(run.output)
            #expect(try listing["activateAfter"] == JSON(#"{"value":0.25,"source":"\#(source)"}"#))
            #expect(try listing["completeAfter"] == JSON(#"{"value":1.5,"source":"\#(source)"}"#))
            #expect(listing["activationDelay"] == nil, "it is shown under its name of today")
        }
        let both = try Command.shell("\"$HALCYON\" config --json --activate-after 3 --activation-delay 1")
        #expect(try JSON(both.output)["activateAfter"]?["value"]?.integer == 3, "the name of today counts")
        let help = try Command.shell("\"$HALCYON\" serve --help")
        #expect(!String(decoding: help.output, as: UTF8.self).contains("--activation-delay"))
    }

    @Test func theHelpTheManualAndCompletionsListEverySetting() throws {
        func output(_ arguments: String) throws -> String {
            String(decoding: try Command.shell("\"$HALCYON\" \(arguments)").output, as: UTF8.self)
        }
        let pages = try (["serve --help", "manual"] + ["bash", "zsh", "fish"].map { "completions \($0)" }).map(output)
        for setting in ServerSetting.all {
            #expect(pages[0].contains("  --\(setting.flag)"))
            #expect(pages[1].contains(setting.help.replacing("-", with: "\\-")), "\(setting.name)")
            #expect(pages[2...].allSatisfy { $0.contains(setting.flag) }, "\(setting.name)")
        }
    }

    @Test func aMistypedFlagIsRefusedWithTheNearestOne() throws {
        let run = try Command.shell("\"$HALCYON\" config --log-fil x")
        #expect(run.status == 2 && run.errors.contains("Unknown option '--log-fil'. Did you mean '--log-file'?"))
    }

    @Test func configTellsEveryValueAndItsSource() throws {
        try write(#"{"durability":"disk","maxDownloadsPerHost":2,"caches":{"a":{"memory":{"countLimit":5}}}}"#)
        let environment = [
            "XDG_CONFIG_HOME": scratch.path + "/xdg", "HALCYON_CACHE_DIR": cache, "HALCYON_MEMORY_LIMIT": "1000",
            "HALCYON_PROXY": "http://ann:secret@proxy.example:3128",
        ]
        let run = try Command.shell("\"$HALCYON\" config --json --disk-limit 7", environment: environment)
        let listing = try JSON(run.output)
        func expect(_ path: [String], _ value: JSON, _ source: String) {
            let found = path.reduce(listing) { $0?[$1] }
            #expect(found == .object(["value": value, "source": .string(source)]), "\(path)")
        }
        #expect(listing["file"] == .string(file))
        expect(["cacheDir"], .string(cache), "environment")
        expect(["framing"], .string("auto"), "default")
        expect(["maxDownloadsPerHost"], .integer(2), "file")
        expect(["proxy"], .string("http://ann:…@proxy.example:3128"), "environment")
        expect(["memory", "totalBytesLimit"], .integer(1000), "environment")
        expect(["memory", "preferredBytesAfterPurge"], .integer(600), "environment")
        expect(["disk", "bytesLimit"], .integer(7), "flag")
        expect(["disk", "durability"], .string("disk"), "file")
        expect(["disk", "purgeRatio"], .real(0.5), "default")
        expect(["caches", "a", "memory", "countLimit"], .integer(5), "file")
        expect(["caches", "a", "disk", "folder"], .string(cache + "/a"), "default")
        let table = try Command.shell("\"$HALCYON\" config", environment: environment)
        let lines = String(decoding: table.output, as: UTF8.self).split(separator: "\n").map { line in
            line.split(separator: " ").map(String.init)
        }
        #expect(lines.contains(["memory.totalBytesLimit", "1000", "environment"]))
        #expect(lines.contains(["disk.durability", "disk", "file"]))
        #expect(lines.contains(["caches.a.memory.countLimit", "5", "file"]))
    }
}
