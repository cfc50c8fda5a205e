internal import Glibc
internal import Platform

/// Tells one state of the files of an index from another without reading them.
///
/// Whoever writes to a file changes its time of change. (The time of change of state, which no program can set, says less:
/// SQLite sets owner and mode whenever it opens a file.) The state that was found sound is kept in the file `index.sound`, so
/// that the next process need not check what nobody has touched; a start of the machine ends it.
struct IndexMark: Equatable, Sendable {
    /// The number of the start of the machine, then inode, size and time of change of each file; zeros for none.
    private var numbers: [Int]

    /// The state now.
    init(folder: StorageFolder, bootNumber: Int) {
        numbers = [bootNumber]
        for name in ["index.sqlite", "index.sqlite-wal", "entries.log"] {
            var status = stat()
            if String.joining(folder.path, "/", name).withCString({ lstat($0, &status) }) != 0 { status = stat() }
            let time = status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec
            numbers += [Int(status.st_ino), Int(status.st_size), time]
        }
    }

    /// `true` when the index is the same file, whatever is in it.
    func isOfSameIndex(as other: IndexMark?) -> Bool { numbers.dropFirst().first == other?.numbers.dropFirst().first }

    /// The state that was last found sound; `nil` when there is no such note.
    init?(savedIn folder: StorageFolder) {
        guard let bytes = try? Files.read(Self.path(in: folder), followsLinks: false), bytes.count < 1000 else {
            return nil
        }
        numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
    }

    /// Notes that this state is sound. What cannot be written is checked once more by the next process.
    func save(in folder: StorageFolder) {
        guard let draft = try? folder.partialPath("sound"), let file = try? Descriptor(creating: draft) else { return }
        let text = Array(numbers.map(String.init).joined(separator: " ").utf8)
        let isWritten = text.withUnsafeBytes { (try? file.write($0)) != nil }
        if !isWritten || rename(draft, Self.path(in: folder)) != 0 { unlink(draft) }
    }

    private static func path(in folder: StorageFolder) -> String { folder.path + "/index.sound" }
}
