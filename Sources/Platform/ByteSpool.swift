internal import Synchronization

/// Keeps bytes that must wait out of memory, in files without a name. A file goes when all of its parts are gone.
package final class ByteSpool: Sendable {
    /// Bytes that are kept.
    package struct Part: Sendable {
        package let file: UnnamedFile
        package let range: Range<Int>

        package init(file: UnnamedFile, range: Range<Int>) { (self.file, self.range) = (file, range) }

        package func bytes() throws -> [UInt8] { try file.bytes(in: range) }
    }

    /// The size at which a file takes no further parts, so that the room of its parts becomes free some day.
    private static let fileSize = 64 << 20

    private let current = Mutex<(file: UnnamedFile, count: Int)?>(nil)

    package init() {}

    /// Writes bytes to a file; may wait for the disk.
    package func keep(_ bytes: [UInt8]) throws -> Part {
        try current.withLock { current in
            let (file, start) = try current ?? (UnnamedFile.create(), 0)
            // A file that failed has a part of the bytes, and takes no others.
            current = nil
            try bytes.withUnsafeBytes { try file.append($0) }
            let end = start + bytes.count
            if end < Self.fileSize { current = (file, end) }
            return Part(file: file, range: start..<end)
        }
    }
}
