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

/// The objects that wait for their upload, bounded by their number and their bytes with those that are being uploaded, and the
/// names that are being removed. One name is written or removed by one operation at a time. A plain value.
struct UploadQueue: Sendable {
    static let mostUploads = 1000
    static let mostBytes = 64 << 20
    /// The number of uploads at the same time.
    static let width = 4

    private var waiting: [RemoteUpload] = []
    private var running: Set<String> = []
    /// The names that are being removed, with the number of their removals.
    private var removals: [String: Int] = [:]
    private(set) var bytes = 0

    var count: Int { waiting.count + running.count }

    /// The names of the objects that wait or are being uploaded.
    var names: [String] { waiting.map(\.name) + running }

    /// Adds an upload at the end, in place of one of the same name that has not begun.
    ///
    /// - Returns: `false` when there is no room; and what it replaces, which the caller releases when it holds no lock, as a claim
    ///   may end with it.
    mutating func append(_ upload: RemoteUpload) -> (isQueued: Bool, replaced: [RemoteUpload]) {
        let replaced = drop { $0.name == upload.name }
        guard count < Self.mostUploads, bytes == 0 || bytes + upload.byteCount <= Self.mostBytes else {
            return (false, replaced)
        }
        bytes += upload.byteCount
        waiting.append(upload)
        return (true, replaced)
    }

    /// The next upload, if another one may begin: of one name only one runs, so that the last object stays, and none while its
    /// object is being removed. O(n) in the number of those that wait for their name.
    mutating func next() -> RemoteUpload? {
        guard running.count < Self.width,
            let place = waiting.firstIndex(where: { !running.contains($0.name) && removals[$0.name] == nil })
        else { return nil }
        let next = waiting.remove(at: place)
        running.insert(next.name)
        return next
    }

    mutating func end(_ upload: RemoteUpload) {
        running.remove(upload.name)
        bytes -= upload.byteCount
    }

    /// `true` when an object of the name is being uploaded; any at all without a name.
    func isRunning(_ name: String?) -> Bool { name.map(running.contains) ?? !running.isEmpty }

    /// Begins to remove an object: uploads of it that come wait until that has ended.
    ///
    /// - Returns: Those that have not begun, which are left out.
    mutating func beginRemoval(_ name: String) -> [RemoteUpload] {
        removals[name, default: 0] += 1
        return drop { $0.name == name }
    }

    mutating func endRemoval(_ name: String) {
        guard let count = removals[name] else { return }
        removals[name] = count > 1 ? count - 1 : nil
    }

    /// `true` when the object is being removed.
    func isRemoving(_ name: String) -> Bool { removals[name] != nil }

    /// Removes those of the uploads that have not begun which `isMeant` names.
    mutating func drop(where isMeant: (RemoteUpload) -> Bool) -> [RemoteUpload] {
        let dropped = waiting.filter(isMeant)
        waiting.removeAll(where: isMeant)
        bytes -= dropped.reduce(0) { $0 + $1.byteCount }
        return dropped
    }
}
