internal import Glibc
internal import HTTPSemantics
internal import Platform

/// The writing connection.
extension CacheIndex {
    /// The writing connection with its statements; its methods are called within ``CacheIndex/write(_:)``.
    ///
    /// Statements are prepared when they are first needed: opening takes part in the first store of every process.
    final class Writer {
        let inode: UInt64?
        /// Whether the folder may hold images that the index does not know.
        private(set) var isAdopting: Bool
        private let finishClearing: @Sendable () throws -> Void
        private let departure: @Sendable () -> Void
        /// Whether the transaction leaves a file that stays only for its lease.
        var hasDeparture = false
        private let database: SQLiteDatabase
        private var statements: [Statement: SQLiteStatement] = [:]
        private var isSynced = false
        /// Whether there may be files that are to go. There are none as a rule, and then no entry is among them.
        private var mayHaveLeft = true
        /// What takes back what the transaction did outside of the index.
        private var undos: [() -> Void] = []

        /// - Parameters:
        ///   - finishClearing: Moves all files away after all entries were removed.
        ///   - departure: Called after a transaction with ``hasDeparture``.
        init(
            path: String, clock: CacheClock, hasImages: Bool, finishClearing: @escaping @Sendable () throws -> Void,
            departure: @escaping @Sendable () -> Void
        ) throws(SQLiteDatabase.Failure) {
            self.finishClearing = finishClearing
            self.departure = departure
            database = try SQLiteDatabase(path: path, creates: true)
            chmod(path, 0o600)
            try database.execute(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 8388608;"
                    + "PRAGMA wal_autocheckpoint = 2000;")
            let found = try database.number("PRAGMA user_version")
            // Put aside like a damaged one: the images are adopted, and nothing fails for ever.
            guard (0...CacheIndex.version).contains(found) else { throw .ofVersion(found) }
            if found < CacheIndex.version {
                let adopts = hasImages && found == 0 ? "UPDATE totals SET adopting = 1;" : ""
                do {
                    try database.execute("BEGIN IMMEDIATE; \(CacheIndex.statements(from: found)) \(adopts) COMMIT;")
                } catch {
                    try? database.execute("ROLLBACK")
                    throw error
                }
            }
            inode = CacheIndex.inode(path)
            isAdopting = try database.number("SELECT adopting FROM totals") == Folder.adopting
            if let anchor = try CacheIndex.anchor(database) { clock.follow(anchor) }
            try setAnchor(clock.anchor)
        }

        /// The statement for `sql`, prepared once.
        func statement(_ sql: Statement) throws(SQLiteDatabase.Failure) -> SQLiteStatement {
            if let kept = statements[sql] { return kept }
            let made = try database.prepare(sql.text)
            statements[sql] = made
            return made
        }

        /// Takes back what was done outside of the index if the transaction fails: the latest first, and before
        /// anybody else may write.
        func onFailure(_ undo: @escaping () -> Void) { undos.append(undo) }

        func transaction<Value>(syncs: Bool, _ body: (Writer) throws -> Value) throws -> Value {
            if syncs != isSynced {
                try database.execute("PRAGMA synchronous = \(syncs ? "FULL" : "NORMAL")")
                isSynced = syncs
            }
            hasDeparture = false
            try statement(.begin).run()
            do {
                if try state() == Folder.clearing {
                    // Under the lock that every store holds: no new file can be among the old ones.
                    try finishClearing()
                    try setState(Folder.known)
                }
                let value = try body(self)
                let commit = try statement(.commit)
                if syncs { try BlockingPool.waiting { try commit.run() } } else { try commit.run() }
                undos.removeAll(keepingCapacity: true)
                if hasDeparture { departure() }
                return value
            } catch {
                for undo in undos.reversed() { undo() }
                undos = []
                try? database.execute("ROLLBACK")
                throw error
            }
        }

        private func state() throws(SQLiteDatabase.Failure) -> Int {
            let state = try statement(.state)
            mayHaveLeft = true
            guard try state.step() else { return Folder.known }
            defer { state.reset() }
            mayHaveLeft = state.integer(1) != 0
            return state.integer(0)
        }

        private func setState(_ state: Int) throws(SQLiteDatabase.Failure) {
            try database.execute("UPDATE totals SET adopting = \(state)")
            isAdopting = state == Folder.adopting
        }

        // MARK: Entries

        func row(_ number: Int64) throws(SQLiteDatabase.Failure) -> Row? { try look(number).row }

        /// The entry with `number`, and whether there is any: also one that says what no version of ours would write.
        func look(_ number: Int64) throws(SQLiteDatabase.Failure) -> (row: Row?, isThere: Bool) {
            let find = try statement(.find)
            find.bind(1, number)
            guard try find.step() else { return (nil, false) }
            defer { find.reset() }
            return (Row(find), true)
        }

