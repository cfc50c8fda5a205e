internal import Glibc
internal import Platform

/// A file with credentials.
enum CredentialFile {
    /// The most bytes of such a file.
    static let mostBytes = 1 << 20

    /// The content of a regular file of at most ``mostBytes``; a pipe in its place does not block.
    static func bytes(_ path: String) throws -> [UInt8] {
        let file = try Descriptor(reading: path, followsLinks: true)
        guard let stamp = file.stamp, stamp.size <= mostBytes else { throw SystemError(EFBIG, "read", path) }
        return try file.bytes(stamp.size)
    }
}
