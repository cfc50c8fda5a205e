internal import Glibc

/// The protocol's descriptors, taken out of everybody else's reach before anything can print.
///
/// After ``claim()`` descriptor 0 reads `/dev/null` and descriptor 1 writes to stderr.
struct StandardStreams {
    let input: Int32
    let output: Int32

    /// Makes private copies of descriptors 0 and 1; nil if they are closed.
    static func claim() -> StandardStreams? {
        let input = fcntl(0, F_DUPFD_CLOEXEC, 3)
        let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        guard input >= 0, output >= 0 else { return nil }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if null >= 0 {
            dup2(null, 0)
            if null > 2 { close(null) }
        }
        // Without a stderr there is nothing safe to point it at but nothing.
        if fcntl(2, F_GETFD) < 0 {
            let nowhere = open("/dev/null", O_WRONLY)
            if nowhere >= 0, nowhere != 2 { dup2(nowhere, 2) }
        }
        dup2(2, 1)
        return StandardStreams(input: input, output: output)
    }
}

/// Writes a line for people to stderr; never waits for a reader that is not there.
func printToStderr(_ line: String) {
    var place = pollfd(fd: 2, events: Int16(POLLOUT), revents: 0)
    guard poll(&place, 1, 0) == 1 else { return }
    let text = Array((line + "\n").utf8)
    _ = write(2, text, text.count)
}

/// Writes a text to the terminal or pipe on stdout, for the commands that are not the protocol.
func printToStdout(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
        var rest = bytes
        while !rest.isEmpty {
            let count = write(1, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }
}