        /// Adds or replaces an entry, the most recently used from now on.
        ///
        /// - Parameter isNew: There is none yet. SQLite then need not be able to undo half of it, which costs as much as
        ///   the rest.
        func put(_ row: Row, metadata: String? = nil, isNew: Bool = false) throws(SQLiteDatabase.Failure) {
            let upsert = try statement(isNew ? .insert : .upsert)
            upsert.bind(1, row.number)
            upsert.bind(2, row.name.bytes)
            upsert.bind(3, row.key)
            upsert.bind(4, row.identifier)
            upsert.bind(5, row.fileExtension)
            upsert.bind(6, row.header.format.rawValue)
            upsert.bind(7, row.header.width)
            upsert.bind(8, row.header.height)
            upsert.bind(9, row.header.frameCount)
            upsert.bind(10, row.byteCount)
            upsert.bind(11, row.allocated)
            upsert.bind(12, row.checksum?.bytes)
            upsert.bind(13, row.origin.url)
            upsert.bind(14, row.origin.etag)
            upsert.bind(15, row.origin.lastModified)
            upsert.bind(16, row.storedAt)
            upsert.bind(17, row.expiresAt)
            upsert.bind(18, row.lifetime)
            upsert.bind(19, row.modified)
            upsert.bind(20, row.content)
            upsert.bind(21, row.origin.http)
            upsert.bind(22, URLOrigin.host(of: row.origin.url ?? row.key))
            upsert.bind(23, metadata)
            upsert.bind(24, row.storedAt)
            try upsert.run()
            if mayHaveLeft { try settle(row.fileName) }
        }

        func remove(_ number: Int64) throws(SQLiteDatabase.Failure) {
            let delete = try statement(.delete)
            delete.bind(1, number)
            try delete.run()
        }

        /// Another entry with the content that `content` numbers.
        func twin(_ content: Int64, besides number: Int64) throws(SQLiteDatabase.Failure) -> Row? {
            let twin = try statement(.twin)
            twin.bind(1, content)
            twin.bind(2, number)
            guard try twin.step() else { return nil }
            defer { twin.reset() }
            return Row(twin)
        }

        /// Gives the entry a content of its own, or one that it shares.
        func setContent(_ content: Int64, of number: Int64) throws(SQLiteDatabase.Failure) {
            let statement = try statement(.setContent)
            statement.bind(1, number)
            statement.bind(2, content)
            try statement.run()
        }

        func totals() throws(SQLiteDatabase.Failure) -> Totals {
            let sum = try statement(.sum)
            let found = try sum.step() ? Totals(sum) : nil
            sum.reset()
            if let found, found.isSane { return found }
            // Somebody wrote into the index: what follows must not be decided by that.
            try sumUp()
            defer { sum.reset() }
            return try sum.step() ? Totals(sum) : Totals()
        }

        /// The entries made from `key` by processors.
        func variants(of key: String) throws(SQLiteDatabase.Failure) -> [Row] {
            let variants = try statement(.variants)
            variants.bind(1, key)
            return try variants.rows()
        }

        func removeAll() throws(SQLiteDatabase.Failure) {
            try database.execute(CacheIndex.emptying)
            isAdopting = false
        }

        // MARK: Use and life

        /// Up to `limit` entries that were last used after the use numbered `use`, the longest unused first.
        func leastRecentlyUsed(_ limit: Int, after use: Int64 = .min) throws(SQLiteDatabase.Failure) -> [Used] {
            let oldest = try statement(.oldest)
            oldest.bind(1, limit)
            oldest.bind(2, use)
            var used: [Used] = []
            while try oldest.step() {
                let number = Int64(oldest.integer(0))
                used.append(Used(number: number, row: Row(oldest), use: Int64(oldest.integer(21))))
            }
            return used
        }

        /// Makes an entry the longest unused of all.
        func demote(_ number: Int64) throws(SQLiteDatabase.Failure) {
            let demote = try statement(.demote)
            demote.bind(1, number)
            try demote.run()
        }

        /// An entry in the order of use; without a row when it says what no version of ours would write.
        struct Used {
            let number: Int64
            let row: Row?
            let use: Int64
        }

        /// The number of the latest use.
        func latestUse() throws(SQLiteDatabase.Failure) -> Int64 {
            let latest = try statement(.latest)
            guard try latest.step() else { return 0 }
            defer { latest.reset() }
            return Int64(latest.integer(0))
        }

