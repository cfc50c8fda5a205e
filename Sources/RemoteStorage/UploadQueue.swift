/// An object that is to be uploaded.
package struct RemoteUpload: Sendable {
    package let name: String
    /// The size of the image, in bytes.
    package let byteCount: Int
    /// The time after which the engine may forget it; `nil` for no limit.
    package let seconds: Int?
    /// The object; `nil` when the image is not there any more. Waits for the disk.
    package let object: @Sendable () throws -> RemoteObject?
    /// The claim that ends when the object is there.
    package let claim: RemoteClaim?

    package init(
        _ name: String, byteCount: Int, seconds: Int?, claim: RemoteClaim?,
        object: @escaping @Sendable () throws -> RemoteObject?
    ) {
        (self.name, self.byteCount, self.seconds) = (name, byteCount, seconds)
        (self.claim, self.object) = (claim, object)
    }
}

/// The objects that wait for their upload, bounded by their number and their bytes with those that are being uploaded. A plain
/// value.
struct UploadQueue: Sendable {
    static let mostUploads = 1000
    static let mostBytes = 64 << 20
    /// The number of uploads at the same time.
    static let width = 4

    private var waiting: [RemoteUpload] = []
    private var running: Set<String> = []
    private(set) var bytes = 0

    var count: Int { waiting.count + running.count }

    /// The names of the objects that wait or are being uploaded.
    var names: [String] { waiting.map(\.name) + running }

    /// Adds an upload at the end, in place of one of the same name that has not begun.
    ///
    /// - Returns: `false` when there is no room.
    mutating func append(_ upload: RemoteUpload) -> Bool {
        _ = drop { $0.name == upload.name }
        guard count < Self.mostUploads, bytes == 0 || bytes + upload.byteCount <= Self.mostBytes else { return false }
        bytes += upload.byteCount
        waiting.append(upload)
        return true
    }

    /// The next upload, if another one may begin: of one name only one runs, so that the last object stays. O(n) in the number of
    /// those that wait for one of their name.
    mutating func next() -> RemoteUpload? {
        guard running.count < Self.width, let place = waiting.firstIndex(where: { !running.contains($0.name) }) else {
            return nil
        }
        let next = waiting.remove(at: place)
        running.insert(next.name)
        return next
    }

    mutating func end(_ upload: RemoteUpload) {
        running.remove(upload.name)
        bytes -= upload.byteCount
    }

    /// `true` when an object of the name is being uploaded.
    func isRunning(_ name: String) -> Bool { running.contains(name) }

    /// Removes those of the uploads that have not begun which `isMeant` names.
    mutating func drop(where isMeant: (RemoteUpload) -> Bool) -> [RemoteUpload] {
        let dropped = waiting.filter(isMeant)
        waiting.removeAll(where: isMeant)
        bytes -= dropped.reduce(0) { $0 + $1.byteCount }
        return dropped
    }
}
