import Foundation
import Glibc
import TestSupport
import Testing

/// The commands for people at a terminal, by the built binary; a plugin that only knows how to spawn uses them too.
@Suite(.onThreads)
struct CommandTests {
    private let scratch: TemporaryFolder
    private let web: LocalServer

    init() throws {
        scratch = try TemporaryFolder()
        let files = try Dictionary(
            uniqueKeysWithValues: ["png-rgb.png", "jpeg-photo.jpg", "gif-animated.gif"].map {
                ("/" + $0, try Fixtures.bytes($0))
            })
        web = try LocalServer { request in
            let path = String(request.path.prefix { $0 != "?" })
            return files[path].map { .reply(200, [:], $0) } ?? .reply(404, [:], [])
        }
    }

    private func run(_ line: String, input: String = "") throws -> Command {
        try Command.shell(
            line, input: Array(input.utf8), directory: scratch.path,
            environment: ["HALCYON_CACHE_DIR": scratch.path + "/cache", "WEB": web.url("")])
    }

    private func text(_ command: Command) -> String { String(decoding: command.output, as: UTF8.self) }

    @Test func getPrintsThePathsInTheOrderOfTheURLs() throws {
        defer { web.stop() }
        let got = try run("$HALCYON get $WEB/jpeg-photo.jpg $WEB/png-rgb.png $WEB/jpeg-photo.jpg")
        let paths = text(got).split(separator: "\n").map(String.init)
        #expect(got.status == 0 && got.errors.isEmpty && paths.count == 3)
        #expect(paths[0].hasSuffix(".jpg") && paths[1].hasSuffix(".png") && paths[2] == paths[0])
        #expect(try Data(contentsOf: URL(fileURLWithPath: paths[1])) == Data(Fixtures.bytes("png-rgb.png")))
        // From the cache of the disk, without another request.
        #expect(text(try run("$HALCYON get $WEB/png-rgb.png")) == paths[1] + "\n")
        #expect(web.requestCount("/png-rgb.png") == 1)
    }

    @Test func whatFailsIsSaidAndTheRestIsDone() throws {
        defer { web.stop() }
        let got = try run("$HALCYON get $WEB/none.png nowhere.png $WEB/png-rgb.png")
        #expect(got.status == 1 && text(got).split(separator: "\n").count == 1)
        #expect(got.errors.contains("/none.png: the server answered 404."))
        #expect(got.errors.contains("/nowhere.png: No such file or directory."))
    }

    @Test func urlsComeFromStandardInputAndResultsAsJSON() throws {
        defer { web.stop() }
        let got = try run(
            "$HALCYON get --json -", input: "# pictures\n\(web.url("/png-rgb.png"))\n\n  \(web.url("/none.png"))\n")
        #expect(got.status == 1)
        #expect(try got.lines.map { $0["width"]?.integer } == [61, nil])
        #expect(try got.lines[1]["code"] == .integer(10002))
    }

    @Test func copiesGoWhereTheyAreWanted() throws {
        defer { web.stop() }
        let picture = try Data(Fixtures.bytes("png-rgb.png"))
        func content(_ path: String) -> Data? { FileManager.default.contents(atPath: scratch.path + "/" + path) }
        #expect(try run("$HALCYON get -o mine.png $WEB/png-rgb.png").status == 0)
        #expect(content("mine.png") == picture)
        #expect(try run("$HALCYON get -o - $WEB/png-rgb.png").output == [UInt8](picture))
        // Two that are called alike, and one whose name says nothing of its format.
        let several = try run("$HALCYON get -o all $WEB/png-rgb.png \"$WEB/png-rgb.png?2\" $WEB/gif-animated.gif")
        #expect(several.status == 0 && text(several) == "all/png-rgb.png\nall/png-rgb-2.png\nall/gif-animated.gif\n")
        #expect(content("all/png-rgb-2.png") == picture)
        // The copy is the user's: the cache keeps its own.
        try Data("changed".utf8).write(to: URL(fileURLWithPath: scratch.path + "/mine.png"))
        #expect(try run("$HALCYON get -o - $WEB/png-rgb.png").output == [UInt8](picture))
        let refused = try run("$HALCYON get -o nowhere/a.png $WEB/png-rgb.png")
        #expect(refused.status == 1 && refused.errors.contains("nowhere/a.png cannot be written: No such file"))
    }

