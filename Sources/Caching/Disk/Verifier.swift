internal import Glibc
internal import Platform

/// Checks every file of a cache against the index, and the index against every file and against the log of entries; a few at
/// a time, so that nobody waits for it.
struct Verifier {
    /// The files whose bytes are read.
    enum Reading { case all, changed }
    private typealias Verification = DiskStorage.Verification
    /// The count that something wrong adds to.
    private typealias Problem = any (WritableKeyPath<Verification, Int> & Sendable)

    let disk: DiskStorage
    /// `true` when what is wrong is put right.
    let repairs: Bool
    var reads = Reading.all
    private(set) var found = DiskStorage.Verification()

    private var index: CacheIndex { disk.index }
    private var folder: StorageFolder { disk.folder }

    /// Checks everything.
    ///
    /// - Parameters:
    ///   - report: Called now and then with the number of bytes that have been read, and that of all.
    ///   - isCancelled: Asked between two slices.
    mutating func run(report: (_ done: Int, _ total: Int) -> Void, isCancelled: () -> Bool) throws {
        guard try folder.exists else { return }
        try folder.claim()
        defer { disk.forgetLogContents() }
        disk.flushTouches()
        // What nobody has asked for leaves it to the user what is to become of it.
        try folder.checkAll(movesAside: repairs && reads == .all)
        if repairs {
            if try index.exists || folder.hasBlobs { try index.write { _ in } }
            found.leftovers += try LeftoverCollector(disk: disk).run()
            _ = try index.surveying { try $0.checkStructure() }
            try disk.evictor.removeDueFiles()
        }
        // An index that was lost is not what this is to find.
        if reads == .all { disk.adoptAll() }
        let generation = disk.lending.generation
        let total = try index.totals().bytes
        var query = ListQuery(limit: 64)
        while !isCancelled() {
            let count = try check(&query)
            report(found.bytes, max(total, found.bytes))
            guard count == query.limit else { break }
        }
        try removeUnreadable()
        for shard in try folder.shards where !isCancelled() {
            if let names = try? folder.blobNames(in: shard) {
                try check(names, of: shard)
            } else {
                found.unreadable += 1
            }
        }
        try checkLentFiles()
        if try index.surveying({ try $0.sumsAreRight() }) == false {
            found.corrected += 1
            if repairs { try index.write { try $0.sumUp() } }
        }
        if repairs, index.isAdopting, !isCancelled() { _ = try index.endAdopting(of: generation) }
    }

    /// Checks the next entries and moves the cursor after them; returns their number.
    mutating func check(_ query: inout ListQuery) throws -> Int {
        let page = try index.surveying { [query] in try $0.entries(query) } ?? IndexReader.Page()
        let corrected = try checkRecords(page.entries)
        for entry in page.entries where !corrected.contains(entry.row.number) { try check(entry.row) }
        query.cursor = page.last
        return page.count
    }

    // MARK: The records

    /// Checks that entries are as they were written, and that the log has their records.
    ///
    /// - Returns: The numbers of those that were not, and are put right or gone.
    private mutating func checkRecords(_ entries: [IndexDetails]) throws -> Set<Int64> {
        let log = try disk.logContents()
        let damaged = Set(entries.lazy.filter { !$0.isIntact }.map(\.row.number))
        found.corrected += damaged.count
        let unlogged = entries.filter { $0.mark == nil || log.mark(of: $0.row.number) != $0.mark }
        guard repairs, !damaged.isEmpty || !unlogged.isEmpty else { return damaged }
        try index.write { [self] writer in
            for number in damaged { try correct(number, writer) }
            for entry in unlogged where !damaged.contains(entry.row.number) {
                // Another process may have written it meanwhile, and its record.
                guard let now = try writer.details(entry.row.number), now.mark == entry.mark else { continue }
                if now.mark == nil { try writer.correct(now.row) } else { try writer.log(now.record) }
            }
        }
        // Others wait for the index too.
        usleep(2000)
        return damaged
    }

    /// Puts an entry right that is not as it was written: as the log has it, if the file is the one of the record; else as
    /// far as file and key prove it. Otherwise it goes, and its file is entered anew.
    private func correct(_ number: Int64, _ writer: IndexWriter) throws {
        guard let damaged = try writer.details(number), !damaged.isIntact else { return }
        let row = damaged.row
        let path = folder.blob(row.fileName)
        try writer.remove(number)
        switch try disk.repairer.examine(row.name, path, row.fileExtension) {
        case .whole(var record, let stamp, let isProven):
            let isKnown = isProven && !record.row.key.isEmpty
            if !isKnown, row.isNamedByKey { (record.row.key, record.row.identifier) = (row.key, row.identifier) }
            try disk.repairer.enter(record, stamp, writer)
        case .damaged: try disk.repairer.takeAway(path, row.name, writer)
        case .nothing: break
        }
    }

    // MARK: The files of entries

    /// Checks the file of one entry.
    private mutating func check(_ row: IndexRow) throws {
        found.checked += 1
        let path = folder.blob(row.fileName)
        if let stamp = FileStamp(path: path), stamp.size == row.byteCount {
            if reads == .changed, stamp.modified == row.modified, !index.unproven.contains(row) {
                return try checkNotes(row, stamp)
            }
            found.bytes += stamp.size
            if let checksum = try? folder.checksum(of: path), row.checksum == nil || checksum == row.checksum {
                index.unproven.noteProven(row)
                return try checkNotes(row, stamp)
            }
        }
        // Another process may have stored or removed it meanwhile: within a transaction nobody does.
        count(try index.write { [self] in try problem(of: row, $0) })
    }

    private mutating func count(_ problem: Problem?) { if let problem { found[keyPath: problem] += 1 } }

