import Glibc
import ImageCodec
import ImageRecipes

// The server's socket is descriptor 3, or 0 when 3 is not open. It moves to 10 or higher, out of the reach of
// libraries, and whatever libraries print to standard output goes to standard error.
let given: Int32 = fcntl(3, F_GETFD) >= 0 ? 3 : 0
let socket = fcntl(given, F_DUPFD_CLOEXEC, 10)
let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
dup2(nothing, 0)
dup2(2, 1)
close(nothing)
if given == 3 { close(3) }
// The parts of the library that it is to prepare are its arguments.
let parts = Set(CommandLine.arguments.dropFirst().compactMap { CodecPart(rawValue: $0) })
guard socket >= 0, var process = CodecProcess(descriptor: socket, parts: parts) else {
    let complaint = "halcyon-codec: it is started by halcyon, with a socket, and needs libvips 8.14 or later.\n"
    _ = Array(complaint.utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    exit(69)
}
exit(process.run())
