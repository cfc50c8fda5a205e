internal import Glibc
internal import Platform
internal import Synchronization

/// The leases of a cache: its ``LeaseTable``, opened when it is first needed and again when the folder was replaced.
final class Lending: Sendable {
    private struct Open {
        let table: LeaseTable
        let generation: Int
        /// The time when the file was last seen in its place.
        let checkedAt: Int
    }

    /// The longest lease, in seconds: a year. A longer one is damage, and would keep files for a century.
    static let longest = 31_536_000

    private let folder: StorageFolder
    private let clock: CacheClock
    private let openings = Atomic(0)
    private let open = Mutex<Open?>(nil)

    init(folder: StorageFolder, clock: CacheClock) { (self.folder, self.clock) = (folder, clock) }

    /// The number of times that the index was opened: as long as it stays, the folder has not been replaced.
    var generation: Int { openings.load(ordering: .relaxed) }

    /// Counts one more opening of the index.
    func noteOpening() { openings.add(1, ordering: .relaxed) }

    private var table: LeaseTable? {
        let (generation, now) = (generation, clock.boot)
        return open.withLock { open in
            if let found = open, found.generation == generation {
                let isKnown = found.checkedAt == now || found.table.inode == nil
                if isKnown, found.table.isWhole { return found.table }
            }
            // Once a second, for somebody may have removed the file alone, and others would lend in another. Opening the
            // index anew may mean that the folder was replaced, but seldom does.
            let path = folder.path + "/leases/table"
            if let found = open, let inode = found.table.inode, FileStamp(path: path)?.inode == inode,
                found.table.isWhole
            {
                open = Open(table: found.table, generation: generation, checkedAt: now)
                return found.table
            }
            // In a folder of others' the table is one of our own.
            let isOurs = (try? folder.claim()) != nil
            if isOurs, (try? folder.exists) == true { try? folder.makeInner("leases") }
            var table = LeaseTable(path: isOurs ? path : "", bootNumber: clock.bootNumber)
            if isOurs { folder.share(path) }
            let isRemoved = open?.generation == generation
            if let own = open?.table, own.inode == nil || isRemoved {
                // What was lent while there could be no file, or in one that was removed or cut, stays lent.
                if let table, table.inode != nil || !own.isWhole { table.take(from: own) } else { table = own }
            }
            open = table.map { Open(table: $0, generation: generation, checkedAt: now) }
            return table
        }
    }

    /// A file of an image.
    struct File {
        /// The number of the image.
        let number: Int64
        /// The time of the file's last change.
        let modified: Int
        let bytes: Int

        init(_ number: Int64, modified: Int, bytes: Int) {
            (self.number, self.modified, self.bytes) = (number, modified, bytes)
        }

        init(_ row: IndexRow) { self.init(row.number, modified: row.modified, bytes: row.byteCount) }
    }

    /// Lends the file of an entry for so many seconds from now; an earlier lease that lasts longer stays.
    ///
    /// - Parameter share: The most bytes that may be lent in all; 0 for no bound. A lease that has begun can be prolonged.
    /// - Returns: `false` when it is not lent, for too much is.
    @discardableResult
    func lend(_ file: File, for seconds: Double, share: Int) -> Bool {
        guard let table else { return false }
        if share > 0, rest(of: file, table) == 0, bytes(in: table) + file.bytes > share { return false }
        table.unmark(file.number, file.modified)
        lend(file, for: seconds, table)
        return true
    }

    /// Lends a file that becomes that of an entry, as ``lend(_:for:share:)`` does. A lease that runs is that of an earlier file
    /// of the image, and says nothing about this one.
    ///
    /// - Parameters:
    ///   - seconds: 0 to lend nothing.
    ///   - old: The time of the last change of the file that it replaces.
    func lendNew(_ file: File, replacing old: Int?, for seconds: Double, share: Int) -> Bool {
        guard let table else { return false }
        if seconds > 0, share == 0 || bytes(in: table) + file.bytes <= share {
            table.unmark(file.number, file.modified)
            lend(file, for: seconds, table)
            return true
        }
        if isLent(file.number) {
            table.markUnlent(file.number, file.modified, replacing: old)
            // The earlier file counts among those without entries.
            table.forgetBytes(of: file.number)
        }
        return false
    }

    private func lend(_ file: File, for seconds: Double, _ table: LeaseTable) {
        // One more, for the seconds are cut off.
        let count = Int(min(seconds, Double(Self.longest)).rounded(.up)) + 1
        table.lend(file.number, until: clock.boot + count, bytes: file.bytes, times)
    }

    private var times: Range<Int> { clock.boot..<clock.boot + Self.longest + 1 }

    private func bytes(in table: LeaseTable) -> Int { table.lentBytes(times) + table.leftBytes(at: clock.boot) }

    /// The bytes of all that is lent, with and without entries.
    var leasedBytes: Int { table.map { bytes(in: $0) } ?? 0 }

    /// Sets the bytes of the files that stay only for their leases; one that has just been left stays for `rest` seconds.
    func noteLeft(bytes: Int, rest: Int = 0) {
        guard let table else { return }
        table.setLeft(bytes: bytes)
        if rest > 0 { table.setLeft(until: clock.boot + rest, times) }
    }

    /// Counts the entry `number`, which is lent, no longer: its file has gone, or stays only for its lease.
    func forgetBytes(of number: Int64) { table?.forgetBytes(of: number) }

    /// `true` when a file of the image `number` is lent, that of its entry or an earlier one.
    func isLent(_ number: Int64) -> Bool { rest(of: number) > 0 }

    /// The rest of the lease of any file of the image `number`, in seconds; 0 for none.
    func rest(of number: Int64) -> Int { rest(table?.end(of: number) ?? 0) }

    /// `true` when the file is lent.
    func isLent(_ file: File) -> Bool { rest(of: file) > 0 }

    /// The rest of the lease of a file, in seconds; 0 for none.
    func rest(of file: File) -> Int { table.map { rest(of: file, $0) } ?? 0 }

    private func rest(of file: File, _ table: LeaseTable) -> Int {
        let rest = rest(table.end(of: file.number))
        return rest > 0 && table.isUnlent(file.number, file.modified) ? 0 : rest
    }

    private func rest(_ end: Int) -> Int {
        let rest = end - clock.boot
        return (1...Self.longest + 1).contains(rest) ? rest : 0
    }

    /// `true` when any entry may be lent.
    var hasLeases: Bool { table?.hasLeases(at: clock.boot) ?? false }

    /// A number that changes whenever, in any process, a file stays only for its lease: an image that was found before may
    /// be another now although its file is there.
    var departures: UInt32 { table?.departures ?? 0 }

    /// Tells all processes that a file stays only for its lease.
    func noteDeparture() { table?.noteDeparture() }

    /// A mark that changes whenever, in any process, the image `number` is entered, and sometimes when another one is; `nil`
    /// when that cannot be told.
    func storeMark(at number: Int64) -> StoreMark? {
        table?.storeMark(at: number)
    }

    /// Tells all processes that the image `number` has been entered: after it has been, and before its download is over for
    /// others.
    func noteStore(_ number: Int64) { table?.noteStore(number) }
}

/// The value of ``Lending/storeMark(at:)`` at some time.
struct StoreMark: Equatable, Sendable {
    /// The inode of the table's file, and its generation.
    let table: UInt64
    let generation: UInt64
    let count: UInt32
}
