internal import Glibc
internal import ImageEngine
internal import JSONRPC
internal import Terminal

/// Stores a small picture in each cache that the settings name, by a server with these settings, and removes it again.
struct FolderCheck {
    /// The space below which a file system is as good as full: that of a few large images, in bytes.
    private static let leastSpace = 64 << 20

    private let settings: ServerSettings

    init(_ settings: ServerSettings) { self.settings = settings }

    func run(_ report: inout DoctorReport) throws {
        let session = try Session(settings)
        for cache in ["default"] + settings.sources.names.filter({ $0 != "default" }).sorted() {
            check(cache, session.dialogue, &report)
        }
        session.end()
        let engine = settings.configuration.engine
        let (space, path) = Self.space(of: engine.cacheRoot)
        let text = "\(ByteText.text(space)) free in \(path)"
        let isFull = space < Self.leastSpace
        report.add(
            "cache", "disk space", isFull ? .missing : .ok, text,
            advice: isFull ? "Make room there, or name a folder elsewhere with --cache-dir." : nil)
    }

    private func check(_ cache: String, _ dialogue: Dialogue, _ report: inout DoctorReport) {
        let key = "halcyon doctor"
        let stored = dialogue.ask(
            Dialogue.Request("store") { params in
                params.field("cache", cache)
                params.field("key", key)
                params.field("data", FormatSample.base64(of: .png))
            })
        _ = dialogue.ask(
            Dialogue.Request("remove") { params in
                params.field("cache", cache)
                params.field("key", key)
            })
        guard let stored else { return report.add("cache", cache, .missing, "The engine has ended.") }
        if stored.isError {
            // The message ends with the hint.
            let (message, hint) = (stored.message ?? "Nothing can be stored.", stored.hint ?? "")
            let reason = message.hasSuffix(" " + hint) ? String(message.dropLast(hint.count + 1)) : message
            return report.add("cache", cache, .missing, reason, advice: stored.hint)
        }
        if let reason = stored.notStored {
            return report.add("cache", cache, .missing, "Nothing is stored: \(reason).")
        }
        guard let path = stored.path, let end = path.ranges(of: "/blobs/").last?.lowerBound else {
            return report.add("cache", cache, .note, "By the settings, images are kept in memory only.")
        }
        let folder = String(path[..<end])
        var status = stat()
        let mode = stat(folder, &status) == 0 ? String(status.st_mode & 0o7777, radix: 8) : "unknown"
        report.add("cache", cache, .ok, "\(folder) can be written; its mode is \(mode)")
    }

    /// The bytes that are free for this user where a folder is or would be made, and the folder that is there.
    private static func space(of folder: String) -> (Int, String) {
        var path = folder
        while access(path, F_OK) != 0, let slash = path.lastIndex(of: "/"), slash > path.startIndex {
            path = String(path[..<slash])
        }
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return (0, path) }
        let bytes = Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
        return (bytes.overflow ? .max : bytes.partialValue, path)
    }
}
