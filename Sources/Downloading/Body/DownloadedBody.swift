internal import Glibc
package import Platform

/// The bytes of a finished download, shared by all callers that waited for it.
///
/// Small bodies are in memory, larger ones in a file, which is deleted with the last reference unless it has an owner.
package final class DownloadedBody: Sendable {
    package enum Storage: Sendable {
        case memory([UInt8])
        case file(path: String, count: Int)
        case unnamed(UnnamedFile, count: Int)
    }

    package let storage: Storage
    private let digest: TrailingDigest?
    private let memory: BodyMemory?
    /// What deletes the file; `nil` when the body does.
    private let owner: (any AnyObject & Sendable)?

    /// - Parameters:
    ///   - digest: The hash of the file, computed during the download.
    ///   - memory: Counts the bytes as long as they are there, when they are in memory.
    ///   - owner: Deletes the file when nothing refers to it any more.
    package init(
        _ storage: Storage, _ digest: TrailingDigest? = nil, in memory: BodyMemory? = nil,
        ownedBy owner: (any AnyObject & Sendable)? = nil
    ) {
        (self.storage, self.digest, self.memory, self.owner) = (storage, digest, memory, owner)
        memory?.add(count)
    }

    deinit {
        memory?.subtract(count)
        if owner == nil, case .file(let path, _) = storage { unlink(path) }
    }

    package var count: Int {
        switch storage {
        case .memory(let bytes): bytes.count
        case .file(_, let count), .unnamed(_, let count): count
        }
    }

    package var place: BodyPlace {
        switch storage {
        case .memory(let bytes): .memory(bytes)
        case .file(let path, _): .file(path: path)
        case .unnamed(let file, _): .unnamed(path: file.path)
        }
    }

    package var isInMemory: Bool { if case .memory = storage { true } else { false } }

    /// The SHA-256 of the file, if it was computed during the download and the file with this stamp is unchanged.
    /// `nil`: the file has to be read. May wait for the disk.
    package func checksum(of stamp: FileStamp?) -> Digest? { digest?.digest(of: stamp) }

    /// The bytes, read from the file if necessary.
    package func bytes() throws -> [UInt8] {
        switch storage {
        case .memory(let bytes): bytes
        case .file(let path, _): try Files.read(path, followsLinks: false)
        case .unnamed(let file, let count): try file.bytes(in: 0..<count)
        }
    }

    package func forEachPiece(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch storage {
        case .memory(let bytes): try bytes.withUnsafeBytes(body)
        case .file(let path, _):
            let file = try Descriptor(reading: path)
            try Files.forEachPiece(of: file.number, count, path, body)
        case .unnamed(let file, let count): try Files.forEachPiece(of: file.descriptor, count, file.path, body)
        }
    }

    /// The observer that has received the bytes of the file during the download. `nil`: none has. May wait for the
    /// disk.
    package var observer: (any ByteObserver)? { digest?.observer }
}
