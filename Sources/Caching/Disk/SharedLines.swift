internal import Glibc
internal import Platform
internal import Synchronization

/// A file of lines in a cache folder, to which the processes that use the folder add.
package final class SharedLines: Sendable {
    /// The size in bytes from which the older half is dropped.
    static let sizeLimit = 1 << 18

    /// The part of the file that was read.
    private struct Position {
        var inode: UInt64 = 0
        var offset = 0
    }

    private let folder: StorageFolder
    private let name: String
    private let position = Mutex(Position())
    private var path: String { folder.path + "/" + name }

    /// The file `name` of a folder; neither is made before the first line.
    package init(_ folder: StorageFolder, name: String) { (self.folder, self.name) = (folder, name) }

    /// The lines that were added, by any process, since the last call.
    package func news() -> [String] {
        position.withLock { position in
            guard let file = try? Descriptor(reading: path), let stamp = file.stamp, folder.trusts(stamp) else {
                return []
            }
            // Somebody has dropped the older half: what is read again is known.
            if stamp.inode != position.inode || stamp.size < position.offset {
                position = Position(inode: stamp.inode)
            }
            guard stamp.size > position.offset, lseek(file.number, off_t(position.offset), SEEK_SET) >= 0,
                let bytes = try? file.bytes(min(stamp.size - position.offset, 4 * Self.sizeLimit)),
                let end = bytes.lastIndex(of: UInt8(ascii: "\n"))
            else { return [] }
            // A line that is being written is read when it is whole.
            position.offset += end + 1
            return bytes[..<end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// Adds a line; a folder that cannot be written stays without it.
    package func add(_ line: String) {
        try? position.withLock { _ in
            if try !folder.exists { try folder.prepare() }
            try folder.claim()
            let file = try folder.open(path, O_WRONLY | O_APPEND)
            guard let stamp = file.stamp, folder.trusts(stamp) else { return }
            try file.write(Array("\(line)\n".utf8))
            if stamp.size > Self.sizeLimit { try dropOlderHalf() }
        }
    }

    private func dropOlderHalf() throws {
        let bytes = try Files.read(path, followsLinks: false)
        let rest = bytes.suffix(bytes.count / 2).drop { $0 != UInt8(ascii: "\n") }.dropFirst()
        try folder.replace(path, with: Array(rest), name)
    }
}
