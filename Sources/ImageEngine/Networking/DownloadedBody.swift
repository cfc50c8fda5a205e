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

    init(_ storage: Storage) { self.storage = storage }

    deinit {
        if case .file(let path, _) = storage { unlink(path) }
    }

    var count: Int {
        switch storage {
        case .memory(let bytes): bytes.count
        case .file(_, let count), .unnamed(_, let count): count
        }
    }

    /// The bytes, read from the file if need be.
    func bytes() throws -> [UInt8] {
        switch storage {
        case .memory(let bytes): bytes
        case .file(let path, _): try StorageFolder.read(path, followsLinks: false)
        case .unnamed(let file, let count): try file.bytes(count)
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
            return try ImageHeader(descriptor: descriptor, count: count)
        case .unnamed(let file, let count): return try ImageHeader(descriptor: file.descriptor, count: count)
        }
    }
}
