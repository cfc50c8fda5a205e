internal import Glibc
internal import Platform

/// The limit of the address space of this process (`ulimit -v`).
///
/// Where it is used up, the runtime's library of threads (libdispatch) waits without end, and others end the process: so there
/// must be enough from the start.
struct AddressSpace {
    /// The most bytes; `nil` for no limit.
    let limit: UInt?
    /// The bytes that a run with all of its threads needs: those on two processors take 141 MiB, and 115 MiB are left for more.
    let needed: UInt

    /// That of this process.
    static var own: AddressSpace {
        let stack = most(RLIMIT_STACK).map { min($0, 1 << 30) } ?? 2 << 20
        return AddressSpace(limit: most(RLIMIT_AS), processors: MachineLimits.processorCount, stack: stack)
    }

    /// - Parameter stack: The bytes of the stack of a thread that has no size of its own: libdispatch has some for each processor.
    init(limit: UInt?, processors: Int, stack: UInt) {
        self.limit = limit
        needed = 224 << 20 + UInt(processors) * 2 * stack
    }

    private static func most(_ resource: __rlimit_resource) -> UInt? {
        var found = rlimit()
        guard getrlimit(__rlimit_resource_t(resource.rawValue), &found) == 0, found.rlim_cur < .max else {
            return nil
        }
        return UInt(found.rlim_cur)
    }

    /// The sentence for who starts the program with too little; `nil` when there is enough.
    var complaint: String? {
        guard let limit, limit < needed else { return nil }
        return
            "The address space is limited to \(limit >> 20) MiB, and \(needed >> 20) MiB are needed here: raise the limit"
            + " with ulimit -v. A control group limits the memory itself."
    }
}
