internal import CLinux
internal import Glibc
internal import Synchronization

/// A file without a name, for what does not fit into memory: a body that the cache folder does not accept, the answers
/// to a batch. It is deleted with the last reference, or when the process ends.
package final class UnnamedFile: Sendable {
    /// The maximum size in bytes of all such files of the process that are in memory.
    package static let memoryLimit = 64 << 20
    private static let memoryCount = Atomic(0)

    private let file: Descriptor
    private let isInMemory: Bool
    /// The number of bytes of ``memoryLimit`` that this file occupies.
    private let taken = Atomic(0)

    package init(adopting descriptor: Int32, isInMemory: Bool = false) throws {
        self.isInMemory = isInMemory
        file = try Descriptor(adopting: descriptor, name: "a temporary file")
    }

    /// Creates a file in memory.
    package convenience init() throws { try self.init(adopting: hl_memory_file(), isInMemory: true) }

    deinit { Self.memoryCount.subtract(taken.load(ordering: .relaxed), ordering: .relaxed) }

    /// The number that system calls take.
    package var descriptor: Int32 { file.number }

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

    private static let folder = "/proc/self/fd/"

    /// A path under which the file can be opened again.
    package var path: String { "\(Self.folder)\(descriptor)" }

    /// `true` for the path of such a file.
    package static func isPath(_ path: String) -> Bool { path.hasPrefix(folder) }

    package func append(_ bytes: UnsafeRawBufferPointer) throws {
        if isInMemory {
            taken.add(bytes.count, ordering: .relaxed)
            guard Self.memoryCount.add(bytes.count, ordering: .relaxed).newValue <= Self.memoryLimit else {
                throw SystemError(ENOSPC, "write", file.path)
            }
        }
        try file.write(bytes)
    }

    /// The bytes of a part that has been written.
    package func bytes(in range: Range<Int>) throws -> [UInt8] {
        let bytes = try file.bytes(range.count, at: range.lowerBound)
        guard bytes.count == range.count else { throw SystemError(EIO, "read", file.path) }
        return bytes
    }
}
