internal import Glibc

/// Gathers the body of one download: in memory while it is small, in a file from then on.
///
/// A body that could be gone on with later is gathered where it is found again, even if this process is killed.
/// Confined to the thread that receives.
final class BodySpool {
    /// Up to this many bytes a body stays in memory.
    static let memoryLimit = 256 << 10

    private let place: SpoolPlace
    private var bytes: [UInt8] = []
    private var file: (descriptor: Int32, path: String)?
    private var part: ResumePart?
    /// What is needed to go on with the body later; nil if that cannot be.
    private var resumable: (request: DownloadRequest, note: ResumeNote)?
    private(set) var count = 0

    init(_ place: SpoolPlace) { self.place = place }

    deinit {
        if let file {
            close(file.descriptor)
            unlink(file.path)
        }
    }

    /// Begins with what came earlier.
    func goOn(with part: ResumePart) {
        self.part = part
        count = part.count
    }

    /// Sees to it that the body can be gone on with if it breaks off.
    func keep(as request: DownloadRequest, _ note: ResumeNote) { resumable = (request, note) }

    /// - Parameter expected: The size of the whole body, if known.
    func append(_ data: UnsafeRawBufferPointer, expected: Int?) throws {
        if file == nil, part == nil, count + data.count > Self.memoryLimit { try moveToFile() }
        if let part {
            try StorageFolder.writeAll(data, to: part.descriptor, part.path)
        } else if let file {
            try StorageFolder.writeAll(data, to: file.descriptor, file.path)
        } else {
            if bytes.isEmpty, let expected { bytes.reserveCapacity(min(expected, Self.memoryLimit)) }
            bytes.append(contentsOf: data)
        }
        count += data.count
    }

    private func moveToFile() throws {
        if let resumable, let part = place.resume?.begin(resumable.request.resumeIdentity, resumable.note) {
            self.part = part
            try bytes.withUnsafeBytes { try StorageFolder.writeAll($0, to: part.descriptor, part.path) }
        } else {
            let path = try place.makePath()
            let descriptor = try StorageFolder.create(path)
            file = (descriptor, path)
            try bytes.withUnsafeBytes { try StorageFolder.writeAll($0, to: descriptor, path) }
        }
        bytes = []
    }

    /// Ends with a body that is not whole.
    ///
    /// - Parameter keeps: Whether it is worth going on with.
    func breakOff(keeps: Bool) {
        let isWorthIt = keeps && count >= ResumeFolder.smallest
        if isWorthIt, part == nil, file == nil, resumable != nil { try? moveToFile() }
        if !isWorthIt { part?.drop() }
        part = nil
    }

    /// The body, which now owns the file.
    func finish() throws -> DownloadedBody {
        if let part {
            let path = try place.makePath()
            try part.handOver(to: path)
            self.part = nil
            return DownloadedBody(.file(path: path, count: count))
        }
        guard let file else { return DownloadedBody(.memory(bytes)) }
        close(file.descriptor)
        self.file = nil
        return DownloadedBody(.file(path: file.path, count: count))
    }
}