    @Test func optionsReachTheRequest() throws {
        defer { web.stop() }
        let got = try run("$HALCYON get -H 'X-Test: a: b' -O maxBytes=100 -O revalidate=http $WEB/png-rgb.png")
        #expect(got.status == 1 && got.errors.contains("maxBytes"))
        #expect(web.requests.map { $0.headers["x-test"] } == ["a: b"])
        let misspelt = try run("$HALCYON get -O maxByte=100 $WEB/png-rgb.png")
        #expect(misspelt.status == 2 && misspelt.errors.contains("maxBytes"))
        #expect(try run("$HALCYON get --only-cached $WEB/png-rgb.png").status == 1 && web.requests.count == 1)
    }

    @Test func getAppliesProcessorsBetweenItsSizeAndItsFormat() throws {
        defer { web.stop() }
        let got = try run(
            "$HALCYON get --resize 40x40 --processors crop:20x10,x=20/flip:horizontal --format png -o cut.png $WEB/jpeg-photo.jpg"
        )
        #expect(got.status == 0 && got.errors.isEmpty, "\(got.errors)")
        let made = try run(
            "$HALCYON get --json --resize 40x40 --processors crop:20x10,x=20/flip:horizontal --format png $WEB/jpeg-photo.jpg"
        )
        let identifier =
            "downsample.1(width=40,height=40)|>crop.1(width=20,height=10,left=20,top=0)|>flip.1(horizontal=true,vertical=false)|>format.1(to=png)"
        #expect(try made.lines[0]["processorIdentifier"]?.string == identifier, "\(made.output)")
        let misspelt = try run("$HALCYON get --processors crop:20x10,smrt $WEB/png-rgb.png")
        #expect(misspelt.status == 2 && misspelt.errors.contains(#"did you mean "smart"?"#), "\(misspelt.errors)")
        let format = try run("$HALCYON get --format jpg/blur:3 $WEB/png-rgb.png")
        #expect(format.status == 2 && format.errors.contains("not jpg/blur:3."), "\(format.errors)")
    }

    @Test func theCommandLineIsJudgedBeforeAnythingIsDone() throws {
        defer { web.stop() }
        for line in [
            "get", "get --resize 12y $WEB/a", "get --resize 200% $WEB/a", "get --resize x $WEB/a",
            "get --crop 5x $WEB/a",
            "get --quality 50 $WEB/a", "get --quality 0 --format webp $WEB/a", "get --resize 0x5 $WEB/a",
            "get --key a $WEB/a $WEB/b",
            "get $(printf 'caf\\351.png')", "get -o $(printf 'a\\350.png') $WEB/a", "get -H nonsense $WEB/a",
            "get -H a:1 -H A:2 $WEB/a", "get -O maxBytes=1 -O maxBytes=2 $WEB/a",
            "get --refresh -O forceRefresh=true $WEB/a", "get -H a:1 -O 'headers={}' $WEB/a",
            "get -O nonsense $WEB/a", "get -o - $WEB/a $WEB/b", "call ping '{bad'", "call ping 1", "rm", "nonsense",
            "completions tcsh", "ls --timeout never", "ls --timeout -3", "get --quality -3 --format webp $WEB/a",
        ] {
            let got = try run("$HALCYON \(line)")
            #expect(got.status == 2 && !got.errors.isEmpty && got.output.isEmpty, "\(line): \(got.errors)")
        }
        #expect(web.requests.isEmpty)
    }

    @Test func getEndsWhenNobodyReadsIt() throws {
        defer { web.stop() }
        let urls = (1...600).map { "\(web.url("/png-rgb.png"))?\($0)\n" }.joined()
        let got = try run(
            """
            cat > urls; mkfifo status
            ($HALCYON get -q - < urls; echo $? > status) | head -n 1 & cat status >&2; wait
            """, input: urls)
        #expect(got.output.split(separator: UInt8(ascii: "\n")).count == 1)
        #expect(got.errors == "1\n")
        #expect(web.requests.count < 600)
    }

