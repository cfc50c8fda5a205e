package import Platform

/// The places where bodies are collected.
package struct SpoolPlace: Sendable {
    /// Creates a path for a body too large for memory.
    package let makePath: @Sendable () throws -> String
    /// The store of interrupted bodies. `nil`: none are stored.
    package var resume: (any ResumeStore)?
    /// The list of resolved host names. `nil`: none is kept.
    package var names: (any LineStore)?
    /// The observer of large bodies during the download. Each body has a copy.
    package var observer: (any ByteObserver)?
    let memory = BodyMemory()
    /// The largest body in memory, in bytes.
    package var memoryLimit = BodySpool.memoryLimit
    /// Create temporary files, tried one after the other, for bodies that the cache folder does not accept.
    var spares = UnnamedFile.places

    package init(
        makePath: @escaping @Sendable () throws -> String, resume: (any ResumeStore)? = nil,
        names: (any LineStore)? = nil, observer: (any ByteObserver)? = nil,
        spares: [@Sendable () throws -> UnnamedFile] = UnnamedFile.places
    ) {
        (self.makePath, self.resume, self.names) = (makePath, resume, names)
        (self.observer, self.spares) = (observer, spares)
    }
}

/// Stores interrupted bodies until the same body is requested again.
package protocol ResumeStore: Sendable {
    associatedtype Body: ResumableBody

    /// The partial body of a request. `nil`: there is none, or another download uses it.
    func take(_ identity: @autoclosure () -> Digest) -> Body?
    /// Creates a file for the body of a request, with a note that contains the file's inode. `nil`: another download of
    /// the same body runs, or no file can be created.
    func begin(_ identity: Digest, note: (_ inode: UInt64) -> String) -> Body?
}

/// A partial body, in a file that stays locked as long as this object lives.
package protocol ResumableBody: AnyObject, Sendable {
    var descriptor: Int32 { get }
    var path: String { get }
    var inode: UInt64 { get }
    /// The note written at the beginning of the body.
    var note: String { get }
    /// The number of bytes present when the body was opened.
    var count: Int { get }
    /// Stores it, as far as there is room: older ones are evicted.
    func keep()
    /// Unlocks it for other downloads, though this object may still be referenced. It must not be used afterwards.
    func letGo()
    func drop()
    /// Renames the file, which is complete now.
    func handOver(to target: String) throws
}

/// A partial body of an earlier or the current download, with its note.
package struct ResumePart: Sendable {
    package let file: any ResumableBody
    package let note: ResumeNote
}

extension ResumeStore {
    /// The partial body of a request, if its note is valid.
    package func part(of identity: @autoclosure () -> Digest) -> ResumePart? {
        guard let file = take(identity()), file.count >= ResumeNote.smallestBody,
            let note = ResumeNote.read(file.note, inode: file.inode),
            note.total.map({ file.count < $0 }) ?? true
        else { return nil }
        return ResumePart(file: file, note: note)
    }

    package func begin(_ identity: Digest, _ note: ResumeNote) -> ResumePart? {
        begin(identity, note: { note.text(inode: $0) }).map { ResumePart(file: $0, note: note) }
    }
}
