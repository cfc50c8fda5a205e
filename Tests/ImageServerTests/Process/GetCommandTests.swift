import Foundation
import Glibc
import TestSupport
import Testing

/// `halcyon get` by the built binary: what it makes of images, and where it puts them.
@Suite(.onThreads)
struct GetCommandTests {
    private let scratch: TemporaryFolder
    private let web: LocalServer

    init() throws {
        scratch = try TemporaryFolder()
        let files = try Dictionary(
            uniqueKeysWithValues: ["png-rgb.png", "jpeg-photo.jpg"].map { ("/" + $0, try Fixtures.bytes($0)) })
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

    private func file(_ path: String) -> [UInt8] {
        [UInt8](FileManager.default.contents(atPath: scratch.path + "/" + path) ?? Data())
    }

    @Test func theNameOfTheOutputTellsTheFormat() throws {
        defer { web.stop() }
        #expect(try run("$HALCYON get -o a.webp $WEB/png-rgb.png").status == 0)
        #expect(file("a.webp").starts(with: ascii("RIFF")))
        #expect(try run("$HALCYON get -o b.PNG $WEB/jpeg-photo.jpg").status == 0)
        #expect(file("b.PNG").starts(with: [0x89, 0x50]))
        // What has the format already is copied as it is, unless something else is asked for.
        #expect(try run("$HALCYON get -o c.jpeg $WEB/jpeg-photo.jpg").status == 0)
        #expect(file("c.jpeg") == (try Fixtures.bytes("jpeg-photo.jpg")))
        #expect(try run("$HALCYON get -o d.jpg --quality 5 $WEB/jpeg-photo.jpg").status == 0)
        #expect((1..<file("c.jpeg").count / 2).contains(file("d.jpg").count))
        #expect(try run("$HALCYON get -o e --resize 20 $WEB/jpeg-photo.jpg").status == 0)
        #expect(file("e").starts(with: [0xFF, 0xD8]))
        #expect(try run("$HALCYON get -o f.bin --format gif $WEB/png-rgb.png").status == 0)
        #expect(file("f.bin").starts(with: ascii("GIF8")))
    }

    @Test func errorsLeavePasswordsInURLsOut() throws {
        defer { web.stop() }
        let place = web.url("").dropFirst("http://".count)
        let missing = try run("$HALCYON get 'http://ann:p%40ss@\(place)/none@2x.png'")
        #expect(missing.status == 1, "\(missing.errors)")
        #expect(
            missing.errors.contains("http://…@\(place)/none@2x.png") && !missing.errors.contains("ss@"),
            "\(missing.errors)")
        let offline = try run("$HALCYON get --offline http://ann:secret@\(place)/none")
        #expect(offline.errors.contains("http://…@\(place)/none is not in the cache"), "\(offline.errors)")
        for wrong in [
            "http://ann\\b:secret@h/a.png", "http://ann:p@secret@h/a@2x", "http:/ann:secret@h/a",
            "http:///ann:secret@h/a",
        ] {
            let refused = try run("$HALCYON get '\(wrong)'")
            #expect(refused.status != 0 && !refused.errors.contains("secret"), "\(refused.errors)")
        }
        // A program finds its own URL in the data.
        let url = "http://ann:p@\(place)/none"
        let told = try run("$HALCYON get --json '\(url)'")
        #expect(try told.lines[0]["data"]?["url"]?.string == url, "\(text(told))")
    }

    @Test func flagsThatContradictEachOtherAreRefused() throws {
        defer { web.stop() }
        let refused = try run("$HALCYON get --only-cached --refresh $WEB/png-rgb.png")
        #expect(refused.status == 2 && refused.errors.contains("--only-cached nothing else"), "\(refused.errors)")
    }

    @Test func aFileThatIsThereIsKeptUnlessForced() throws {
        defer { web.stop() }
        overwrite(scratch.path + "/mine.png", ascii("mine"))
        let refused = try run("$HALCYON get -o mine.png $WEB/png-rgb.png")
        #expect(refused.status == 1 && refused.errors.contains("mine.png already exists"), "\(refused.errors)")
        #expect(refused.errors.contains("--force") && file("mine.png") == ascii("mine") && web.requests.isEmpty)
        #expect(try run("$HALCYON get --force -o mine.png $WEB/png-rgb.png").status == 0)
        #expect(file("mine.png") == (try Fixtures.bytes("png-rgb.png")))
        // In a folder only those that are there are left out.
        mkdir(scratch.path + "/all", 0o700)
        overwrite(scratch.path + "/all/png-rgb.png", ascii("mine"))
        let some = try run("$HALCYON get -o all $WEB/png-rgb.png $WEB/jpeg-photo.jpg")
        #expect(some.status == 1 && text(some) == "\nall/jpeg-photo.jpg\n" && file("all/png-rgb.png") == ascii("mine"))
        #expect(some.errors.contains("all/png-rgb.png already exists"))
        // What is no file is written into.
        mkfifo(scratch.path + "/pipe", 0o600)
        let piped = try run("cat pipe & $HALCYON get -o pipe $WEB/png-rgb.png > /dev/null; wait")
        #expect(piped.output == (try Fixtures.bytes("png-rgb.png")))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/all").count == 2, "no drafts")
    }

