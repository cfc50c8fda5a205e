internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Terminal

/// Has the codec worker decode and encode a small picture of every format, by a server with a folder of its own.
struct CodecCheck {
    private let codec: CodecPool.Configuration

    init(_ codec: CodecPool.Configuration) { self.codec = codec }

    func run(_ report: inout DoctorReport) throws {
        let folder = try Self.temporaryFolder()
        defer { Self.remove(folder) }
        let session = try Session(ServerSettings(codec: codec, cacheDir: folder))
        if let failure = Self.failure(of: .png, as: .png, session.dialogue) {
            report.add("codec", "worker", .missing, failure)
            report.add("codec", "formats", .missing, "Without the worker no format can be decoded or encoded.")
        } else {
            report.add("codec", "worker", .ok, codec.executable ?? "")
            let formats = CodecFormats()
            Self.check(
                "decodes", formats.decoded.map { ($0.rawValue, Self.failure(of: $0, as: .png, session.dialogue)) },
                encodes: false, &report)
            Self.check(
                "encodes", formats.encoded.map { ($0.rawValue, Self.failure(of: .png, as: $0, session.dialogue)) },
                encodes: true, &report)
        }
        session.end()
    }

    /// Adds one finding for all formats that work, and one for each of the others.
    private static func check(
        _ name: String, _ outcomes: [(format: String, failure: String?)], encodes: Bool, _ report: inout DoctorReport
    ) {
        let working = outcomes.filter { $0.failure == nil }.map(\.format)
        if !working.isEmpty { report.add("codec", name, .ok, working.joined(separator: " ")) }
        for (format, failure) in outcomes {
            guard let failure else { continue }
            report.add(
                "codec", "\(name) \(format)", .missing, failure,
                advice: SystemPackage.codec(of: format, encodes: encodes).advice)
        }
    }

    /// The reason why a picture of a format cannot be made one of another; `nil` when it can.
    private static func failure(of source: ImageFormat, as target: EncodedFormat, _ dialogue: Dialogue) -> String? {
        let url = "data:\(source.mimeType);base64,\(FormatSample.base64(of: source))"
        let reply = dialogue.ask(
            Dialogue.Request("retrieve") { params in
                params.field("url", url)
                params.field("processors", "resize:8x8/format:\(target.rawValue)")
            })
        guard let reply else { return "The engine has ended." }
        if reply.isError {
            // Errors name the image by its URL, which here is the picture itself.
            return (reply.message ?? "It gave no reason.").replacing(url.excerpt, with: "a small picture")
        }
        guard let document = try? JSONDocument(parsing: reply.text) else { return "The answer cannot be read." }
        let format = document.root.member("format")?.string
        return format == target.rawValue ? nil : "It became \(format ?? "nothing")."
    }

    private static func temporaryFolder() throws -> String {
        var path = Array(((try environmentVariable("TMPDIR") ?? "/tmp") + "/halcyon-doctor-XXXXXX").utf8CString)
        guard mkdtemp(&path) != nil else {
            throw StartFailure(
                description: "No folder for temporary files can be made (TMPDIR): \(String(cString: strerror(errno))).")
        }
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Removes a file, or a folder with all that is in it.
    private static func remove(_ path: String) {
        if unlink(path) == 0 { return }
        for name in (try? Files.names(in: path)) ?? [] { remove("\(path)/\(name)") }
        rmdir(path)
    }
}
