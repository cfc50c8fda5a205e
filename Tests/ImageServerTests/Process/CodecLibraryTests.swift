import TestSupport
import Testing

/// A codec worker that lacks the library it decodes with.
@Suite(.onThreads)
struct CodecLibraryTests {
    /// The real worker, changed so that it asks the loader for a library of another name, which no machine has.
    static func workerWithoutLibrary(in folder: String) throws -> String {
        let path = folder + "/halcyon-codec"
        // Written by another process: a program cannot be started while one that was forked meanwhile has it open.
        let script = #"LC_ALL=C sed 's/libvips\.so\.42/libvipz.so.42/g' "$WORKER" >"$COPY" && chmod 755 "$COPY""#
        let copying = try Command.shell(script, environment: ["WORKER": CodecChild.binary, "COPY": path])
        #expect(copying.status == 0, "\(copying.errors)")
        return path
    }

    @Test func withoutTheLibraryTheErrorNamesItAndItsPackageAndDownloadsGoOn() throws {
        let folder = try TemporaryFolder()
        let worker = try Self.workerWithoutLibrary(in: folder.path)
        let server = try ServerProcess(cache: folder.path + "/cache", ["--codec", worker])
        let url = quoted("file://" + Fixtures.folder + "/png-rgb.png")
        for id in 1...2 {
            let error = try server.call(id, "retrieve", #"{"url":\#(url),"processors":"resize:8x8"}"#)["error"]
            let message = error?["message"]?.string ?? ""
            #expect(error?["data"]?["name"]?.string == "processingFailed")
            #expect(message.contains("\(worker) cannot be started: libvipz.so.42: cannot open"), "\(message)")
            #expect(message.contains("libvips42 of Debian"), "\(message)")
        }
        #expect(try server.call(3, "retrieve", #"{"url":\#(url)}"#)["result"]?["width"]?.integer != nil)
        #expect(server.finish() == 0)
    }
}
