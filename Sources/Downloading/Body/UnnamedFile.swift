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

    /// Creates a file in a folder.
    convenience init(in folder: String) throws { try self.init(adopting: hl_unnamed_file(folder)) }

    /// Takes ownership of an open file.
    init(adopting descriptor: Int32) throws {
        self.descriptor = descriptor
        isInMemory = false
        guard descriptor >= 0 else { throw SystemError(errno, "create", "a temporary file") }
    }

    /// Creates a file in memory.
    init() throws {
        descriptor = hl_memory_file()
        isInMemory = true
        guard descriptor >= 0 else { throw SystemError(errno, "create", "a temporary file") }
    }

    deinit {
        Self.memoryCount.subtract(taken.load(ordering: .relaxed), ordering: .relaxed)
        if descriptor >= 0 { close(descriptor) }
    }

    /// The possible places of such a file, in the order of preference.
    static let places: [@Sendable () throws -> UnnamedFile] = {
        let wanted = getenv("TMPDIR").map { [String(cString: $0)] } ?? []
        return (wanted + ["/var/tmp", "/tmp"]).map { folder in { try UnnamedFile(in: folder) } } + [
            { try UnnamedFile() }
        ]
    }()

    /// A path under which the file can be opened again for reading.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        if isInMemory {
            taken.add(bytes.count, ordering: .relaxed)
            guard Self.memoryCount.add(bytes.count, ordering: .relaxed).newValue <= Self.memoryLimit else {
                throw SystemError(ENOSPC, "write", "a temporary file")
            }
        }
        try Files.writeAll(bytes, to: descriptor, "a temporary file")
    }

    /// Appends the first bytes of another file.
    func append(_ count: Int, from other: Int32, _ path: String) throws {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var offset = 0
        while offset < count {
            let wanted = min(buffer.count, count - offset)
            let read = buffer.withUnsafeMutableBytes { pread(other, $0.baseAddress, wanted, off_t(offset)) }
            if read < 0, errno == EINTR { continue }
            guard read > 0 else { throw SystemError(read < 0 ? errno : EIO, "read", path) }
            try buffer.withUnsafeBytes { try append(UnsafeRawBufferPointer(rebasing: $0[..<read])) }
            offset += read
        }
    }

    /// Returns all bytes.
    func bytes(_ count: Int) throws -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let read = pread(descriptor, rest.baseAddress, rest.count, off_t(filled))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else {
                    failure = SystemError(read < 0 ? errno : EIO, "read", "a temporary file")
                    return
                }
                filled += read
            }
        }
        if let failure { throw failure }
        return bytes
    }
}
