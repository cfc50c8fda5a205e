internal import Platform

/// Tells one state of the files of an index from another without reading them.
///
/// Whoever writes to a file changes its time of change. (The time of change of state, which no program can set, says less:
/// SQLite sets owner and mode whenever it opens a file.) The state that was found sound is kept in the file `index.sound`, so
/// that the next process need not check what nobody has touched; a start of the machine ends it.
struct IndexMark: Equatable, Sendable {
    /// The state of one file; zeros for none, or for one that cannot be looked at.
    struct File: Equatable, Sendable {
        private(set) var inode: UInt64 = 0
        private(set) var size = 0
        /// The time of the last change, in nanoseconds since 1970.
        private var time = 0
        /// `false` when it cannot be looked at: then there may be one.
        private(set) var isKnown = true

        init(_ path: String) {
            do {
                guard let stamp = try FileStamp.existing(path) else { return }
                (inode, size, time) = (stamp.inode, stamp.size, stamp.modified)
            } catch {
                isKnown = false
            }
        }

        /// Reads ``numbers``.
        init(_ numbers: ArraySlice<Int>) {
            let first = numbers.startIndex
            (inode, size, time) = (UInt64(clamping: numbers[first]), numbers[first + 1], numbers[first + 2])
        }

        var numbers: [Int] { [Int(clamping: inode), size, time] }
    }

    /// The number of the start of the machine.
    private let bootNumber: Int
    let index: File
    private let log: File
    let entryLog: File

    /// The state now.
    init(of files: IndexFiles, bootNumber: Int) {
        self.bootNumber = bootNumber
        (index, log, entryLog) = (File(files.path), File(files.log), File(files.entryLog))
    }

    /// `true` when nothing but the copying of SQLite's log into the index can have led from `other` to this state.
    func isCopied(from other: IndexMark) -> Bool {
        bootNumber == other.bootNumber && index.inode == other.index.inode && log == other.log
            && entryLog == other.entryLog
    }

    /// The state that was last found sound; `nil` when there is no such note.
    init?(savedIn files: IndexFiles) {
        guard let bytes = try? Files.read(files.mark, followsLinks: false), bytes.count < 1000 else { return nil }
        let numbers = String(decoding: bytes, as: UTF8.self).split(separator: " ").map { Int($0) ?? 0 }
        guard numbers.count == 10 else { return nil }
        bootNumber = numbers[0]
        (index, log, entryLog) = (File(numbers[1..<4]), File(numbers[4..<7]), File(numbers[7..<10]))
    }

    /// Notes that this state is sound. What cannot be written is checked once more by the next process.
    func save(in files: IndexFiles) {
        let numbers = [bootNumber] + [index, log, entryLog].flatMap(\.numbers)
        let text = numbers.map(String.init).joined(separator: " ")
        try? files.folder.replace(files.mark, with: Array(text.utf8), "sound")
    }
}
