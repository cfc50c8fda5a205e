internal import CLinux

/// What need be done only once for several things that a thread does in a row, as waking another thread: it is put off
/// until all of them are done.
package enum Afterwards {
    private final class Rest {
        var owners: [ObjectIdentifier] = []
        var works: [() -> Void] = []
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
    }

    /// Puts `work` off until what is being gathered on this thread is done, once for each owner.
    ///
    /// - Returns: false if nothing is being gathered: then it is for the caller to do.
    package static func put(off work: @escaping () -> Void, for owner: AnyObject) -> Bool {
        guard let place = hl_thread_slot()?.pointee else { return false }
        let rest = Unmanaged<Rest>.fromOpaque(place).takeUnretainedValue()
        let owner = ObjectIdentifier(owner)
        if !rest.owners.contains(owner) {
            rest.owners.append(owner)
            rest.works.append(work)
        }
        return true
    }
}