        /// Up to `limit` entries that have expired at `moment`.
        func expired(at moment: Int, _ limit: Int) throws(SQLiteDatabase.Failure) -> [Used] {
            let expired = try statement(.expired)
            expired.bind(1, moment)
            expired.bind(2, limit)
            var used: [Used] = []
            while try expired.step() {
                used.append(Used(number: Int64(expired.integer(0)), row: Row(expired), use: 0))
            }
            return used
        }

        /// Makes the entry the most recently used, living until `expiresAt`; unless it was stored anew meanwhile.
        ///
        /// - Parameter use: The number of the use.
        func touch(
            _ number: Int64, _ touch: TouchLog.Touch, use: Int64, at moment: Int
        ) throws(SQLiteDatabase.Failure) {
            let statement = try statement(touch.movesExpiry ? .prolong : .touch)
            statement.bind(1, number)
            statement.bind(2, use)
            statement.bind(3, touch.modified)
            statement.bind(4, touch.storedAt)
            statement.bind(5, moment)
            if touch.movesExpiry { statement.bind(6, touch.expiresAt) }
            try statement.run()
        }

        /// Gives an entry, the most recently used from now on, what its server has said about it anew and another life;
        /// unless it was stored anew meanwhile.
        func revive(_ row: Row, at moment: Int) throws(SQLiteDatabase.Failure) {
            let revive = try statement(.revive)
            revive.bind(1, row.number)
            revive.bind(2, row.modified)
            revive.bind(3, row.storedAt)
            revive.bind(4, row.origin.etag)
            revive.bind(5, row.origin.lastModified)
            revive.bind(6, row.origin.http)
            revive.bind(7, row.expiresAt)
            revive.bind(8, row.lifetime)
            revive.bind(9, moment)
            try revive.run()
        }

        /// Takes note of another time of change for the same content.
        func settle(_ number: Int64, modified: Int) throws(SQLiteDatabase.Failure) {
            let settle = try statement(.settle)
            settle.bind(1, number)
            settle.bind(2, modified)
            try settle.run()
        }

        /// Takes note of the key of an entry that was adopted by its file alone.
        func name(_ number: Int64, _ key: CacheKey) throws(SQLiteDatabase.Failure) {
            let name = try statement(.name)
            name.bind(1, number)
            name.bind(2, key.indexed)
            name.bind(3, key.identifier)
            name.bind(4, URLOrigin.host(of: key.key))
            try name.run()
        }

        /// Every image in the folder is known from now on.
        func endAdopting() throws(SQLiteDatabase.Failure) { try setState(Folder.known) }

        /// Writes down the moment, so that the cache's time goes on from it after a restart of the machine.
        func setAnchor(_ anchor: CacheClock.Anchor) throws(SQLiteDatabase.Failure) {
            let set = try statement(.setAnchor)
            set.bind(1, anchor.bootNumber)
            set.bind(2, anchor.boot)
            set.bind(3, anchor.wall)
            set.bind(4, anchor.time)
            try set.run()
        }

        // MARK: Files that are to go

        /// Notes that a file has no entry any more and goes at `moment`: when its lease ends, or at once when that is 0.
        func leave(_ fileName: String, bytes: Int, until moment: Int) throws(SQLiteDatabase.Failure) {
            // Replacing would not run the trigger that keeps the sum.
            try settle(fileName)
            let leave = try statement(.leave)
            leave.bind(1, fileName)
            leave.bind(2, bytes)
            leave.bind(3, moment)
            try leave.run()
            mayHaveLeft = true
        }

        /// Up to `limit` files whose time has come at `moment`; and those whose time is too far away to be true.
        func left(at moment: Int, _ limit: Int) throws(SQLiteDatabase.Failure) -> [String] {
            let left = try statement(.left)
            left.bind(1, moment)
            left.bind(2, limit)
            left.bind(3, moment + Lending.longest + 1)
            var names: [String] = []
            while try left.step() {
                if let name = left.text(0) { names.append(name) }
            }
            return names
        }

        /// How many files are kept for leases that have not ended at `moment`.
        func lentCount(at moment: Int) throws(SQLiteDatabase.Failure) -> Int {
            let count = try statement(.lentCount)
            count.bind(1, moment)
            guard try count.step() else { return 0 }
            defer { count.reset() }
            return count.integer(0)
        }

        /// How many entries have numbers that `isMeant` is true for.
        func count(where isMeant: (Int64) -> Bool) throws(SQLiteDatabase.Failure) -> Int {
            let numbers = try statement(.numbers)
            var count = 0
            while try numbers.step() { if isMeant(Int64(numbers.integer(0))) { count += 1 } }
            return count
        }

