internal import Glibc
internal import Platform

/// A file for the codec worker, which is deleted with the last reference to it.
final class ScratchFile: Sendable {
    let path: String
    /// The file without a name that it is where the cache folder takes none.
    let unnamed: UnnamedFile?

    init(_ path: String) { (self.path, unnamed) = (path, nil) }

    init(_ unnamed: UnnamedFile) { (path, self.unnamed) = (unnamed.path, unnamed) }

    deinit { if unnamed == nil { unlink(path) } }

    /// Writes an image for the worker, beside those of the cache or, where that cannot be, to a file without a name.
    static func holding(
        _ content: DiskStorage.Content, in spool: StorageFolder
    ) throws(ImageError) -> (ScratchFile, Digest) {
        try ImageError.reporting(spool.path) {
            do {
                let draft = try spool.write(content, for: "original", syncs: false)
                return (ScratchFile(draft.path), draft.checksum)
            } catch {
                for place in UnnamedFile.places {
                    guard let file = try? place(), let checksum = try? file.append(content) else { continue }
                    return (ScratchFile(file), checksum)
                }
                throw error
            }
        }
    }
}

extension UnnamedFile {
    /// Writes an image into the file and returns its checksum; `nil` for a file of the user's, which may be changing.
    fileprivate func append(_ content: DiskStorage.Content) throws -> Digest? {
        let digest = RunningDigest()
        let add = { (piece: UnsafeRawBufferPointer) in
            digest.update(piece)
            try self.append(piece)
        }
        switch content {
        case .bytes(let bytes): try bytes.withUnsafeBytes(add)
        case .body(let body):
            switch body.place {
            case .memory(let bytes): try bytes.withUnsafeBytes(add)
            case .file(let path): try Descriptor(reading: path).forEachPiece(add)
            case .unnamed(let path): try Descriptor(reading: path, followsLinks: true).forEachPiece(add)
            }
        case .file: return nil
        }
        return digest.finish()
    }
}
