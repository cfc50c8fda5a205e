internal import Glibc
internal import Platform

/// Writes the ``EntryLog`` of a folder anew, with one record for each entry: the old one has become twice as long, or records
/// could not be appended to it.
///
/// Others go on storing meanwhile. What they append to the old file while the entries are read is copied at the end, in a
/// transaction, so that nobody appends then.
struct EntryLogRewriting {
    let disk: DiskStorage

    private var folder: StorageFolder { disk.folder }

    /// - Returns: `false` when it is to be tried again.
    func run() throws -> Bool {
        let failures = disk.index.logFailures.load(ordering: .relaxed)
        let path = EntryLog.path(in: folder)
        // Within a transaction: what is appended from here on belongs to later ones. One that is not there is made.
        guard
            let (start, generation) = try disk.index.write({ writer -> (FileStamp, Int)? in
                guard !disk.mayLackEntries(writer) else { return nil }
                try writer.noteWriting()
                return try folder.open(path, O_RDONLY | O_NONBLOCK).stamp.map { ($0, disk.lending.generation) }
            })
        else { return false }
        let old = try folder.open(path, O_RDONLY | O_NONBLOCK)
        guard old.stamp?.inode == start.inode else { return false }
        let draft = try folder.partialPath("entries")
        let file = try folder.create(draft)
        defer { unlink(draft) }
        var size = EntryLog.headerSize
        try file.write(EntryLog.header(base: 0))
        var query = ListQuery(limit: 256)
        while true {
            let page = try disk.index.surveying { [query] in try $0.entries(query) } ?? IndexReader.Page()
            var bytes: [UInt8] = []
            for entry in page.entries where entry.isIntact {
                let record = entry.record.bytes
                EntryLog.append(record, mark: EntryRecord.mark(of: record), to: &bytes)
            }
            try file.write(bytes)
            size += bytes.count
            query.cursor = page.last
            if page.count < query.limit { break }
        }
        let base = EntryLog.header(base: size)
        _ = base.withUnsafeBytes { pwrite(file.number, $0.baseAddress, $0.count, 0) }
        return try disk.index.write { writer in
            // An index that was begun anew meanwhile did not have all entries when it was read.
            guard disk.lending.generation == generation, let stamp = FileStamp(path: path), stamp.inode == start.inode,
                stamp.size >= start.size
            else { return false }
            // One that was not there begins with a header.
            let place = max(start.size, EntryLog.headerSize)
            let count = max(stamp.size - place, 0)
            let added = try old.bytes(count, at: place)
            guard added.count == count else { return false }
            try file.write(added)
            try writer.noteWriting()
            guard rename(draft, path) == 0 else { throw SystemError(errno, "name", path) }
            disk.index.logFailures.subtract(failures, ordering: .relaxed)
            return true
        }
    }
}
