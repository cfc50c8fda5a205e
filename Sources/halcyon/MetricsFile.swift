internal import Glibc
internal import ImageServer
internal import Logging
internal import Platform
internal import Synchronization

/// The file that holds the counters of a server for Prometheus, written now and then and at the end.
final class MetricsFile: Sendable {
    /// The time between two writings, in seconds.
    private static let interval = 15

    private let path: String
    private let server: ImageServer
    private let hasFailed = Atomic(false)

    /// - Parameter path: The file, with `%p` for the number of the process: each process has counters of its own.
    init(_ path: String, _ server: ImageServer) {
        (self.path, self.server) = (path.replacing("%p", with: "\(getpid())"), server)
    }

    /// Writes the file now, and again as long as this object is there.
    func start() {
        write()
        Task.detached(priority: .background) { [weak self] in
            while true {
                try? await Task.sleep(for: .seconds(Self.interval))
                guard let self else { return }
                self.write()
            }
        }
    }

    /// Writes a draft and renames it, so that no reader finds half of it. What cannot be written is logged once.
    func write() {
        let draft = "\(path).\(getpid()).part"
        let bytes = Array(server.metrics.utf8)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        var isWritten = descriptor >= 0
        if isWritten {
            do { try bytes.withUnsafeBytes { try Files.writeAll($0, to: descriptor, draft) } } catch {
                isWritten = false
            }
            close(descriptor)
        }
        if isWritten, rename(draft, path) == 0 { return }
        let reason = String(cString: strerror(errno))
        unlink(draft)
        if hasFailed.exchange(true, ordering: .relaxed) { return }
        Logger(label: "halcyon").warning("\(path) cannot be written: \(reason)")
    }
}
