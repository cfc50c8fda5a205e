internal import CLinux
internal import Glibc
internal import Synchronization

/// A file without a name, for what does not fit into memory: a body that the cache folder does not accept, the answers
/// to a batch. It is deleted with the last reference, or when the process ends.
package final class UnnamedFile: Sendable {
    /// The maximum size in bytes of all such files of the process that are in memory.
    package static let memoryLimit = 64 << 20
    private static let memoryCount = Atomic(0)

    package let descriptor: Int32
    private let isInMemory: Bool
    /// The number of bytes of ``memoryLimit`` that this file occupies.
    private let taken = Atomic(0)

    /// Takes ownership of an open file.
    package init(adopting descriptor: Int32, isInMemory: Bool = false) throws {
        (self.descriptor, self.isInMemory) = (descriptor, isInMemory)
        guard descriptor >= 0 else { throw SystemError(errno, "create", "a temporary file") }
    }

    /// Creates a file in memory.
    package convenience init() throws { try self.init(adopting: hl_memory_file(), isInMemory: true) }

    deinit {
        Self.memoryCount.subtract(taken.load(ordering: .relaxed), ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The possible places of such a file, in the order of preference.
    package static let places: [@Sendable () throws -> UnnamedFile] = {
        let wanted = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
        return (wanted + ["/var/tmp", "/tmp"]).map { folder in
            { try UnnamedFile(adopting: hl_unnamed_file(folder)) }
        } + [{ try UnnamedFile() }]
    }()

    /// Creates a file at the first place that has room for one.
    package static func create() throws -> UnnamedFile {
        for place in places.dropLast() { if let file = try? place() { return file } }
        return try UnnamedFile()
    }

    /// A path under which the file can be opened again for reading.
    package var path: String { "/proc/self/fd/\(descriptor)" }

    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        if isInMemory {
            taken.add(bytes.count, ordering: .relaxed)
            guard Self.memoryCount.add(bytes.count, ordering: .relaxed).newValue <= Self.memoryLimit else {
                throw SystemError(ENOSPC, "write", "a temporary file")
            }
        }
        try Files.writeAll(bytes, to: descriptor, "a temporary file")
    }

    /// The bytes of a part that has been written.
    package func bytes(in range: Range<Int>) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: range.count)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done, range.lowerBound + done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemError(count < 0 ? errno : EIO, "read", "a temporary file") }
            done += count
        }
        return bytes
    }
}
