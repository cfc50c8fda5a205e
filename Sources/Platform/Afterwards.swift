internal import CLinux

/// What need be done only once for several things that a thread does in a row, as waking another thread: it is put off
/// until all of them are done.
package enum Afterwards {
    private final class Rest {
        var owners: [ObjectIdentifier] = []
        var works: [() -> Void] = []
        var longWorks: [() -> Void] = []
        var facts: [ObjectIdentifier] = []
    }

    /// Runs `body`, and then what was put off by it. It must not wait for anything of that.
    package static func gather(_ body: () -> Void) {
        let slot = hl_thread_slot()
        guard let slot, slot.pointee == nil else { return body() }
        let rest = Rest()
        slot.pointee = Unmanaged.passUnretained(rest).toOpaque()
        body()
        slot.pointee = nil
        for work in rest.works { work() }
        for work in rest.longWorks { work() }
    }

    /// Whether what `owner` stands for was seen while this is gathered: what is done together need look only once.
    package static func hasSeen(_ owner: AnyObject) -> Bool {
        current?.facts.contains(ObjectIdentifier(owner)) ?? false
    }

    /// Notes that what `owner` stands for has just been seen; see ``hasSeen(_:)``.
    package static func noteSeen(_ owner: AnyObject) {
        if let current, !hasSeen(owner) { current.facts.append(ObjectIdentifier(owner)) }
    }

    private static var current: Rest? {
        guard let place = hl_thread_slot()?.pointee else { return nil }
        return Unmanaged<Rest>.fromOpaque(place).takeUnretainedValue()
    }

    /// Puts `work` off until what is being gathered on this thread is done, once for each owner.
    ///
    /// - Parameter isLong: Whether the rest should not wait for it: it comes last.
    /// - Returns: false if nothing is being gathered: then it is for the caller to do.
    package static func put(off work: @escaping () -> Void, for owner: AnyObject, isLong: Bool = false) -> Bool {
        guard let rest = current else { return false }
        let owner = ObjectIdentifier(owner)
        if !rest.owners.contains(owner) {
            rest.owners.append(owner)
            if isLong { rest.longWorks.append(work) } else { rest.works.append(work) }
        }
        return true
    }
}
