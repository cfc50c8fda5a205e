internal import Glibc
internal import Platform

/// Collects the body of one download: in memory while it is small, then in a file.
///
/// A body that could be resumed is collected in a file that is found again, even if this process is killed. When the
/// cache folder is full or not writable, the body moves to a temporary file, because the image is still wanted.
/// Confined to the receiving thread.
package final class BodySpool {
    /// The usual maximum size of a body in memory, in bytes.
    package static let memoryLimit = 256 << 10

    /// The place of the bytes. While ``bytes`` is not empty, they are there and nowhere else.
    private enum Sink {
        case memory
        case file(CreatedFile)
        case part(ResumePart)
        case unnamed(UnnamedFile)
    }

    private let place: SpoolPlace
    private var sink = Sink.memory
    private var bytes: [UInt8] = []
    /// The remaining places for a temporary file.
    private var spares: ArraySlice<@Sendable () throws -> UnnamedFile>
    /// The data needed to resume the body later. `nil`: it cannot be resumed.
    private var resumable: (request: DownloadRequest, note: ResumeNote)?
    private(set) var count = 0
    /// The bytes not yet written to the file. Small pieces are written together.
    private var pending: [UInt8] = []
    /// The number of bytes from which a piece is written as it comes: what libcurl delivers of a fast download.
    private static let pieceSize = 16 << 10
    private var digest: TrailingDigest?
    private var isHashed = false

    package init(_ place: SpoolPlace) { (self.place, spares) = (place, place.spares[...]) }

    deinit { deleteFile() }

    private func deleteFile() {
        guard case .file(let file) = sink else { return }
        unlink(file.descriptor.path)
        sink = .memory
    }

    private var isInMemory: Bool { if case .memory = sink { true } else { false } }

    /// Begins with the partial body of an earlier transfer.
    package func resume(with part: ResumePart) { (sink, count) = (.part(part), part.file.count) }

    /// Makes the body resumable if it is interrupted.
    package func makeResumable(as request: DownloadRequest, _ note: ResumeNote) { resumable = (request, note) }

    /// - Parameter expected: The size of the whole body, if known.
    package func append(_ data: UnsafeRawBufferPointer, expected: Int?) throws {
        try movingOnFailure {
            if isInMemory, count + data.count > place.memoryLimit { try moveToFile() }
            try write(data, expected)
        }
        count += data.count
        hash()
    }

    /// Does `work`; when it fails, continues in a temporary file and does it again.
    private func movingOnFailure(_ work: () throws -> Void) throws {
        while true {
            do { return try work() } catch { try moveToSpare(after: error) }
        }
    }

    /// Hashes the file up to its current end, if it is large enough. An unnamed file is hashed when it is copied into
    /// the cache.
    private func hash() {
        let path: String? =
            switch sink {
            case .file(let file): file.descriptor.path
            case .part(let part): part.file.path
            case .memory, .unnamed: nil
            }
        guard written >= TrailingDigest.least, let path else { return }
        if !isHashed {
            isHashed = true
            digest = TrailingDigest(of: path, observer: place.observer)
        }
        digest?.wrote(written)
    }

    /// The number of bytes in the file, if there is one.
    private var written: Int { count - pending.count }

    private func write(_ data: UnsafeRawBufferPointer, _ expected: Int?) throws {
        if isInMemory {
            if bytes.isEmpty, let expected { bytes.reserveCapacity(min(expected, place.memoryLimit)) }
            bytes.append(contentsOf: data)
        } else if pending.count + data.count < Self.pieceSize {
            pending.append(contentsOf: data)
        } else {
            try flush()
            if data.count < Self.pieceSize { pending.append(contentsOf: data) } else { try writeOut(data) }
        }
    }

    private func flush() throws {
        if pending.isEmpty { return }
        try pending.withUnsafeBytes { try writeOut($0) }
        pending.removeAll(keepingCapacity: true)
    }

    private func writeOut(_ data: UnsafeRawBufferPointer) throws {
        switch sink {
        case .memory: break
        case .file(let file): try file.descriptor.write(data)
        case .part(let part): try Files.writeAll(data, to: part.file.descriptor, part.file.path)
        case .unnamed(let file): try file.append(data)
        }
    }

    private func moveToFile() throws {
        if let resumable, let part = place.resume?.begin(resumable.request.resumeIdentity, resumable.note) {
            sink = .part(part)
        } else {
            sink = .file(try CreatedFile(place.makePath()))
        }
        try bytes.withUnsafeBytes { try writeOut($0) }
        bytes = []
    }

    /// Continues in a temporary file, because the current place failed with `error`, which is thrown when there is no other.
    private func moveToSpare(after error: any Error) throws {
        while let makeFile = spares.popFirst() {
            guard let next = try? makeFile(), (try? copy(to: next)) != nil else { continue }
            deleteFile()
            if case .part(let part) = sink { part.file.drop() }
            (sink, digest, bytes) = (.unnamed(next), nil, [])
            return
        }
        throw error
    }

    private func copy(to next: UnnamedFile) throws {
        // The copy from memory to the file may have failed.
        if !bytes.isEmpty { return try bytes.withUnsafeBytes { try next.append($0) } }
        func copy(_ descriptor: Int32, _ path: String) throws {
            try Files.forEachPiece(of: descriptor, written, path) { try next.append($0) }
        }
        switch sink {
        case .memory: break
        case .part(let part): try copy(part.file.descriptor, part.file.path)
        case .unnamed(let file): try copy(file.descriptor, file.path)
        case .file(let file):
            let again = try Descriptor(reading: file.descriptor.path)
            try copy(again.number, again.path)
        }
    }

    /// Ends an incomplete body, which is kept when it may be resumed.
    func interrupt(keeps: Bool) {
        let isWorthIt = keeps && count >= ResumeNote.smallestBody
        if isWorthIt, isInMemory, resumable != nil { try? moveToFile() }
        digest = nil
        guard case .part(let part) = sink else { return }
        // Bytes that cannot be written are requested again later.
        if isWorthIt { try? flush() }
        if isWorthIt { part.file.keep() } else { part.file.drop() }
        part.file.letGo()
        sink = .memory
    }

    /// Returns the body, which now owns the file.
    package func finish() throws -> DownloadedBody {
        try movingOnFailure { try flush() }
        hash()
        switch sink {
        case .memory: return DownloadedBody(.memory(bytes), in: place.memory)
        case .unnamed(let file): return DownloadedBody(.unnamed(file, count: count))
        case .file(let file):
            sink = .memory
            return body(at: file.descriptor.path)
        case .part(let part):
            let path: String
            do {
                path = try place.makePath()
                try part.file.handOver(to: path)
            } catch {
                try moveToSpare(after: error)
                return try finish()
            }
            sink = .memory
            return body(at: path)
        }
    }

    private func body(at path: String) -> DownloadedBody {
        digest?.seal()
        return DownloadedBody(.file(path: path, count: count), digest)
    }
}
