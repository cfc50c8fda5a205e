internal import Glibc
internal import Platform
internal import Synchronization

/// The leases of a cache: its ``LeaseTable``, opened when it is first needed and again when the folder was replaced.
final class Lending: Sendable {
    private struct Open {
        let table: LeaseTable
        let generation: Int
        /// The time when the file was last seen in its place.
        var checkedAt: Int
    }

    /// The longest lease, in seconds: a year. A longer one is damage, and would keep files for a century.
    static let longest = 31_536_000

    private let folder: StorageFolder
    private let clock: CacheClock
    private let openings = Atomic(0)
    /// The moment of the last call of ``removeEnded()`` for a file that is lent beside, as ``CacheClock/boot``.
    private let endedAt = Atomic(Int.min)
    private let open = Mutex<Open?>(nil)

    init(folder: StorageFolder, clock: CacheClock) { (self.folder, self.clock) = (folder, clock) }

    /// The number of times that the index was opened: as long as it stays, the folder has not been replaced.
    var generation: Int { openings.load(ordering: .relaxed) }

    func noteOpening() { openings.add(1, ordering: .relaxed) }

    private var table: LeaseTable? {
        let (generation, now) = (generation, clock.boot)
        return open.withLock { open in
            if let found = open, found.generation == generation, found.checkedAt == now, found.table.isWhole {
                return found.table
            }
            // Once a second, for somebody may have removed the file alone, and others would lend in another; and one that
            // could not be opened may be there now. Opening the index anew may mean that the folder was replaced, but
            // seldom does.
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
            // A stranger who holds the file is waited for once.
            let patience = open == nil ? 0.5 : 0
            var table = LeaseTable(path: isOurs ? path : "", bootNumber: clock.bootNumber, patience: patience)
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

    /// Lends a file for so many seconds from now; an earlier lease that lasts longer stays.
    ///
    /// - Parameters:
    ///   - bytes: The size of the file.
    ///   - share: The most bytes that may be lent in all; 0 for no bound. A lease that has begun can be prolonged.
    /// - Returns: `false` when it is not lent, for too much is.
    @discardableResult
    func lend(_ file: LeaseNumber, for seconds: Double, bytes: Int, share: Int) -> Bool {
        guard let table, hasRoom(for: file, bytes: bytes, share: share, table) else { return false }
        // One more, for the seconds are cut off.
        let count = Int(min(seconds, Double(Self.longest)).rounded(.up)) + 1
        table.lend(file, until: clock.boot + count, bytes: bytes, times)
        return true
    }

    /// `true` when a file may be lent now.
    func hasRoom(for file: LeaseNumber, bytes: Int, share: Int) -> Bool {
        table.map { hasRoom(for: file, bytes: bytes, share: share, $0) } ?? false
    }

    /// Gives a file one more name, under which it stays for so many seconds without an entry. Those whose leases have ended go.
    ///
    /// - Parameters:
    ///   - bytes: The size of the file.
    ///   - share: The most bytes that may be lent in all; 0 for no bound. The last one may be larger than what is left.
    /// - Returns: The path; `nil` when more than the share is lent already.
    func lend(
        beside source: String, bytes: Int, _ fileExtension: String, for seconds: Double, share: Int
    ) throws -> String? {
        let count = Int(min(seconds, Double(Self.longest)).rounded(.up)) + 1
        // Makes the folder; others do not see a table that was opened before that.
        let path = try folder.lentPath(fileExtension, until: clock.wallNow + count)
        open.withLock { if let found = $0, found.table.inode == nil { $0?.checkedAt = .min } }
        // All that are there are looked at.
        if endedAt.exchange(clock.boot, ordering: .relaxed) != clock.boot { try removeEnded() }
        // One at a time: otherwise the disk would not be bounded.
        if share > 0, lentBytes > share { return nil }
        // Lent first: afterwards, who goes by another clock may remove it.
        let lease = LeaseNumber(beside: String(path.split(separator: "/").last ?? ""))
        lend(lease, for: seconds, bytes: bytes, share: 0)
        do { try folder.name(source, path) } catch {
            forgetBytes(of: lease)
            throw error
        }
        return path
    }

    /// Removes the files of ``lend(beside:bytes:_:for:share:)`` whose leases have ended; returns their number.
    @discardableResult
    func removeEnded() throws -> Int {
        let now = clock.wallNow
        return try folder.removeLent { name, end in
            // Further away than the longest lease, it is that of a clock that was wrong.
            (end <= now || end > now + Self.longest + 1) && !isLent(LeaseNumber(beside: name))
        }
    }

    private func hasRoom(for file: LeaseNumber, bytes: Int, share: Int, _ table: LeaseTable) -> Bool {
        if share == 0 { return true }
        // It may be there already, or something smaller in its place.
        let counted = rest(table.end(of: file)) > 0 ? table.bytes(of: file) : 0
        return counted >= bytes || table.lentBytes(times) - counted + bytes <= share
    }

    private var times: Range<Int> { clock.boot..<clock.boot + Self.longest + 1 }

    /// The bytes of all that is lent, entries or not.
    var lentBytes: Int { table?.lentBytes(times) ?? 0 }

    /// Counts no bytes for a lent file any more: it is gone before its time.
    func forgetBytes(of file: LeaseNumber) { table?.forgetBytes(of: file) }

    /// Counts no bytes for any lent file any more.
    func forgetBytes() { table?.forgetBytes() }

    func isLent(_ file: LeaseNumber) -> Bool { rest(of: file) > 0 }

    /// The rest of the lease of a file, in seconds; 0 for none.
    func rest(of file: LeaseNumber) -> Int { rest(table?.end(of: file) ?? 0) }

    private func rest(_ end: Int) -> Int {
        let rest = end - clock.boot
        return (1...Self.longest + 1).contains(rest) ? rest : 0
    }

    var hasLeases: Bool { table?.hasLeases(at: clock.boot) ?? false }

    /// `true` when the changes of other processes are seen.
    var isShared: Bool { table?.inode != nil }

    /// A mark that changes whenever, in any process, the entry `number` is written or removed, and sometimes when another one is:
    /// an image that was found before may be another now although its file is there, and one that was missing may be there.
    func changeMark(of number: Int64) -> ChangeMark { table?.changeMark(of: number) ?? ChangeMark() }

    /// Tells all processes that entries are written or removed, or all when `nil`: before that is committed, and again after it
    /// has been, before a download of them is over for others.
    func noteChanges(of numbers: [Int64]?) { table?.noteChanges(of: numbers) }
}
