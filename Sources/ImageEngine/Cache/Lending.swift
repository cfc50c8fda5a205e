internal import Glibc
internal import Platform
internal import Synchronization

/// What a cache has lent out: the table of leases, opened when it is first needed and again when the folder is another.
final class Lending: Sendable {
    private struct Open {
        let table: LeaseTable
        let generation: Int
    }

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
        return open.withLock { open in
            if let open, open.generation == generation { return open.table }
            let path = folder.path + "/leases/table"
            // Opening the index anew may mean that the folder was replaced, but seldom does.
            if let found = open, let inode = found.table.inode, FileStamp(path: path)?.inode == inode {
                open = Open(table: found.table, generation: generation)
                return found.table
            }
            if folder.exists { try? folder.makeInner("leases") }
            let table = LeaseTable(path: path, bootNumber: clock.startNumber)
            open = table.map { Open(table: $0, generation: generation) }
            return table
        }
    }

    /// Lends the entry `number` out for so many seconds from now; an earlier lease that lasts longer stays.
    func lend(_ number: Int64, for seconds: Double) {
        // One more, for the seconds are cut off.
        table?.lend(number, until: clock.boot + Int(min(seconds, 1e9).rounded(.up)) + 1)
    }

    /// Whether the entry `number` is lent out.
    func isLent(_ number: Int64) -> Bool { rest(of: number) > 0 }

    /// How many seconds the entry `number` is still lent out; 0 for none.
    func rest(of number: Int64) -> Int { max(0, (table?.end(of: number) ?? 0) - clock.boot) }

    /// About how many entries are lent out.
    var count: Int { table?.count(at: clock.boot) ?? 0 }
}

/// Runs work on a thread of its own.
func startDetached(_ work: @escaping @Sendable () -> Void) { startThread(work) }
