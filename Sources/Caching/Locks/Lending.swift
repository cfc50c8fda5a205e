internal import Glibc
internal import Platform
internal import Synchronization

/// What a cache has lent out: the table of leases, opened when it is first needed and again when the folder is another.
final class Lending: Sendable {
    private struct Open {
        let table: LeaseTable
        let generation: Int
        /// When the file was last seen to be there still.
        var checkedAt: Int
    }

    /// The longest lease, in seconds: a year. What lasts longer is damage, and would keep files for a century.
    static let longest = 31_536_000

    private let folder: StorageFolder
    private let index: CacheIndex
    private let clock: CacheClock
    private let open = Mutex<Open?>(nil)

    init(folder: StorageFolder, index: CacheIndex, clock: CacheClock) {
        self.folder = folder
        self.index = index
        self.clock = clock
    }

    private var table: LeaseTable? {
        let generation = index.generation
        let now = clock.boot
        return open.withLock { open in
            if let found = open, found.generation == generation {
                if found.checkedAt == now || found.table.inode == nil { return found.table }
                // Once a second: somebody may have removed the file alone, and others would lend in another.
                open?.checkedAt = now
                if FileStamp(path: folder.path + "/leases/table")?.inode == found.table.inode { return found.table }
            }
            let path = folder.path + "/leases/table"
            // Opening the index anew may mean that the folder was replaced, but seldom does.
            if let found = open, let inode = found.table.inode, FileStamp(path: path)?.inode == inode {
                open = Open(table: found.table, generation: generation, checkedAt: now)
                return found.table
            }
            if folder.exists { try? folder.makeInner("leases") }
            var table = LeaseTable(path: path, bootNumber: clock.startNumber)
            let isRemoved = open?.generation == generation
            if let own = open?.table, own.inode == nil || isRemoved {
                // What was lent out while there could be no file, or in one that was removed, stays lent out.
                if let table, table.inode != nil { table.take(from: own) } else { table = own }
            }
            open = table.map { Open(table: $0, generation: generation, checkedAt: now) }
            return table
        }
    }

    /// Lends the entry `number` out for so many seconds from now; an earlier lease that lasts longer stays.
    func lend(_ number: Int64, for seconds: Double) {
        // One more, for the seconds are cut off.
        let count = Int(min(seconds, Double(Self.longest)).rounded(.up)) + 1
        table?.lend(number, until: clock.boot + count, latest: clock.boot + Self.longest + 1)
    }

    /// Whether the entry `number` is lent out.
    func isLent(_ number: Int64) -> Bool { rest(of: number) > 0 }

    /// How many seconds the entry `number` is still lent out; 0 for none.
    func rest(of number: Int64) -> Int {
        let rest = (table?.end(of: number) ?? 0) - clock.boot
        return (1...Self.longest + 1).contains(rest) ? rest : 0
    }

    /// Changes whenever, in any process, a file stays only for its lease: an image that was found before may be another
    /// now although its file is there.
    var departures: UInt32 { table?.departures ?? 0 }

    /// Changes whenever, in any process, the image `number` is entered, and sometimes when another one is; nil when that
    /// cannot be told.
    func storeMark(at number: Int64) -> StoreMark? {
        guard let table, let inode = table.inode, let count = table.storeMark(at: number) else { return nil }
        return StoreMark(table: inode, count: count)
    }

    /// Tells all processes that the image `number` has been entered. After it has been, and before its download is over for
    /// others.
    func noteStore(_ number: Int64) { table?.noteStore(number) }

    /// Tells all processes that a file stays only for its lease.
    func noteDeparture() { table?.noteDeparture() }

    /// Whether any entry may be lent out.
    var hasLeases: Bool { table?.hasLeases(at: clock.boot) ?? false }
}

/// What ``Lending/storeMark(at:)`` was at some time.
struct StoreMark: Equatable, Sendable {
    /// The table's file.
    let table: UInt64
    let count: UInt32
}

/// Runs work on a thread of its own.
func startDetached(_ work: @escaping @Sendable () -> Void) { startThread(work) }
