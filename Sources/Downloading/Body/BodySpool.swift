internal import Glibc
internal import Platform

/// Collects the body of one download: in memory while it is small, then in a file.
///
/// A body that could be resumed is collected in a file that is found again, even if this process is killed. When the
/// cache folder is full or not writable, the body moves to a temporary file, because the image is still wanted.
/// Confined to the receiving thread.
package final class BodySpool {
    /// The maximum size of a body in memory, in bytes.
    package static let memoryLimit = 256 << 10

    private let place: SpoolPlace
    private var bytes: [UInt8] = []
    private var file: (descriptor: Int32, path: String)?
    private var part: ResumePart?
    private var unnamed: UnnamedFile?
    /// The remaining places for a temporary file.
    private var spares: ArraySlice<@Sendable () throws -> UnnamedFile>
    /// The data needed to resume the body later. `nil`: it cannot be resumed.
    private var resumable: (request: DownloadRequest, note: ResumeNote)?
    private(set) var count = 0
    /// The bytes not yet written to the file. Small pieces are written together.
    private var pending: [UInt8] = []
    /// The maximum number of bytes written together.
    private static let pieceSize = 32 << 10
    /// The hash of the file, computed while it grows.
    private var digest: TrailingDigest?
    private var isHashed = false

    package init(_ place: SpoolPlace) {
        self.place = place
        spares = place.spares[...]
    }

    deinit { closeFile() }

    private func closeFile() {
        guard let file else { return }
        close(file.descriptor)
        unlink(file.path)
        self.file = nil
    }

    /// Begins with the partial body of an earlier transfer.
    package func resume(with part: ResumePart) {
        self.part = part
        count = part.file.count
    }

    /// Makes the body resumable if it is interrupted.
    package func makeResumable(as request: DownloadRequest, _ note: ResumeNote) { resumable = (request, note) }

    /// - Parameter expected: The size of the whole body, if known.
    package func append(_ data: UnsafeRawBufferPointer, expected: Int?) throws {
        if file == nil, part == nil, unnamed == nil, count + data.count > Self.memoryLimit {
            do { try moveToFile() } catch { try moveToSpare(after: error) }
        }
        while true {
            do {
                try write(data, expected)
                break
            } catch { try moveToSpare(after: error) }
        }
        count += data.count
        hash()
    }

    /// Hashes the file up to its current end, if it is large enough. An unnamed file is hashed when it is copied into
    /// the cache.
    private func hash() {
        guard written >= TrailingDigest.least, let path = part?.file.path ?? file?.path else { return }
        if !isHashed {
            isHashed = true
            digest = TrailingDigest(of: path, observer: place.observer)
        }
        digest?.wrote(written)
    }

    /// The number of bytes in the file, if there is one.
    private var written: Int { count - pending.count }

    private func write(_ data: UnsafeRawBufferPointer, _ expected: Int?) throws {
        if file == nil, part == nil, unnamed == nil {
            if bytes.isEmpty, let expected { bytes.reserveCapacity(min(expected, Self.memoryLimit)) }
            bytes.append(contentsOf: data)
        } else if pending.count + data.count < Self.pieceSize {
            pending.append(contentsOf: data)
        } else {
            try flush()
            if data.count < Self.pieceSize { pending.append(contentsOf: data) } else { try writeOut(data) }
        }
    }

    /// Writes the pending bytes.
    private func flush() throws {
        if pending.isEmpty { return }
        try pending.withUnsafeBytes { try writeOut($0) }
        pending.removeAll(keepingCapacity: true)
    }

    private func writeOut(_ data: UnsafeRawBufferPointer) throws {
        if let unnamed {
            try unnamed.append(data)
        } else if let part {
            try Files.writeAll(data, to: part.file.descriptor, part.file.path)
        } else if let file {
            try Files.writeAll(data, to: file.descriptor, file.path)
        }
    }

    private func moveToFile() throws {
        if let resumable, let part = place.resume?.begin(resumable.request.resumeIdentity, resumable.note) {
            self.part = part
            try bytes.withUnsafeBytes { try Files.writeAll($0, to: part.file.descriptor, part.file.path) }
        } else {
            let path = try place.makePath()
            let descriptor = try Files.create(path)
            file = (descriptor, path)
            try bytes.withUnsafeBytes { try Files.writeAll($0, to: descriptor, path) }
        }
        bytes = []
    }

    /// Continues in a temporary file, because the current place failed with `error`.
    ///
    /// - Throws: `error`, when there is no other place.
    private func moveToSpare(after error: any Error) throws {
        while let makeFile = spares.popFirst() {
            guard let next = try? makeFile(), (try? copy(to: next)) != nil else { continue }
            part?.file.drop()
            part = nil
            closeFile()
            digest = nil
            bytes = []
            unnamed = next
            return
        }
        throw error
    }

    /// Copies the bytes received so far.
    private func copy(to next: UnnamedFile) throws {
        if let unnamed {
            try next.append(written, from: unnamed.descriptor, unnamed.path)
        } else if let part {
            // The copy from memory to the file may have failed.
            try bytes.isEmpty
                ? next.append(written, from: part.file.descriptor, part.file.path)
                : bytes.withUnsafeBytes { try next.append($0) }
        } else if let file, bytes.isEmpty {
            let descriptor = open(file.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { throw SystemError(errno, "open", file.path) }
            defer { close(descriptor) }
            try next.append(written, from: descriptor, file.path)
        } else {
            try bytes.withUnsafeBytes { try next.append($0) }
        }
    }

    /// Ends an incomplete body.
    ///
    /// - Parameter keeps: `true` when it may be resumed.
    func interrupt(keeps: Bool) {
        let isWorthIt = keeps && count >= ResumeNote.smallestBody
        if isWorthIt, part == nil, file == nil, unnamed == nil, resumable != nil { try? moveToFile() }
        if let part {
            // Bytes that cannot be written are requested again later.
            if isWorthIt { try? flush() }
            if isWorthIt { part.file.keep() } else { part.file.drop() }
            part.file.letGo()
        }
        part = nil
        digest = nil
    }

    /// Returns the body, which now owns the file.
    package func finish() throws -> DownloadedBody {
        while true {
            do {
                try flush()
                break
            } catch { try moveToSpare(after: error) }
        }
        hash()
        if let unnamed { return DownloadedBody(.unnamed(unnamed, count: count)) }
        if let part {
            let path: String
            do {
                path = try place.makePath()
                try part.file.handOver(to: path)
            } catch {
                try moveToSpare(after: error)
                return try finish()
            }
            self.part = nil
            return body(at: path)
        }
        guard let file else { return DownloadedBody(.memory(bytes)) }
        close(file.descriptor)
        self.file = nil
        return body(at: file.path)
    }

    private func body(at path: String) -> DownloadedBody {
        digest?.seal()
        return DownloadedBody(.file(path: path, count: count), digest)
    }
}
