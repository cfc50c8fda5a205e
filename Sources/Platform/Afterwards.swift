internal import CLinux

/// Puts off work that several calls in a row need only once, such as waking another thread, until all of them are done.
package enum Afterwards {
    private final class Batch {
        var owners: [ObjectIdentifier] = []
        var works: [() -> Void] = []
        var longWorks: [() -> Void] = []
        var seen: [ObjectIdentifier] = []
    }

    /// The batch that this thread gathers.
    private static var current: Batch? {
        hl_thread_slot()?.pointee.map { Unmanaged<Batch>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs `body`, and then the work that it put off. `body` must not wait for that work.
    package static func gather(_ body: () -> Void) {
        guard let slot = hl_thread_slot(), slot.pointee == nil else { return body() }
        let batch = Batch()
        slot.pointee = Unmanaged.passUnretained(batch).toOpaque()
        body()
        slot.pointee = nil
        for work in batch.works { work() }
        for work in batch.longWorks { work() }
    }

    /// `true` when ``noteSeen(_:)`` was called for `owner` in this batch: calls in a row check it only once.
    package static func hasSeen(_ owner: AnyObject) -> Bool {
        current?.seen.contains(ObjectIdentifier(owner)) ?? false
    }

    /// Records that the state of `owner` has just been checked.
    package static func noteSeen(_ owner: AnyObject) {
        if let current, !hasSeen(owner) { current.seen.append(ObjectIdentifier(owner)) }
    }

    /// Puts `work` off to the end of this thread's batch, once for each owner.
    ///
    /// - Parameter isLong: `true` when it runs after all other work.
    /// - Returns: `false` when nothing is gathered: then the caller runs it.
    package static func put(off work: @escaping () -> Void, for owner: AnyObject, isLong: Bool = false) -> Bool {
        guard let batch = current else { return false }
        let owner = ObjectIdentifier(owner)
        guard !batch.owners.contains(owner) else { return true }
        batch.owners.append(owner)
        if isLong { batch.longWorks.append(work) } else { batch.works.append(work) }
        return true
    }
}
