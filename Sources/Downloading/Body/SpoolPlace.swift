package import Platform

/// Where bodies are gathered.
package struct SpoolPlace: Sendable {
    /// Gives a new path for a body too large for memory.
    package let makePath: @Sendable () throws -> String
    /// Keeps bodies that broke off; nil when none are kept.
    package var resume: (any ResumeStore)?
    /// Sees each large body while it comes; a fresh copy for each.
    package var observer: (any ByteObserver)?
    /// Make temporary files, one after the other, for those that have no place there.
    var spares = UnnamedFile.places

    /// A place for bodies.
    package init(
        makePath: @escaping @Sendable () throws -> String, resume: (any ResumeStore)? = nil,
        observer: (any ByteObserver)? = nil,
        spares: [@Sendable () throws -> UnnamedFile] = UnnamedFile.places
    ) {
        self.makePath = makePath
        self.resume = resume
        self.observer = observer
        self.spares = spares
    }
}

/// Keeps bodies that broke off, until the same is asked for again.
package protocol ResumeStore: Sendable {
    associatedtype Body: ResumableBody

    /// The body that was begun for a request, if there is one and nobody else works on it.
    func take(_ identity: @autoclosure () -> Digest) -> Body?
    /// A new file for the body of a request, with a note that tells its inode; nil when somebody else works on the same, or no
    /// file can be had.
    func begin(_ identity: Digest, note: (_ inode: UInt64) -> String) -> Body?
}

/// A body that was begun, in a file that stays locked as long as this lives.
package protocol ResumableBody: AnyObject, Sendable {
    var descriptor: Int32 { get }
    var path: String { get }
    var inode: UInt64 { get }
    /// The text that was noted when it was begun.
    var note: String { get }
    /// The number of bytes that were there when it was taken.
    var count: Int { get }
    /// Keeps it, as far as there is room: older ones give way.
    func keep()
    /// Lets others go on with it, though somebody may still hold this. Nothing is done with it afterwards.
    func letGo()
    /// Removes it.
    func drop()
    /// Gives the file, which is whole now, another name.
    func handOver(to target: String) throws
}

/// A body that was begun earlier or is begun now, with what is known of it.
package struct ResumePart: Sendable {
    package let file: any ResumableBody
    package let note: ResumeNote
}

extension ResumeStore {
    /// The body that was begun for a request, if its note is sound.
    package func part(of identity: @autoclosure () -> Digest) -> ResumePart? {
        guard let file = take(identity()), file.count >= ResumeNote.smallestBody,
            let note = ResumeNote.read(file.note, inode: file.inode),
            note.total.map({ file.count < $0 }) ?? true
        else { return nil }
        return ResumePart(file: file, note: note)
    }

    /// A new file for the body of a request.
    package func begin(_ identity: Digest, _ note: ResumeNote) -> ResumePart? {
        begin(identity, note: { note.text(inode: $0) }).map { ResumePart(file: $0, note: note) }
    }
}
