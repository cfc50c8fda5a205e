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

    /// Writes the file. What cannot be written is logged once.
    func write() {
        guard let reason = replace() else { return }
        if hasFailed.exchange(true, ordering: .relaxed) { return }
        Logger(label: "halcyon").warning("\(path) cannot be written: \(reason)")
    }

    /// Writes a draft and renames it, so that no reader finds half of it. A link goes on leading to the file.
    ///
    /// - Returns: The reason for which it cannot be written.
    private func replace() -> String? {
        var (target, status) = (path, stat())
        if lstat(path, &status) == 0 {
            guard let resolved = realpath(path, nil) else { return Self.reason }
            defer { free(resolved) }
            target = String(cString: resolved)
            // A device or a pipe with this name is for others, and would be lost.
            guard stat(target, &status) == 0 else { return Self.reason }
            guard status.st_mode & S_IFMT == S_IFREG else { return "it is not a regular file" }
        }
        let draft = "\(target).\(getpid()).part"
        let bytes = Array(server.metrics.utf8)
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
        var isWritten = descriptor >= 0
        if isWritten {
            do { try bytes.withUnsafeBytes { try Files.writeAll($0, to: descriptor, draft) } } catch {
                isWritten = false
            }
            close(descriptor)
        }
        if isWritten, rename(draft, target) == 0 { return nil }
        let reason = Self.reason
        unlink(draft)
        return reason
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
