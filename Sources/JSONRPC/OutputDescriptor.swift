internal import Glibc
internal import Platform

/// The descriptor that messages are written to, without blocking where the system allows that.
///
/// The inherited file description is shared with the client, so `O_NONBLOCK` must not be set on it. A pipe is opened
/// again through `/proc/self/fd`, which gives a separate description; one that cannot be opened again, such as a pipe that
/// another user made, is given only what it is known to take. A socket gets `MSG_DONTWAIT` per call; files and terminals are
/// written with plain `write`, which waits for a terminal that is stopped.
struct OutputDescriptor: Sendable {
    enum Outcome: Equatable {
        case wrote(Int)
        case wouldBlock
        /// The system is short of memory: the same write may succeed in a moment.
        case isShort
        case gone
        /// Nothing can be written any more, and not because the client is gone.
        case failed(errno: Int32)
    }

    private enum Kind {
        case pipe, sharedPipe, socket, other
    }

    let descriptor: Int32
    private let kind: Kind
    private let tap: ConnectionTap?

    /// Takes ownership of `descriptor`.
    ///
    /// - Parameters:
    ///   - tap: Receives a copy of the bytes that are written.
    ///   - opensAgain: `false` to treat a pipe as one that cannot be opened again.
    init(_ descriptor: Int32, tap: ConnectionTap? = nil, opensAgain: Bool = true) {
        self.tap = tap
        var status = stat()
        let mode = fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        if mode == S_IFIFO, opensAgain {
            let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if own >= 0 {
                close(descriptor)
                self.descriptor = own
                kind = .pipe
                return
            }
        }
        self.descriptor = descriptor
        kind = mode == S_IFIFO ? .sharedPipe : mode == S_IFSOCK ? .socket : .other
    }

    /// Enlarges the buffer of a pipe; does nothing for other descriptors.
    func widen() {
        if kind == .pipe || kind == .sharedPipe { WidePipe.widen(descriptor) }
    }

    /// Writes as much of `bytes` as fits now. Not to be called by two threads at once.
    func write(_ bytes: UnsafeRawBufferPointer) -> Outcome {
        while true {
            let count =
                switch kind {
                case .socket:
                    send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                case .sharedPipe: writeKnownToFit(bytes)
                case .pipe, .other: Glibc.write(descriptor, bytes.baseAddress, bytes.count)
                }
            if count >= 0 {
                tap?.output(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                return .wrote(count)
            }
            if errno != EINTR { return Self.outcome(of: errno) }
        }
    }

    /// What a pipe takes without blocking when it can be written to at all: a page (`PIPE_BUF`).
    private static let pageSize = 4096

    /// Writes to a pipe what it takes without blocking.
    private func writeKnownToFit(_ bytes: UnsafeRawBufferPointer) -> Int {
        var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        let count = poll(&place, 1, 0)
        if count == 0 { errno = EAGAIN }
        return count > 0 ? Glibc.write(descriptor, bytes.baseAddress, min(bytes.count, Self.pageSize)) : -1
    }

    /// What an error of a write says.
    static func outcome(of error: Int32) -> Outcome {
        switch error {
        case EAGAIN: .wouldBlock
        case ENOMEM, ENOBUFS: .isShort
        case EPIPE, ECONNRESET, ECONNABORTED, ENOTCONN, ESHUTDOWN, ETIMEDOUT, EBADF, ENXIO: .gone
        default: .failed(errno: error)
        }
    }
}