    private func problem(of row: IndexRow, _ writer: IndexWriter) throws -> Problem? {
        guard let current = try writer.row(row.name) else { return nil }
        let path = folder.blob(current.fileName)
        do {
            try folder.checkPlace(of: current.fileName)
            let checksum = try folder.existingChecksum(of: path)
            let isSame = current.checksum == nil || checksum == current.checksum
            if FileStamp(path: path)?.size == current.byteCount, checksum != nil, isSame { return nil }
            if repairs, try disk.repairer.replace(current, with: path, writer) != nil {
                return \Verification.corrected
            }
        } catch {
            // It may be readable again some day.
            return \Verification.unreadable
        }
        let isGone = try Files.kind(path) == nil
        if repairs {
            if !isGone {
                try writer.confirm()
                disk.repairer.report(current.name)
                try folder.takeAway(path)
            }
            try writer.remove(current.number)
        }
        return isGone ? \Verification.missing : \Verification.damaged
    }

    /// Checks the notes of the index about a whole file: its time of change, and the entries that share its bytes.
    private mutating func checkNotes(_ row: IndexRow, _ stamp: FileStamp) throws {
        let isShared = try index.twins(row.content).contains { twin in
            twin.name != row.name && FileStamp(path: folder.blob(twin.fileName))?.inode != stamp.inode
        }
        guard isShared || stamp.modified != row.modified else { return }
        let isWrong = try index.write { [self] writer in
            guard var current = try writer.row(row.number), current.modified == row.modified,
                let stamp = FileStamp(path: folder.blob(current.fileName))
            else { return false }
            let isMoved = stamp.modified != current.modified
            if isMoved, repairs {
                current.modified = stamp.modified
                try writer.correct(current)
            }
            guard let twin = try writer.twin(current.content, besides: current.number),
                let other = FileStamp(path: folder.blob(twin.fileName)), other.inode != stamp.inode
            else { return isMoved }
            if repairs { try writer.setContent(current.number, of: current.number) }
            return true
        }
        if isWrong { found.corrected += 1 }
    }

    // MARK: The files without entries

    /// Checks what the index notes about files that are kept for leases: somebody may have removed or replaced them.
    private mutating func checkLentFiles() throws {
        let wrong = try index.surveying { try $0.lentFiles() }?.filter(isWrong) ?? []
        found.corrected += wrong.count
        guard repairs, !wrong.isEmpty else { return }
        try index.write { [self] writer in
            for file in try writer.lentFiles() where isWrong(file) {
                if let size = FileStamp(path: folder.blob(file.name))?.size {
                    try writer.retire(file.name, bytes: size, until: file.until)
                } else {
                    try writer.confirm()
                    try folder.clearWay(for: folder.blob(file.name), kind: .file)
                    try writer.forget(file: file.name)
                }
            }
        }
    }

    /// `true` when a file that is kept for a lease is not there, or has another size than noted.
    private func isWrong(_ file: LentFile) -> Bool {
        do { return try FileStamp.existing(folder.blob(file.name))?.size != file.bytes } catch { return false }
    }

    private mutating func removeUnreadable() throws {
        let numbers = try index.surveying { try $0.unreadable() } ?? []
        found.damaged += numbers.count
        guard repairs, !numbers.isEmpty else { return }
        try index.write { try $0.removeUnreadable(numbers) }
    }

    /// Finds the files of a shard that no entry names.
    mutating func check(_ names: [String], of shard: String) throws {
        var names = names[...]
        while !names.isEmpty {
            let slice = names.prefix(64)
            names = names.dropFirst(64)
            // Looked up with the reading connection first: nearly all of them are known.
            let strangers = try slice.filter { name in
                guard let digest = Digest(fileName: name) else { return true }
                return try index.row(digest.rowNumber).map { $0.name != digest || $0.fileName != name } ?? true
            }
            guard !strangers.isEmpty else { continue }
            // Without repair, no index is begun where there is none.
            let problems =
                try repairs || index.exists
                ? index.write { [self] writer in try strangers.map { try problem(of: $0, in: shard, writer) } }
                : strangers.map { try problem(of: $0, in: shard, nil) }
            for problem in problems { count(problem) }
        }
    }

    /// Adopts a file without an entry, or removes it when it is no image of ours. Another process may have removed it already.
    private func problem(of fileName: String, in shard: String, _ writer: IndexWriter?) throws -> Problem? {
        let hex = fileName.prefix { $0 != "." }
        let path = "\(folder.path)/blobs/\(shard)/\(fileName)"
        if let name = Digest(hex: hex), hex.hasPrefix(shard) {
            if try writer?.files(of: String(hex)).contains(fileName) ?? false { return nil }
            let row = try writer?.row(name)
            if row?.fileName == fileName { return nil }
            let fileExtension = fileName.contains(".") ? String(fileName.dropFirst(hex.count + 1)) : ""
            do {
                let isFile = try FileStamp.existing(path) != nil
                if let row, try !disk.repairer.replaces(fileName, row) {
                    if isFile, LeaseNumber(fileName: fileName).map(disk.lending.isLent) ?? false {
                        if repairs, let writer { try disk.repairer.retire(fileName, besides: row, writer) }
                        return \Verification.corrected
                    }
                } else if case .whole(let record, let stamp, _) = try disk.repairer.examine(name, path, fileExtension) {
                    if repairs, let writer {
                        try disk.repairer.enter(record, stamp, inPlaceOf: row, writer)
                    }
                    return \Verification.adopted
                }
            } catch {
                return \Verification.unreadable
            }
        }
        try writer?.confirm()
        let kind = try repairs ? folder.takeAway(path) : Files.kind(path)
        return kind == nil ? nil : \Verification.leftovers
    }
}
