package import Platform

/// A body that was gathered elsewhere and is to be stored: in memory while it is small, else in a file.
package protocol StorableBody: AnyObject, Sendable {
    /// The number of bytes.
    var count: Int { get }
    /// The place of the bytes.
    var place: BodyPlace { get }
    /// The SHA-256 of its file, if it was calculated while the body came and the file with this stamp has not changed since.
    /// May wait for the disk.
    func checksum(of stamp: FileStamp?) -> Digest?
    /// The bytes, read from the file if need be.
    func bytes() throws -> [UInt8]
}

extension StorableBody {
    /// `true` when the bytes are in memory.
    package var isInMemory: Bool { if case .memory = place { true } else { false } }
}
