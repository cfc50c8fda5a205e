internal import Platform
internal import Synchronization

/// The records of an ``EntryLog`` file, found by the numbers of their entries: the last of each that is whole.
///
/// Keeps the place of each record, 24 bytes an entry, and reads the record when it is asked for. What is appended later is found
/// when ``readOn()`` has been called.
final class EntryLogContents: Sendable {
    private struct Place {
        let offset: Int
        let count: Int
        let mark: Int64
    }

    /// The open file, so that one that is written anew meanwhile does not matter.
    private let file: Descriptor?
    /// The number of the open file; −1 when there is none.
    private let number: Int32
    private let known = Mutex<(places: [Int64: Place], end: Int)>(([:], EntryLog.headerSize))

    /// Reads the file once. What is damaged in it is left out, and what follows is found again.
    ///
    /// - Complexity: O(*n*): a digest of all bytes.
    /// - Throws: ``SystemError`` when it cannot be opened now, which says nothing about what it has.
    init(of folder: StorageFolder) throws {
        let path = EntryLog.path(in: folder)
        // What is no file is moved aside by who writes.
        guard try FileStamp.existing(path) != nil else {
            number = -1
            file = nil
            return
        }
        let opened = try Descriptor(reading: path)
        number = opened.number
        file = consume opened
        readOn()
    }

    /// The inode of the file; `nil` when there is none.
    var inode: UInt64? { FileStamp(descriptor: number)?.inode }

    /// Reads what is behind the last record that is known.
    func readOn() {
        guard let size = FileStamp(descriptor: number)?.size else { return }
        known.withLock { known in
            var scan = Scan(size: size)
            // A file that cannot be read to its end has what was read.
            let read = { try self.file?.bytes($1, at: $0) ?? [] }
            try? scan.run(read, from: known.end) { number, offset, count, mark in
                known.places[number] = Place(offset: offset, count: count, mark: mark)
                known.end = offset + count
            }
        }
    }

    /// The mark of the record of an entry; `nil` when there is none.
    func mark(of number: Int64) -> Int64? { known.withLock { $0.places[number]?.mark } }

    /// The record of an entry.
    func record(_ name: Digest) -> EntryRecord? {
        guard let place = known.withLock({ $0.places[name.rowNumber] }),
            let bytes = try? file?.bytes(place.count, at: place.offset),
            EntryRecord.mark(of: bytes) == place.mark
        else { return nil }
        return EntryRecord(bytes: bytes).flatMap { $0.row.name == name ? $0 : nil }
    }

    /// A walk over the bytes of the file, a window of them in memory.
    private struct Scan {
        let size: Int
        private var window: [UInt8] = []
        private var start = 0

        init(size: Int) { self.size = size }

        mutating func run(
            _ read: (_ offset: Int, _ count: Int) throws -> [UInt8], from start: Int,
            _ take: (_ number: Int64, _ offset: Int, _ count: Int, _ mark: Int64) -> Void
        ) throws {
            var offset = start
            let header = EntryLog.recordHeaderSize
            while offset + header <= size {
                let bytes = try slice(read, offset, header)
                guard bytes.count == header else { return }
                let count = Int(bytes.dropFirst(4).prefix(4).littleEndianNumber)
                let mark = Int64(bitPattern: bytes.suffix(8).littleEndianNumber)
                if bytes.prefix(4).littleEndianNumber == UInt64(EntryLog.recordMagic), count <= EntryLog.longest,
                    offset + header + count <= size
                {
                    let record = Array(try slice(read, offset + header, count))
                    if EntryRecord.mark(of: record) == mark, let number = EntryRecord.number(in: record) {
                        take(number, offset + header, count, mark)
                        offset += header + count
                        continue
                    }
                }
                offset += 1
            }
        }

        /// The bytes at a place, as many as there are.
        private mutating func slice(
            _ read: (_ offset: Int, _ count: Int) throws -> [UInt8], _ offset: Int, _ count: Int
        ) throws -> ArraySlice<UInt8> {
            if offset < start || offset + count > start + window.count {
                window = try read(offset, max(count, 256 << 10))
                start = offset
            }
            return window[(offset - start)...].prefix(count)
        }
    }
}
