import Foundation
import TestSupport
import Testing

/// `halcyon doctor`, by the built binary.
@Suite(.onThreads)
struct DoctorTests {
    private let scratch: TemporaryFolder

    init() throws { scratch = try TemporaryFolder() }

    private func run(_ line: String, environment: [String: String] = [:]) throws -> Command {
        let variables = ["HALCYON_CACHE_DIR": scratch.path + "/cache", "TMPDIR": scratch.path, "no_proxy": ""]
        return try Command.shell(
            line, directory: scratch.path, environment: variables.merging(environment) { $1 })
    }

    private func text(_ command: Command) -> String { String(decoding: command.output, as: UTF8.self) }

    /// The findings of a group, by their names.
    private func findings(_ command: Command, _ group: String) throws -> [String: JSON] {
        let all = try JSON(command.output)["findings"]?.elements ?? []
        return Dictionary(
            all.filter { $0["group"]?.string == group }.map { ($0["name"]?.string ?? "", $0) }, uniquingKeysWith: { $1 }
        )
    }

    @Test func whereAllIsThereItTriesEveryFormatAndLeavesNothing() throws {
        let told = try run("$HALCYON doctor --json")
        #expect(told.status == 0 && told.errors.isEmpty, "\(text(told)) \(told.errors)")
        #expect(try JSON(told.output)["ok"] == .boolean(true))
        let codec = try findings(told, "codec")
        #expect(
            codec["decodes"]?["text"]?.string
                == "png jpeg gif webp avif heic tiff bmp ico svg jxl jp2 pnm icns pdf")
        #expect(codec["encodes"]?["text"]?.string == "png jpeg gif webp avif heic tiff bmp ico jxl")
        #expect(try findings(told, "libraries")["libcurl"]?["text"]?.string?.hasPrefix("libcurl/") == true)
        #expect(try findings(told, "cache")["default"]?["text"]?.string?.hasPrefix(scratch.path + "/cache/") == true)
        #expect(try text(run("$HALCYON ls")).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path) == ["cache"])
        #expect(text(try run("$HALCYON doctor")).hasSuffix("All is well.\n"))
    }

    @Test func aMissingWorkerIsToldWithWhatToDo() throws {
        let told = try run("$HALCYON doctor --codec /opt/nothing")
        #expect(told.status == 1)
        #expect(text(told).contains("the codec worker halcyon-codec is not at /opt/nothing"))
        #expect(text(told).hasSuffix("Missing: worker, formats.\n"))
    }

    @Test func onAMachineWithoutLibvipsItNamesThePackage() throws {
        let worker = try CodecLibraryTests.workerWithoutLibrary(in: scratch.path)
        let told = try run("$HALCYON doctor --json --codec \(worker)")
        #expect(told.status == 1 && told.errors.isEmpty, "\(told.errors)")
        let found = try findings(told, "codec")["worker"]
        #expect(found?["state"]?.string == "missing")
        let text = found?["text"]?.string ?? ""
        #expect(text.contains("libvipz.so.42") && text.contains("libvips42 of Debian"), "\(text)")
    }

    @Test func aFormatThatTheLibraryLacksIsToldWithItsPackageAndTheOthersAreTried() throws {
        // The real worker, changed so that it asks libvips for a loader of another name.
        let lame = #"LC_ALL=C sed 's/\x00heifload_source/\x00heifload_zource/' "$WORKER" >worker && chmod 755 worker"#
        let told = try run(
            lame + "; $HALCYON doctor --json --codec ./worker", environment: ["WORKER": CodecChild.binary])
        let codec = try findings(told, "codec")
        #expect(told.status == 1 && codec["worker"]?["state"]?.string == "ok")
        #expect(
            codec["decodes avif"]?["text"]?.string
                == "a small picture cannot be processed: avif cannot be read by the codec library of this machine.")
        #expect(codec["decodes avif"]?["advice"]?.string?.contains("libheif-plugin-dav1d of Debian") == true)
        #expect(codec["encodes heic"]?["advice"]?.string?.contains("libheif-plugin-x265 of Debian") == true)
        #expect(codec["encodes"]?["text"]?.string == "png jpeg gif webp tiff bmp ico jxl")
    }

    @Test func withoutATemporaryFolderTheOtherChecksAreMade() throws {
        let told = try run("$HALCYON doctor --json", environment: ["TMPDIR": scratch.path + "/none"])
        #expect(told.status == 1)
        #expect(try findings(told, "codec")["worker"]?["text"]?.string?.contains("(TMPDIR)") == true)
        #expect(try findings(told, "cache")["default"]?["state"]?.string == "ok")
    }

    @Test func aFolderThatCannotBeWrittenIsTold() throws {
        try Data().write(to: URL(fileURLWithPath: scratch.path + "/file"))
        let told = try run("$HALCYON doctor --json --cache-dir file/cache")
        #expect(told.status == 1)
        let cache = try findings(told, "cache")["default"]
        #expect(cache?["state"]?.string == "missing")
        #expect(cache?["text"]?.string?.contains(scratch.path + "/file") == true, "\(String(describing: cache))")
    }

    @Test func theProxyOfTheEnvironmentIsToldWithoutItsPassword() throws {
        let proxy = "http://ann:secret@proxy.example:3128"
        let told = try run("$HALCYON doctor --json", environment: ["https_proxy": proxy])
        let network = try findings(told, "network")
        #expect(network["proxy of https"]?["text"]?.string == "http://ann:…@proxy.example:3128")
        #expect(network["proxy of http"]?["text"]?.string == "none")
        #expect(!text(told).contains("secret"))
    }

    @Test func certificatesThatCannotBeReadAreToldWithWhatToDo() throws {
        let told = try run("$HALCYON doctor --json --ca-file /nowhere/authorities.pem")
        let certificates = try findings(told, "network")["certificates"]
        #expect(told.status == 1 && certificates?["state"]?.string == "missing")
        #expect(certificates?["text"]?.string?.contains("cannot be read from /nowhere/authorities.pem") == true)
        #expect(certificates?["advice"]?.string?.contains("Name another file with --ca-file") == true)
    }
}