    @Test func namesAreAsLongAsTheFileSystemTakes() throws {
        let picture = try Fixtures.bytes("png-rgb.png")
        let web = try LocalServer { _ in .reply(200, [:], picture) }
        defer {
            web.stop()
            self.web.stop()
        }
        let long = String(repeating: "a", count: 251) + ".png"
        for flags in ["", "--force", "--force"] {
            #expect(try run("$HALCYON get \(flags) -o \(long) \(web.url("/a.png"))").status == 0, "\(flags)")
        }
        #expect(file(long) == picture)
        mkdir(scratch.path + "/all", 0o700)
        let urls = [("図", 100), ("é", 119), ("😀", 119), ("x", 3), ("x", 300)].map { letter, count in
            let name = String(repeating: letter, count: count)
            return web.url("/" + (name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") + ".png")
        }
        for flags in ["", "--force"] {
            let got = try run("$HALCYON get \(flags) -o all - ", input: (urls + urls).joined(separator: "\n"))
            #expect(got.status == 0, "\(got.errors)")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/all")
        #expect(names.count == 10 && names.contains("xxx.png") && names.contains("xxx-2.png"), "\(names)")
        #expect(names.allSatisfy { file("all/" + $0) == picture && !$0.contains("\u{FFFD}") }, "\(names)")
    }

    @Test func aCopyThatFailsIsAnErrorInJSONToo() throws {
        defer { web.stop() }
        mkdir(scratch.path + "/all", 0o700)
        overwrite(scratch.path + "/all/png-rgb.png", ascii("mine"))
        let got = try run("$HALCYON get --json -o all $WEB/png-rgb.png $WEB/jpeg-photo.jpg")
        #expect(got.status == 1 && got.errors.contains("all/png-rgb.png already exists"))
        let lines = try got.lines
        #expect(lines.count == 2 && lines[1]["format"]?.string == "jpeg")
        #expect(lines[0]["code"]?.integer == 40000 && lines[0]["data"]?["url"]?.string == web.url("/png-rgb.png"))
        #expect(lines[0]["message"]?.string?.contains("already exists") == true)
        #expect(lines[0]["data"]?["name"]?.string == "storageFailed" && lines[0]["path"] == nil)
        let full = try run("$HALCYON get --json -o /dev/full $WEB/png-rgb.png")
        let sentence = try full.lines.first?["message"]?.string
        #expect(full.status == 1 && sentence?.contains("/dev/full cannot be written") == true, "\(text(full))")
    }

    /// The picture is 64 wide and 48 high.
    @Test(arguments: [
        ("--resize 32", 32, 24), ("--resize 32x", 32, 24), ("--resize x24", 32, 24), ("--resize 16x16", 16, 12),
        ("--resize 50%", 32, 24), ("--resize 1000", 64, 48), ("--resize 0.1%", 1, 1), ("--crop 20x10", 20, 10),
        ("--crop 32x32 --resize 50%", 16, 16), ("--rotate 90", 48, 64), ("--rotate 90 --resize 32", 24, 32),
    ])
    func sizesAreWrittenInSeveralWays(_ flags: String, _ width: Int, _ height: Int) throws {
        defer { web.stop() }
        let whole = try #require(run("$HALCYON get --json --resize 64x48 $WEB/jpeg-photo.jpg").lines.first)
        #expect(whole["width"]?.integer == 64 && whole["height"]?.integer == 48)
        let path = try #require(whole["path"]?.string)
        let got = try run("$HALCYON get --json \(flags) \(path)")
        #expect(got.status == 0, "\(got.errors)")
        let made = try #require(got.lines.first)
        #expect(made["width"]?.integer == width && made["height"]?.integer == height)
    }

    @Test func linesOfOutputMatchThoseOfInput() throws {
        defer { web.stop() }
        let list = ["/png-rgb.png", "/none.png", "/jpeg-photo.jpg"].map { web.url($0) }.joined(separator: "\n")
        let got = try run("$HALCYON get -", input: list)
        let lines = text(got).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(got.status == 1)
        #expect(lines.map { $0.split(separator: ".").last.map(String.init) ?? "" } == ["png", "", "jpg", ""])
        #expect(try run("$HALCYON get --json -", input: list).lines.count == 3)
    }

    @Test func linesOfAListMayHaveBlanksAroundThemAndTheLineEndsOfOtherSystems() throws {
        defer { web.stop() }
        let list = "\u{FEFF}\(web.url("/png-rgb.png"))\r\n \t\(web.url("/jpeg-photo.jpg")) \t\r\n"
        let got = try run("$HALCYON get -", input: list)
        #expect(got.status == 0 && text(got).split(separator: "\n").count == 2, "\(got.errors)")
    }

    @Test func formatsAreNamedAsInFileNamesToo() throws {
        defer { web.stop() }
        for name in ["jpg", "JPEG", "Jpg"] {
            let got = try run("$HALCYON get --json --format \(name) $WEB/png-rgb.png")
            #expect(try got.lines.first?["format"]?.string == "jpeg", "\(got.errors)")
        }
        #expect(try run("$HALCYON ls --format jpg --json").lines.count == 1)
    }

    @Test func severalImagesDoNotGoIntoOneName() throws {
        defer { web.stop() }
        let got = try run("$HALCYON get -o both.png $WEB/png-rgb.png $WEB/jpeg-photo.jpg")
        #expect(got.status == 1 && got.errors.contains("both.png is the name of one image, and there are 2"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path + "/both.png") && web.requests.isEmpty)
        #expect(try run("$HALCYON get -o both $WEB/png-rgb.png $WEB/jpeg-photo.jpg").status == 0)
    }

    @Test func framesThatAFormatHasNoPlaceForAreToldOf() throws {
        defer { web.stop() }
        let got = try run("$HALCYON get -o still.jpg file://\(Fixtures.folder)/gif-animated.gif")
        #expect(
            got.status == 0 && got.errors.contains("the format has one frame; 3 more are left out"), "\(got.errors)")
    }

    /// So that `paste list <(halcyon get - < list)` puts together what belongs together.
    @Test func linesOfAListWithoutAURLHaveAnEmptyLineOfOutput() throws {
        defer { web.stop() }
        let list = "# pictures\n\n\(web.url("/png-rgb.png"))\n\r\n  # one more\n\(web.url("/jpeg-photo.jpg"))\n\n#"
        let got = text(try run("$HALCYON get -", input: list))
        let lines = got.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.map { $0.split(separator: ".").last.map(String.init) ?? "" }
                == ["", "", "png", "", "", "jpg", "", "", ""])
        #expect(try run("$HALCYON get --json -", input: list).lines.count == 2)
        #expect(text(try run("$HALCYON get -", input: "#\n\n")) == "\n\n")
        #expect(try run("$HALCYON get -", input: "").output.isEmpty)
    }

    @Test func verboseTellsOfEachMissAndEachDownload() throws {
        defer { web.stop() }
        let secret = web.url("/png-rgb.png").replacing("http://", with: "http://ann:word@") + "?token=x"
        let gone = secret.replacing("png-rgb", with: "none")
        let first = try run("$HALCYON get -v '\(secret)' '\(gone)'")
        let lines = first.errors.split(separator: "\n").filter { $0.contains(" debug ") }
        func count(_ words: String) -> Int { lines.count { $0.contains(words) } }
        #expect(count("not answered from the cache") == 2 && count(": downloaded") == 1 && count("not downloaded") == 1)
        #expect(count("reason=nothingStored") == 2)
        #expect(count("url=http://…@\(web.url("/png-rgb.png").dropFirst(7))") == 2, "\(first.errors)")
        #expect(count("error=invalidStatusCode") == 1 && count("token") == 0 && count("word") == 0)
        let second = try run("$HALCYON get -v '\(secret)'")
        #expect(second.status == 0 && !second.errors.contains("downloaded") && !second.errors.contains("not answered"))
        let third = try run("$HALCYON get -v --option forceRefresh=true '\(secret)'")
        #expect(third.errors.contains("reason=forced"), "\(third.errors)")
        #expect(try run("$HALCYON get $WEB/jpeg-photo.jpg").errors.isEmpty)
    }

    /// A terminal shows no bytes, and what is red elsewhere is not where that is unwanted.
    @Test func aTerminalGetsNoBytesAndItsColoursOnlyIfWanted() throws {
        defer { web.stop() }
        func shown(_ line: String, _ variables: String = "") throws -> String {
            let record = scratch.path + "/typescript"
            // `swift test` sets NO_COLOR when its own output is no terminal.
            let settings = "HALCYON_CACHE_DIR=\(scratch.path)/cache TERM=xterm NO_COLOR= \(variables)"
            let process = try Spawn.background([
                "script", "-qefc", "\(settings) \(ServerProcess.binary) \(line)", record,
            ])
            let code = Spawn.wait(for: process)
            return String(decoding: FileManager.default.contents(atPath: record) ?? Data(), as: UTF8.self) + "\(code)"
        }
        let bytes = try shown("get -o - \(web.url("/png-rgb.png"))")
        #expect(bytes.contains("--force") && bytes.hasSuffix("2") && !bytes.contains("IHDR"))
        #expect(try shown("get --force -o - \(web.url("/png-rgb.png"))").contains("IHDR"))
        let red = "\u{1B}[31mhalcyon:\u{1B}[39m"
        let complaint = try shown("get \(web.url("/none.png"))")
        #expect(complaint.contains(red), "\(complaint)")
        #expect(try !shown("get \(web.url("/none.png"))", "NO_COLOR=1").contains("\u{1B}[31m"))
        #expect(try run("$HALCYON get $WEB/none.png").errors.hasPrefix("halcyon: "))
    }
}
