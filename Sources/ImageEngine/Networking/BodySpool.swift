internal import Glibc

/// Gathers the body of one download: in memory while it is small, in a file from then on.
///
/// Confined to the thread that receives.
final class BodySpool {
    /// Up to this many bytes a body stays in memory.
    static let memoryLimit = 256 << 10

    private let makePath: @Sendable () throws -> String
    private var bytes: [UInt8] = []
    private var file: (descriptor: Int32, path: String)?
    private(set) var count = 0

    /// - Parameter makePath: Gives a new path for the file, when one is needed.
    init(makePath: @escaping @Sendable () throws -> String) { self.makePath = makePath }

    deinit {
        if let file {
            close(file.descriptor)
            unlink(file.path)
        }
    }

    /// - Parameter expected: The size of the whole body, if known.
    func append(_ data: UnsafeRawBufferPointer, expected: Int?) throws {
        if file == nil, count + data.count > Self.memoryLimit {
            let path = try makePath()
            let descriptor = try StorageFolder.create(path)
            file = (descriptor, path)
            try bytes.withUnsafeBytes { try StorageFolder.writeAll($0, to: descriptor, path) }
            bytes = []
        }
        if let file {
            try StorageFolder.writeAll(data, to: file.descriptor, file.path)
        } else {
            if bytes.isEmpty, let expected { bytes.reserveCapacity(min(expected, Self.memoryLimit)) }
            bytes.append(contentsOf: data)
        }
        count += data.count
    }

    /// The body, which now owns the file.
    func finish() -> DownloadedBody {
        guard let file else { return DownloadedBody(.memory(bytes)) }
        close(file.descriptor)
        self.file = nil
        return DownloadedBody(.file(path: file.path, count: count))
    }
}