        /// The files without entries whose names begin with `hex`.
        func left(of hex: String) throws(SQLiteDatabase.Failure) -> [String] {
            let left = try statement(.leftOf)
            left.bind(1, hex)
            left.bind(2, hex + "g")
            var names: [String] = []
            while try left.step() {
                if let name = left.text(0) { names.append(name) }
            }
            return names
        }

        /// The file has gone, or has an entry again.
        func settle(_ fileName: String) throws(SQLiteDatabase.Failure) {
            let keep = try statement(.keep)
            keep.bind(1, fileName)
            try keep.run()
        }

        /// Makes the sums true again.
        func sumUp() throws(SQLiteDatabase.Failure) { try database.execute(CacheIndex.summing) }
    }

    /// The statements of the writing connection.
    enum Statement: Hashable {
        case begin, commit, find, insert, upsert, delete, twin, setContent, sum, variants, oldest, latest, expired,
            touch,
            prolong, demote
        case revive, settle, name, setAnchor, state, leave, keep, left, leftOf, lentCount, numbers

        var text: String {
            let select = "SELECT \(CacheIndex.columns)"
            // A number beyond reach was planted, or damaged: it must not leave the others without a successor.
            let latest = "SELECT coalesce(max(used), 0) FROM entries WHERE used < 0x4000000000000000"
            return switch self {
            case .begin: "BEGIN IMMEDIATE"
            case .commit: "COMMIT"
            case .find: "\(select) FROM entries WHERE id = ?1"
            case .insert: "INSERT OR ROLLBACK INTO entries\(CacheIndex.values("(\(latest)) + 1"))"
            case .upsert: CacheIndex.upsert("(\(latest)) + 1")
            case .delete: "DELETE FROM entries WHERE id = ?1"
            case .twin: "\(select) FROM entries WHERE content = ?1 AND id <> ?2 LIMIT 1"
            case .setContent: "UPDATE entries SET content = ?2 WHERE id = ?1"
            case .sum: "SELECT count, bytes, allocated, lent FROM totals"
            case .variants: "\(select) FROM entries WHERE key = ?1 AND identifier <> ''"
            case .oldest: "\(select), used FROM entries WHERE used > ?2 ORDER BY used LIMIT ?1"
            case .latest: latest
            case .expired: "\(select) FROM entries WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2"
            case .touch:
                "UPDATE entries SET used = ?2, used_at = ?5 WHERE id = ?1 AND modified = ?3 AND stored_at = ?4"
            case .prolong:
                """
                UPDATE entries SET used = ?2, used_at = ?5, expires_at = ?6
                WHERE id = ?1 AND modified = ?3 AND stored_at = ?4
                """
            case .revive:
                """
                UPDATE entries SET etag = ?4, last_modified = ?5, http = ?6, expires_at = ?7, lifetime = ?8, used_at = ?9,
                    used = (\(latest)) + 1
                WHERE id = ?1 AND modified = ?2 AND stored_at = ?3
                """
            case .demote:
                "UPDATE entries SET used = (SELECT max(min(used), -0x4000000000000000) FROM entries) - 1 WHERE id = ?1"
            case .settle: "UPDATE entries SET modified = ?2 WHERE id = ?1"
            case .name: "UPDATE entries SET key = ?2, identifier = ?3, host = ?4 WHERE id = ?1"
            case .setAnchor:
                "INSERT OR REPLACE INTO clock(id, boot_number, boot, wall, time) VALUES(1, ?1, ?2, ?3, ?4)"
            case .state: "SELECT adopting, EXISTS (SELECT 1 FROM lent) FROM totals"
            case .leave: "INSERT INTO lent(file, bytes, until) VALUES(?1, ?2, ?3)"
            case .keep: "DELETE FROM lent WHERE file = ?1"
            case .leftOf: "SELECT file FROM lent WHERE file >= ?1 AND file < ?2"
            case .left: "SELECT file FROM lent WHERE until <= ?1 OR until > ?3 LIMIT ?2"
            case .lentCount: "SELECT count(*) FROM lent WHERE until > ?1"
            case .numbers: "SELECT id FROM entries"
            }
        }
    }

    private static let stored = "\(columns), \(moreColumns)"

    private static func values(_ next: String) -> String {
        "(\(stored), used) VALUES(\((1...24).map { "?\($0)" }.joined(separator: ", ")), \(next))"
    }

    private static func upsert(_ next: String) -> String {
        let changes = stored.split(separator: ", ").dropFirst().map { "\($0) = excluded.\($0)" }
        return """
            INSERT INTO entries\(values(next))
            ON CONFLICT(id) DO UPDATE SET \(changes.joined(separator: ", ")), used = excluded.used
            """
    }
}
