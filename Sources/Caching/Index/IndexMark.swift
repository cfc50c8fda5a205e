internal import Glibc
internal import Platform

/// Tells one state of the files of an index from another without reading them.
///
/// Whoever writes to a file changes its time of change. (The time of change of state, which no program can set, says less:
/// SQLite sets owner and mode whenever it opens a file.) The state that was found sound is kept in the file `index.sound`, so
/// that the next process need not check what nobody has touched; a start of the machine ends it.
struct IndexMark: Equatable, Sendable {
    /// The state of one file; zeros for none.
    struct File: Equatable, Sendable {
        var inode = 0
        var size = 0
        /// The time of the last change, in nanoseconds since 1970.
        var time = 0

        init() {}

        init(_ path: String) {
            var status = stat()
            guard path.withCString({ lstat($0, &status) }) == 0 else { return }
            (inode, size) = (Int(bitPattern: UInt(status.st_ino)), Int(status.st_size))
            time = status.st_mtim.tv_sec &* 1_000_000_000 &+ status.st_mtim.tv_nsec
        }
    }

    /// The number of the start of the machine.
    private var bootNumber: Int
    private(set) var index: File
    private var log: File
    private(set) var entryLog: File

    /// The state now.
    init(of files: IndexFiles, bootNumber: Int) {
        self.bootNumber = bootNumber
        (index, log, entryLog) = (File(files.path), File(files.log), File(files.entryLog))
    }

    /// `true` when the index is the same file, whatever is in it.
    func isOfSameIndex(as other: IndexMark?) -> Bool { index.inode == other?.index.inode }

    /// The state that was last found sound; `nil` when there is no such note.
    init?(savedIn files: IndexFiles) {
        guard let bytes = try? Files.read(files.mark, followsLinks: false), bytes.count < 1000 else { return nil }
        var numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ").map { Int($0) ?? 0 }[...]
        guard numbers.count == 10 else { return nil }
        bootNumber = numbers.removeFirst()
        (index, log, entryLog) = (File(), File(), File())
        for file in [\IndexMark.index, \.log, \.entryLog] {
            for field in [\File.inode, \.size, \.time] {
                self[keyPath: file][keyPath: field] = numbers.removeFirst()
            }
        }
    }

    /// Notes that this state is sound. What cannot be written is checked once more by the next process.
    func save(in files: IndexFiles) {
        guard let draft = try? files.folder.partialPath("sound"), let file = try? Descriptor(creating: draft) else {
            return
        }
        let numbers = [bootNumber] + [index, log, entryLog].flatMap { [$0.inode, $0.size, $0.time] }
        let text = Array(numbers.map(String.init).joined(separator: " ").utf8)
        let isWritten = text.withUnsafeBytes { (try? file.write($0)) != nil }
        if !isWritten || rename(draft, files.mark) != 0 { unlink(draft) }
    }
}
