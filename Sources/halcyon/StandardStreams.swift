internal import Glibc
internal import Platform
internal import Terminal

/// Private copies of the descriptors of the protocol, made before any other code can print to them.
///
/// After ``claim()`` descriptor 0 reads `/dev/null` and descriptor 1 writes to stderr.
struct StandardStreams {
    let input: Int32
    let output: Int32

    /// Opens each standard descriptor that is closed, the wrong way round: its use fails as before, and no socket or file of ours
    /// is given its number. Called before anything else is opened.
    static func occupy() {
        for number: Int32 in 0...2 where fcntl(number, F_GETFD) < 0 {
            _ = open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY)
        }
    }

    /// `true` when a standard descriptor can be used for what it is for.
    private static func isUsable(_ number: Int32) -> Bool {
        let flags = fcntl(number, F_GETFL)
        return flags >= 0 && flags & O_ACCMODE != (number == 0 ? O_WRONLY : O_RDONLY)
    }

    /// Makes private copies of descriptors 0 and 1; returns `nil` when they are closed.
    static func claim() -> StandardStreams? {
        guard isUsable(0), isUsable(1) else { return nil }
        let input = fcntl(0, F_DUPFD_CLOEXEC, 3)
        let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        guard input >= 0, output >= 0 else { return nil }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if null >= 0 {
            dup2(null, 0)
            if null > 2 { close(null) }
        }
        // When stderr is closed, descriptors 1 and 2 write to /dev/null.
        if !isUsable(2) {
            let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
            if nothing >= 0 { dup2(nothing, 2) }
            if nothing > 2 { close(nothing) }
        }
        dup2(2, 1)
        return StandardStreams(input: input, output: output)
    }
}

/// Writes a line to the stderr of a server, or drops it; see ``writeLine(_:to:)``.
func printToStderr(_ line: String) { writeLine(Array((line + "\n").utf8), to: 2) }

/// Writes a line to a descriptor for people. It is dropped when nobody reads and the pipe is full. A terminal is given a
/// second: Linux calls it full while another thread writes to it, as the one that shows progress.
func writeLine(_ line: [UInt8], to descriptor: Int32) {
    var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let patience: Int32 = isatty(descriptor) == 1 ? 1000 : 0
    guard poll(&place, 1, patience) == 1, place.revents & Int16(POLLOUT) != 0 else { return }
    _ = write(descriptor, line, line.count)
}

/// Writes a text of a command to stderr, and a line end. Waits for a reader that is slow.
func tell(_ text: String) { Array((text + "\n").utf8).withUnsafeBytes { try? Files.writeAll($0, to: 2, "stderr") } }

/// Writes a complaint of a command to stderr, its beginning in red on a terminal.
func complain(_ sentence: String) { tell("\(Colours.on(2).red("halcyon:")) \(sentence)") }

/// Writes a text to stdout. For commands; the server uses its own descriptor.
///
/// - Throws: What ends the command: nothing is said when the reader has gone, as in `halcyon ls | head -1`.
func printToStdout(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try printToStdout($0) } }

/// The same for bytes in memory of any kind.
func printToStdout(_ bytes: UnsafeRawBufferPointer) throws {
    do throws(SystemError) { try Files.writeAll(bytes, to: 1, "stdout") } catch {
        if error.code == EPIPE { throw Ending.failed }
        throw StartFailure(description: "standard output cannot be written: \(String(cString: strerror(error.code))).")
    }
}
