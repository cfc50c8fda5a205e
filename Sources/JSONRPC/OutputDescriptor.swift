internal import Glibc
internal import Platform

/// The descriptor that messages are written to, without blocking where the system allows that.
///
/// The inherited file description is shared with the client, so `O_NONBLOCK` must not be set on it. A pipe is opened
/// again through `/proc/self/fd`, which gives a separate description; a socket gets `MSG_DONTWAIT` per call; files and
/// terminals are written with plain `write`.
struct OutputDescriptor: Sendable {
    enum Outcome: Equatable {
        case wrote(Int)
        case wouldBlock
        case gone
    }

    private enum Kind {
        case pipe, socket, other
    }

    let descriptor: Int32
    private let kind: Kind
    private let tap: ConnectionTap?

    /// Takes ownership of `descriptor`.
    ///
    /// - Parameter tap: Receives a copy of the bytes that are written.
    init(_ descriptor: Int32, tap: ConnectionTap? = nil) {
        self.tap = tap
        var status = stat()
        let mode = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        if mode == S_IFSOCK {
            self.descriptor = descriptor
            kind = .socket
            return
        }
        if mode == S_IFIFO {
            let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if own >= 0 {
                close(descriptor)
                self.descriptor = own
                kind = .pipe
                return
            }
        }
        self.descriptor = descriptor
        kind = .other
    }

    /// Enlarges the buffer of a pipe; does nothing for other descriptors.
    func widen() {
        if kind == .pipe { WidePipe.widen(descriptor) }
    }

    /// Writes as much of `bytes` as fits now.
    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        while true {
            let count =
                switch kind {
                case .socket:
                    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                case .pipe, .other: Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                }
            if count >= 0 {
                tap?.output(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                return .wrote(count)
            }
            switch errno {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .gone
            }
        }
    }
}
