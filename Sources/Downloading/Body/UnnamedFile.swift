internal import CLinux
internal import Glibc
internal import Platform
internal import Synchronization

/// A file without a name, for a body that the cache folder does not accept. It is deleted with the last reference, or
/// when the process ends.
package final class UnnamedFile: Sendable {
    /// The maximum size in bytes of all such files of the process that are in memory.
    static let memoryLimit = 64 << 20
    private static let memoryCount = Atomic(0)

    package let descriptor: Int32
    private let isInMemory: Bool
    /// The number of bytes of ``memoryLimit`` that this file occupies.
    private let taken = Atomic(0)

    /// Takes ownership of an open file.
    init(adopting descriptor: Int32, isInMemory: Bool = false) throws {
        (self.descriptor, self.isInMemory) = (descriptor, isInMemory)
        guard descriptor >= 0 else { throw SystemError(errno, "create", "a temporary file") }
    }

    /// Creates a file in memory.
    convenience init() throws { try self.init(adopting: hl_memory_file(), isInMemory: true) }

    deinit {
        Self.memoryCount.subtract(taken.load(ordering: .relaxed), ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The possible places of such a file, in the order of preference.
    static let places: [@Sendable () throws -> UnnamedFile] = {
        let wanted = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
        return (wanted + ["/var/tmp", "/tmp"]).map { folder in
            { try UnnamedFile(adopting: hl_unnamed_file(folder)) }
        } + [{ try UnnamedFile() }]
    }()

    /// A path under which the file can be opened again for reading.
    var path: String { "/proc/self/fd/\(descriptor)" }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        if isInMemory {
            taken.add(bytes.count, ordering: .relaxed)
            guard Self.memoryCount.add(bytes.count, ordering: .relaxed).newValue <= Self.memoryLimit else {
                throw SystemError(ENOSPC, "write", "a temporary file")
            }
        }
        try Files.writeAll(bytes, to: descriptor, "a temporary file")
    }
}
