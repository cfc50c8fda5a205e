internal import Glibc

/// The bytes of a finished download, shared by all who waited for it.
///
/// Small bodies are held in memory, larger ones in a file of ours, named or not, that goes when the last holder lets go.
final class DownloadedBody: Sendable {
    enum Storage: Sendable {
        case memory([UInt8])
        case file(path: String, count: Int)
        case unnamed(UnnamedFile, count: Int)
    }

    let storage: Storage
    private let digest: TrailingDigest?

    /// - Parameter digest: What has hashed the file while it came.
    init(_ storage: Storage, _ digest: TrailingDigest? = nil) {
        self.storage = storage
        self.digest = digest
    }

    deinit {
        if case .file(let path, _) = storage { unlink(path) }
    }

    var count: Int {
        switch storage {
        case .memory(let bytes): bytes.count
        case .file(_, let count), .unnamed(_, let count): count
        }
    }

    /// Whether its bytes are in memory.
    var isInMemory: Bool { if case .memory = storage { true } else { false } }

    /// The SHA-256 of its file, if that was calculated while it came and the file with this stamp is still what it was;
    /// nil if it has to be read. May wait for the disk.
    func checksum(of stamp: FileStamp?) -> Digest? { digest?.digest(of: stamp) }

    /// The bytes, read from the file if need be.
    func bytes() throws -> [UInt8] {
        switch storage {
        case .memory(let bytes): bytes
        case .file(let path, _): try StorageFolder.read(path, followsLinks: false)
        case .unnamed(let file, let count): try file.bytes(count)
        }
    }

    /// Calls `body` with all its bytes, piece by piece.
    func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch storage {
        case .memory(let bytes): try bytes.withUnsafeBytes(body)
        case .file(let path, _):
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw StorageFailure(errno, "open", path) }
            defer { close(descriptor) }
            try Self.forEachPiece(of: descriptor, count, path, body)
        case .unnamed(let file, let count): try Self.forEachPiece(of: file.descriptor, count, file.path, body)
        }
    }

    private static func forEachPiece(
        of descriptor: Int32, _ count: Int, _ path: String, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var piece = [UInt8](repeating: 0, count: min(count, 1 << 18))
        var offset = 0
        while offset < count {
            let read = pread(descriptor, &piece, min(piece.count, count - offset), off_t(offset))
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw StorageFailure(read < 0 ? errno : EIO, "read", path) }
            try piece.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<read])) }
            offset += read
        }
    }

    /// The header of the picture in the body.
    ///
    /// - Throws: ``ImageHeader/Failure``, or ``StorageFailure`` when the file cannot be read.
    func header() throws -> ImageHeader {
        switch storage {
        case .memory(let bytes):
            return try bytes.withUnsafeBytes { bytes throws(ImageHeader.Failure) in try ImageHeader(bytes) }
        case .file(let path, let count):
            let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw StorageFailure(errno, "open", path) }
            defer { close(descriptor) }
            return try ImageHeader(descriptor: descriptor, count: count, map: digest?.scanMap)
        case .unnamed(let file, let count): return try ImageHeader(descriptor: file.descriptor, count: count)
        }
    }
}