    @Test func aLinkIsWrittenThroughWithForceAndNothingIsLeftBeside() throws {
        defer { web.stop() }
        let picture = try Fixtures.bytes("png-rgb.png")
        let ready = try run("mkdir d; echo old > d/target; ln -s target d/link; ln -s /proc/self/fd/1 d/stdout")
        #expect(ready.status == 0)
        #expect(try run("$HALCYON get -o d/link $WEB/png-rgb.png").status == 1)
        #expect(try run("$HALCYON get --force -o d/link $WEB/png-rgb.png && test -L d/link").status == 0)
        #expect(try run("cat d/target").output == picture)
        #expect(try run("$HALCYON get --force -o d/stdout $WEB/png-rgb.png > d/out && test -L d/stdout").status == 0)
        #expect(try run("cat d/out").output == picture)
        #expect(try run("$HALCYON get -o /dev/stdout $WEB/png-rgb.png | cat").output == picture)
        #expect(
            try run("$HALCYON get --force -o d/new.png $WEB/png-rgb.png && cat d/new.png").output.suffix(picture.count)
                .elementsEqual(picture))
        #expect(text(try run("ls d")) == "link\nnew.png\nout\nstdout\ntarget\n")
    }

    @Test func filesOfDownloadsThatCannotBeReadAreSaid() throws {
        defer { web.stop() }
        for flag in ["--netrc", "--cookie-file"] {
            let got = try run("$HALCYON get \(flag) /nope $WEB/png-rgb.png")
            #expect(got.status == 0 && got.errors.contains("/nope"), "\(flag): \(got.errors)")
        }
        #expect(try run("$HALCYON size --netrc /nope").errors.isEmpty)
    }

    @Test func schemeThatIsSwitchedOffIsRefusedWhateverIsCached() throws {
        defer { web.stop() }
        for (line, scheme) in [
            ("get \(Fixtures.folder)/png-rgb.png --resize 9x9", "http"), ("get $WEB/png-rgb.png", "https,file"),
            ("get $WEB/png-rgb.png --resize 9x9", "file"),
        ] {
            #expect(try run("$HALCYON \(line)").status == 0)
            let got = try run("$HALCYON \(line) --allowed-schemes \(scheme)")
            #expect(got.status == 1 && got.errors.contains("is switched off"), "\(line): \(got.errors)")
            #expect(try run("$HALCYON \(line)").status == 0)
        }
    }

    @Test func outputThatCannotBeWrittenIsAFailure() throws {
        defer { web.stop() }
        _ = try run("$HALCYON get $WEB/png-rgb.png")
        for line in [
            "get $WEB/png-rgb.png", "get --json $WEB/png-rgb.png", "ls", "size", "config", "completions bash",
            "manual", "discover", "call stats", "--help", "rm --json $WEB/png-rgb.png",
        ] {
            let got = try run("$HALCYON \(line) > /dev/full")
            let words = "standard output cannot be written: No space left on device"
            #expect(got.status == 1 && got.errors.contains(words), "\(line): \(got.errors)")
        }
        // What is printed must not come to the server inside the command.
        for line in ["get $WEB/png-rgb.png", "get -o - $WEB/png-rgb.png", "ls", "size", "call stats"] {
            let got = try run("$HALCYON \(line) >&-")
            #expect(
                got.status == 1 && got.errors.contains("cannot be written: Bad file descriptor"),
                "\(line): \(got.errors)")
            #expect(try run("$HALCYON \(line) 2>&- >/dev/null").status == 0)
        }
        #expect(text(try run("$HALCYON ls")).contains("png-rgb.png"))
        let served = try run("$HALCYON serve >&-")
        #expect(served.status == 1 && served.errors.contains("must be open"))
        // A reader that has had enough is no news.
        let piped = try run("($HALCYON discover; echo $? >&2) | true")
        #expect(piped.errors == "1\n")
    }

    @Test func anErrorNamesTheFlagAndWhatItTakes() throws {
        defer { web.stop() }
        for (line, answer) in [
            ("get --resize 0 $WEB/a", "whole pixels from 1 to 65535"), ("get --resize 150% $WEB/a", "up to 100%"),
            ("get --resize -5 $WEB/a", "whole pixels"), ("get --crop -5x5 $WEB/a", "WIDTHxHEIGHT"),
            ("get --format psd $WEB/a", "--format takes one of "),
            ("get --revalidate sometimes $WEB/a", "--revalidate takes one of never,"),
            ("ls --min-age -1", "--min-age takes a number of seconds, 0 or more, not -1"),
            ("ls --format x", "--format takes one of png, jpeg,"),
        ] {
            let got = try run("$HALCYON \(line)")
            #expect(got.status == 2 && got.errors.contains(answer), "\(line): \(got.errors)")
        }
        let bare = try run("$HALCYON $WEB/png-rgb.png")
        #expect(bare.status == 2 && bare.errors.contains("did you mean \"halcyon get \(web.url("/png-rgb.png"))\"?"))
        let replay = try run("$HALCYON --replay nowhere")
        #expect(replay.status == 1 && replay.errors.contains("--replay") && !replay.errors.contains("--cache-dir"))
        #expect(web.requests.isEmpty)
    }

    @Test func aNegativeNumberIsAValueAndNotAMissingOne() throws {
        defer { web.stop() }
        for (line, answer) in [
            ("ls --timeout -3", #"above 0, at most 1000000000, not "-3""#),
            ("ls --disk-limit -1", #"500MB or 2GiB, not "-1""#),
            ("get --quality -3 --format webp $WEB/a", "1 to 100, not -3"),
        ] {
            let got = try run("$HALCYON \(line)")
            #expect(got.status == 2 && got.errors.contains(answer), "\(line): \(got.errors)")
        }
        let turned = try run("$HALCYON get --json --rotate -90 $WEB/png-rgb.png")
        #expect(try turned.lines[0]["processorIdentifier"]?.string == "rotate.1(degrees=270)", "\(turned.output)")
    }

    @Test func prefetchTellsWhatBecameOfEach() throws {
        defer { web.stop() }
        _ = try run("$HALCYON get $WEB/png-rgb.png")
        let list = ["png-rgb.png", "jpeg-photo.jpg", "none.png"].map { web.url("/" + $0) }.joined(separator: "\n")
        let got = try run("$HALCYON prefetch -", input: list)
        #expect(got.status == 1 && text(got) == "1 loaded, 1 cached already, 1 failed\n")
        #expect(got.errors.contains("/none.png: the server answered 404."))
        let missing = try run("$HALCYON prefetch nowhere")
        #expect(
            missing.status == 1 && missing.errors == "halcyon: nowhere cannot be read: No such file or directory.\n")
    }

    @Test func whatTheCacheDoesNotKeepIsSaid() throws {
        defer { web.stop() }
        let got = try run("$HALCYON get --disk-limit 600 $WEB/png-rgb.png")
        #expect(got.status == 0 && text(got).hasSuffix(".png\n"))
        #expect(got.errors.contains("/png-rgb.png: ") && got.errors.contains("(tooLarge)"), "\(got.errors)")
        #expect(got.errors.split(separator: "\n").count == 1)
        let copied = try run("$HALCYON get --disk-limit 600 -o mine.png $WEB/png-rgb.png")
        #expect(copied.status == 0 && copied.errors.isEmpty, "the copy is the user's")
        let large = try run("$HALCYON prefetch --disk-limit 600 -", input: web.url("/png-rgb.png"))
        #expect(large.status == 0 && large.errors.contains("(tooLarge)"), "\(large.errors)")
        let full = try run(
            "HALCYON_CONFIG=config.json; echo '{\"disk\":{\"freeSpaceFloor\":1000000000000000}}' >$HALCYON_CONFIG; "
                + "export HALCYON_CONFIG; $HALCYON prefetch -", input: web.url("/png-rgb.png"))
        #expect(full.status == 1 && full.errors.contains("(noRoom)"), "\(full.errors)")
        let nowhere = "-O cacheMemoryOnly=true -O memory=false -O waitForCache=false -"
        let loaded = try run("$HALCYON prefetch \(nowhere)", input: web.url("/png-rgb.png"))
        #expect(loaded.status == 0 && text(loaded) == "1 loaded, 0 cached already, 0 failed\n")
        #expect(loaded.errors.contains("/png-rgb.png: ") && loaded.errors.contains("(notAsked)"), "\(loaded.errors)")
        let json = try run("$HALCYON prefetch --json \(nowhere)", input: web.url("/png-rgb.png"))
        #expect(try json.lines[0]["notStored"]?.elements?.first?["stored"] == .string("notAsked"))
    }

    @Test func theCacheIsListedDescribedAndEmptied() throws {
        defer { web.stop() }
        _ = try run("$HALCYON get $WEB/png-rgb.png $WEB/jpeg-photo.jpg")
        let list = text(try run("$HALCYON ls"))
        #expect(list.contains("  669 B    61×37  png ") && list.contains("19.1 kB  320×240  jpeg"))
        #expect(try run("$HALCYON ls --json --prefix $WEB/png").lines.map { $0["format"] } == [.string("png")])
        #expect(text(try run("$HALCYON info $WEB/png-rgb.png")).contains("width                61\n"))
        #expect(text(try run("$HALCYON size")).contains("disk.count           2\n"))
        #expect(text(try run("$HALCYON size")).split(separator: "\n").count == 8, "no member under its former name too")
        #expect(text(try run("$HALCYON verify")).contains("clean       yes\n"))
        #expect(text(try run("$HALCYON clean")) == "0 images removed, 0 B\n")
        let removed = try run("$HALCYON rm $WEB/png-rgb.png nothing")
        #expect(removed.status == 1 && removed.errors == "halcyon: nothing is not in the cache.\n")
        #expect(try run("$HALCYON clean --all").status == 0)
        #expect(try run("$HALCYON size --json").lines[0]["disk"]?["count"] == .integer(0))
        let unknown = try run("$HALCYON info nothing")
        #expect(unknown.status == 1 && unknown.output.isEmpty && !unknown.errors.isEmpty)
    }

    @Test func verifyEndsWithOneWhenAFileWasDamaged() throws {
        defer { web.stop() }
        let path = text(try run("$HALCYON get $WEB/jpeg-photo.jpg")).split(separator: "\n").map(String.init)[0]
        try Data("damaged".utf8).write(to: URL(fileURLWithPath: path))
        #expect(try run("$HALCYON verify --dry-run").status == 1)
        #expect(try run("$HALCYON verify").status == 1)
        #expect(try run("$HALCYON verify").status == 0)
    }

    @Test func callPrintsTheResultOrTheError() throws {
        defer { web.stop() }
        #expect(
            text(try run("$HALCYON call isCached '{\"key\":\"a\"}'"))
                == "{\n  \"cached\": false,\n  \"cacheType\": \"none\"\n}\n")
        #expect(text(try run("$HALCYON call isCached -", input: "[\n\"a\"\n]")).contains("\"cached\": false"))
        let failed = try run("$HALCYON call isCached")
        #expect(failed.status == 1 && failed.output.isEmpty && failed.errors.contains("\"code\": -32602"))
        let params = "{\"url\":\"\(web.url("/jpeg-photo.jpg"))\",\"workDoneToken\":1}"
        #expect(try run("$HALCYON call retrieve '\(params)'").errors.contains("\"kind\":\"begin\""))
    }

    @Test(arguments: [("foo", nil), ("prefetsch", "prefetch"), ("List", nil), ("verfy", "verify"), ("gte", "get")])
    func aCommandThatIsNoneIsSaidWithTheNearest(_ word: String, _ nearest: String?) throws {
        defer { web.stop() }
        let got = try run("$HALCYON \(word) x")
        #expect(got.status == 2 && got.output.isEmpty && got.errors.contains("There is no command \"\(word)\""))
        #expect(got.errors.contains("did you mean") == (nearest != nil))
        if let nearest { #expect(got.errors.contains("did you mean \"\(nearest)\"?")) }
    }

    @Test func sizesHaveUnitsWhereverTheyAreGiven() throws {
        defer { web.stop() }
        overwrite(scratch.path + "/config.json", ascii(#"{"memoryLimit": "64MiB"}"#))
        let shown = text(
            try run("HALCYON_OUTPUT_LIMIT=1.5gb $HALCYON config --json --disk-limit 2GB --config config.json"))
        #expect(shown.contains("2000000000") && shown.contains("1500000000") && shown.contains("67108864"))
        let got = try run("$HALCYON get -O maxBytes=1kB $WEB/jpeg-photo.jpg")
        #expect(got.status == 1 && got.errors.contains("1000"), "\(got.errors)")
        #expect(try run("$HALCYON get -O maxBytes=1MB $WEB/jpeg-photo.jpg").status == 0)
        overwrite(
            scratch.path + "/config.json",
            ascii(#"{"memory": {"totalBytesLimit": "10MB"}, "disk": {"bytesLimit": "2 GiB", "freeSpaceFloor": "1M"}}"#))
        let nested = text(try run("$HALCYON config --json --config config.json"))
        for size in ["10000000", "6000000", "2147483648", "1000000"] { #expect(nested.contains(size), "\(nested)") }
        let change = #"{"memory": {"totalBytesLimit": "1.5MB"}, "disk": {"freeSpaceFloor": "2k"}}"#
        let configured = text(try run("$HALCYON call configure '\(change)'"))
        #expect(configured.contains("1500000") && configured.contains("2000"), "\(configured)")
        let unclear = try run(#"$HALCYON call configure '{"disk": {"bytesLimit": "2XB"}}'"#)
        let reason = (try? JSON(unclear.errors)["message"]?.string) ?? ""
        #expect(unclear.status == 1 && reason.hasSuffix(#"such as "500MB" or "2GiB", not "2XB"."#), "\(unclear.errors)")
        let wrong = try run("$HALCYON config --disk-limit 2XB")
        #expect(wrong.status == 2 && wrong.errors.contains("500MB or 2GiB, not \"2XB\""))
    }

    @Test func theListIsSortedAsWanted() throws {
        defer { web.stop() }
        _ = try run("$HALCYON get $WEB/png-rgb.png $WEB/gif-animated.gif $WEB/jpeg-photo.jpg")
        func sizes(_ flags: String) throws -> [Int] {
            try run("$HALCYON ls --json \(flags)").lines.compactMap { $0["byteCount"]?.integer }
        }
        let plain = try sizes("")
        #expect(try sizes("--sort size") == plain.sorted(by: >) && plain.count == 3)
        for order in ["used", "stored"] {
            let times = try run("$HALCYON ls --json --sort \(order)").lines.compactMap { $0["\(order)At"]?.string }
            #expect(times.count == 3 && times == times.sorted(by: >))
        }
        #expect(text(try run("$HALCYON ls --sort size")).split(separator: "\n").count == 3)
        #expect(try run("$HALCYON ls --sort colour").status == 2)
    }

    @Test(arguments: [
        ("get --cache ../x $WEB/png-rgb.png", "not \"../x\""), ("mcp --cache ../x", "not \"../x\""),
        ("get -O nope=5 $WEB/png-rgb.png", "nope"), ("get --processors nope $WEB/png-rgb.png", "nope"),
        ("prefetch --max-concurrent 0 list", "maxConcurrent"), ("size --cache .hidden", "not \".hidden\""),
        ("help nope", "no command \"nope\""),
    ])
    func aCommandLineThatIsWrongEndsWithTwo(line: String, names: String) throws {
        defer { web.stop() }
        overwrite(scratch.path + "/list", ascii(web.url("/png-rgb.png")))
        let wrong = try run("$HALCYON \(line)")
        #expect(wrong.status == 2 && wrong.errors.contains(names), "\(wrong.status): \(wrong.errors)")
        #expect(web.requests.isEmpty)
    }

    /// Bash asks the program itself for keys.
    @Test func valuesAreCompletedToo() throws {
        defer { web.stop() }
        _ = try run("$HALCYON get --key first $WEB/png-rgb.png && $HALCYON get --key other $WEB/png-rgb.png")
        _ = try run("$HALCYON completions bash > completions")
        /// - Parameter line: The line, where bash makes several words of one.
        func completions(_ words: [String], _ line: String? = nil) throws -> [String] {
            let list = words.map { "'\($0)'" }.joined(separator: " ")
            let script = """
                . ./completions; COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); COMP_LINE='\(line ?? words.joined(separator: " "))'
                COMP_POINT=${#COMP_LINE}
                _halcyon_whole_words halcyon "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"; printf '%s\\n' "${COMPREPLY[@]}"
                """
            overwrite(scratch.path + "/script", ascii(script))
            let folder = URL(fileURLWithPath: ServerProcess.binary).deletingLastPathComponent().path
            let got = try run("PATH=\(folder):$PATH bash script")
            return text(got).split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(
            try Set(completions(["halcyon", "get", "--revalidate", ""])).isSuperset(of: ["never", "ifExpired", "http"]))
        #expect(try completions(["halcyon", "get", "--format", "w"]) == ["webp"])
        // A key counts once, however many pictures were made of it.
        _ = try run("for size in 8 9 10; do $HALCYON get --key first --resize $size $WEB/png-rgb.png; done")
        #expect(
            try completions(["halcyon", "rm", ""]).filter { ["first", "other"].contains($0) }.sorted() == [
                "first", "other",
            ])
        #expect(try completions(["halcyon", "info", "fi"]) == ["first"])
        // Bash ends words at : and =, and replaces the last of them.
        _ = try run("$HALCYON get --key 'https://a.b/c?d=1' $WEB/png-rgb.png")
        for (words, rest) in [
            (["https"], "https://a.b/c?d=1"), (["https", ":"], "//a.b/c?d=1"), (["https", ":", "//a"], "//a.b/c?d=1"),
            (["https", ":", "//a.b/c?d", "="], "1"),
        ] {
            #expect(
                try completions(["halcyon", "info"] + words, "halcyon info " + words.joined()) == [rest], "\(words)")
        }
    }

    @Test func completionsAndManualAreMadeFromTheCommands() throws {
        defer { web.stop() }
        for shell in ["bash", "zsh", "fish"] {
            #expect(text(try run("$HALCYON completions \(shell)")).contains("prefetch"))
        }
        #expect(try run("$HALCYON completions bash | bash -n").status == 0)
        let manual = text(try run("$HALCYON manual"))
        #expect(manual.hasPrefix(".TH \"HALCYON\" 1") && manual.contains(".SS \"halcyon get urls...\""))
        #expect(manual.contains("\\fB\\-\\-max\\-downloads\\-per\\-host\\fR"))
    }

    /// Bars on a terminal, none elsewhere; they are gone at the end.
    @Test func aTerminalShowsHowFarADownloadIs() throws {
        defer { web.stop() }
        let gate = Gate()
        let picture = try Fixtures.bytes("jpeg-photo.jpg")
        let slow = try LocalServer { _ in
            Script.head(200, length: picture.count).raw(Array(picture[..<9000])).waiting(for: gate)
                .raw(Array(picture[9000...]))
        }
        defer { slow.stop() }
        let record = scratch.path + "/typescript"
        let line =
            "HALCYON_CACHE_DIR=\(scratch.path)/cache TERM=xterm \(ServerProcess.binary) get \(slow.url("/slow.jpg"))"
        let process = try Spawn.background(["script", "-qefc", line, record])
        func shown() -> String {
            String(decoding: FileManager.default.contents(atPath: record) ?? Data(), as: UTF8.self)
        }
        try waitUntil("a bar") { shown().contains("47% of 19.1 kB") }
        gate.open()
        #expect(Spawn.wait(for: process) == 0)
        let bar = try #require(shown().range(of: "slow.jpg ["))
        let erased = try #require(shown().range(of: "\u{1B}[1A\u{1B}[J", options: .backwards))
        let path = try #require(shown().range(of: ".jpg\r\n", options: .backwards))
        #expect(bar.lowerBound < erased.lowerBound && erased.upperBound < path.lowerBound)
    }
}
