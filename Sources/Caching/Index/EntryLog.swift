internal import Glibc
internal import Platform

/// The second copy of what the index knows: a file to which each entry is appended as it is written.
///
/// A lost or damaged index is made again from it and from the files of the images, which decide: a record whose file is
/// gone, or is another by now, counts for nothing. So records need not be removed; the file is written anew
/// (``EntryLogRewriting``) when it is twice as long as its entries need. It shares nothing with the index but the folder.
///
/// Used under the lock of the index's writers.
final class EntryLog {
    /// The beginning of the file: eight bytes, then the size that it had when it was last written anew, in eight.
    static let magic = Array("HLCLOG1\n".utf8)
    static let headerSize = 16
    /// The beginning of a record: four bytes, then the count of its bytes in four, and its mark in eight.
    static let recordMagic: UInt32 = 0xE1C0_4C48
    static let recordHeaderSize = 16
    /// No record is longer: keys and metadata have limits.
    static let longest = 1 << 20
    /// A file that is not larger than this is not written anew.
    private static let slack = 64 << 10

    private let folder: StorageFolder
    private let path: String
    private var file: Descriptor?
    private var inode: UInt64?
    /// The size that the entries need: as it was when the file was last written anew, or by their number (``noteEntries(_:)``).
    private var base = 0
    private var pending: [UInt8] = []
    private var pendingCount = 0
    /// The records that were written here, and their bytes.
    private var written = (count: 0, bytes: 0)
    private(set) var size = 0
    /// The number of times that records could not be appended, since somebody last took it.
    var failureCount = 0

    init(folder: StorageFolder) { (self.folder, path) = (folder, Self.path(in: folder)) }

    static func path(in folder: StorageFolder) -> String { folder.path + "/entries.log" }

    /// `true` when the file should be written anew.
    var isOverdue: Bool { size > 2 * base + Self.slack }

    /// Notes the number of entries there are, each of which needs a record like those that were written here.
    func noteEntries(_ count: Int) {
        if written.count > 0 { base = max(base, Int(Double(count) * Double(written.bytes) / Double(written.count))) }
    }

    /// Notes a record that is appended by ``write()``.
    func add(_ record: [UInt8], mark: Int64) {
        guard record.count <= Self.longest else { return }
        pendingCount += 1
        Self.append(record, mark: mark, to: &pending)
    }

    static func append(_ record: [UInt8], mark: Int64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: recordMagic.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(record.count).littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: mark.littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: record)
    }

    static func header(base: Int) -> [UInt8] { magic + withUnsafeBytes(of: UInt64(base).littleEndian, Array.init) }

    /// Forgets what was noted since the last ``write()``.
    func discard() {
        pending.removeAll(keepingCapacity: true)
        pendingCount = 0
    }

    /// Appends what was noted, before its transaction counts. What cannot be written is left out: the index has it, and the
    /// file is written anew because of it.
    ///
    /// - Parameter inode: That of the file at its place.
    func write(inode: UInt64) {
        if pending.isEmpty { return }
        defer { discard() }
        if file == nil || inode != self.inode { open() }
        guard (try? file?.write(pending)) != nil else {
            failureCount += 1
            return file = nil
        }
        size += pending.count
        written = (written.count + pendingCount, written.bytes + pending.count)
    }

    /// Removes the file: no entry is left.
    func remove() {
        discard()
        file = nil
        unlink(path)
    }

    private func open() {
        file = nil
        inode = nil
        // What is no file of ours is nothing to write into.
        if let kind = try? Files.kind(path), kind != .file { try? folder.setForeignAside(path) }
        guard let opened = try? folder.open(path, O_RDWR | O_APPEND), let stamp = opened.stamp
        else {
            return
        }
        let header = (try? opened.bytes(Self.headerSize, at: 0)) ?? []
        let isOurs = header.count == Self.headerSize && header.starts(with: Self.magic)
        size = stamp.size
        base = isOurs ? Int(min(header[8...].littleEndianNumber, 1 << 48)) : 0
        if size == 0 {
            guard (try? opened.write(Self.header(base: 0))) != nil else { return }
            size = Self.headerSize
        }
        inode = stamp.inode
        file = consume opened
    }
}
