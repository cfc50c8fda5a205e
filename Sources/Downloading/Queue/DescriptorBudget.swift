internal import Glibc

/// How the descriptors that the process may have open are shared out, so that none is missing for a file (F4).
struct DescriptorBudget: Sendable, Equatable {
    /// How many downloads may be under way at once: each has a connection, at times two while names are tried, and the
    /// file of its body.
    let downloads: Int
    /// How many connections are kept open that nothing comes over.
    let idleConnections: Int

    /// - Parameter limit: How many descriptors the process may have.
    init(limit: Int) {
        // The protocol's, the index's, the locks', and those of files that are being read and written.
        let own = 32
        idleConnections = min(max((limit - own) / 4, 1), 64)
        downloads = max((limit - own - idleConnections) / 3, 1)
    }

    /// How many descriptors this process may have.
    static var processLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }
}
