internal import Glibc
internal import Platform

/// Gathers the body of one download: in memory while it is small, in a file from then on.
///
/// A body that could be gone on with later is gathered where it is found again, even if this process is killed. One that
/// the cache folder does not take, for it is full or cannot be written, goes on in a temporary file: the image may be
/// wanted all the same (reliability A6, A8). Confined to the thread that receives.
package final class BodySpool {
    /// Up to this many bytes a body stays in memory.
    package static let memoryLimit = 256 << 10

    private let place: SpoolPlace
    private var bytes: [UInt8] = []
    private var file: (descriptor: Int32, path: String)?
    private var part: ResumePart?
    private var unnamed: UnnamedFile?
    /// Where it may go on when it can no longer where it is.
    private var spares: ArraySlice<@Sendable () throws -> UnnamedFile>
    /// What is needed to go on with the body later; nil if that cannot be.
    private var resumable: (request: DownloadRequest, note: ResumeNote)?
    private(set) var count = 0
    /// What is not yet in the file, when there is one: pieces that are small are written together.
    private var pending: [UInt8] = []
    /// Up to this many bytes are written together.
    private static let pieceSize = 32 << 10
    /// Hashes the file while it grows.
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

    /// Begins with what came earlier.
    package func goOn(with part: ResumePart) {
        self.part = part
        count = part.file.count
    }

    /// Sees to it that the body can be gone on with if it breaks off.
    package func keep(as request: DownloadRequest, _ note: ResumeNote) { resumable = (request, note) }

    /// - Parameter expected: The size of the whole body, if known.
    package func append(_ data: UnsafeRawBufferPointer, expected: Int?) throws {
        if file == nil, part == nil, unnamed == nil, count + data.count > Self.memoryLimit {
            do { try moveToFile() } catch { try moveAway(after: error) }
        }
        while true {
            do {
                try write(data, expected)
                break
            } catch { try moveAway(after: error) }
        }
        count += data.count
        hash()
    }

    /// Has the file hashed as far as it has come, once it is worth that. One without a name is copied to be stored, and
    /// hashed then.
    private func hash() {
        guard written >= TrailingDigest.least, let path = part?.file.path ?? file?.path else { return }
        if !isHashed {
            isHashed = true
            digest = TrailingDigest(of: path, observer: place.observer)
        }
        digest?.wrote(written)
    }

    /// How many bytes are in the file, when there is one.
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

    /// Writes what was to be written together with what comes next.
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

    /// Goes on in a temporary file, for where it is it cannot.
    ///
    /// - Throws: Why it cannot, when there is no other place.
    private func moveAway(after error: any Error) throws {
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

    /// Copies what has come so far.
    private func copy(to next: UnnamedFile) throws {
        if let unnamed {
            try next.append(written, from: unnamed.descriptor, unnamed.path)
        } else if let part {
            // What was in memory until now may not have got there.
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

    /// Ends with a body that is not whole.
    ///
    /// - Parameter keeps: Whether it is worth going on with.
    func breakOff(keeps: Bool) {
        let isWorthIt = keeps && count >= ResumeNote.smallestBody
        if isWorthIt, part == nil, file == nil, unnamed == nil, resumable != nil { try? moveToFile() }
        if let part {
            // What cannot be written now is asked for later.
            if isWorthIt { try? flush() }
            if isWorthIt { part.file.keep() } else { part.file.drop() }
            part.file.letGo()
        }
        part = nil
        digest = nil
    }

    /// The body, which now owns the file.
    package func finish() throws -> DownloadedBody {
        while true {
            do {
                try flush()
                break
            } catch { try moveAway(after: error) }
        }
        hash()
        if let unnamed { return DownloadedBody(.unnamed(unnamed, count: count)) }
        if let part {
            let path: String
            do {
                path = try place.makePath()
                try part.file.handOver(to: path)
            } catch {
                try moveAway(after: error)
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
