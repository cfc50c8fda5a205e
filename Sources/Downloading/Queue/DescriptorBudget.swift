internal import Glibc

/// The division of the process's file descriptors among downloads, idle connections and files, so that none is missing
/// for a file.
struct DescriptorBudget: Sendable, Equatable {
    /// The number of downloads that may run at once. Each has a connection, at times two while addresses are tried, and
    /// the file of its body.
    let downloads: Int
    /// The number of idle connections kept open.
    let idleConnections: Int

    /// - Parameter limit: The number of descriptors that the process may have.
    init(limit: Int) {
        // For the protocol, the index, the locks, and files being read and written.
        let own = 32
        idleConnections = min(max((limit - own) / 4, 1), 64)
        downloads = max((limit - own - idleConnections) / 3, 1)
    }

    /// The number of descriptors that this process may have.
    static var processLimit: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return Int(clamping: limit.rlim_cur)
    }
}
