internal import Glibc
internal import Platform

/// The descriptors that the process cannot do without, had before the first request.
enum DescriptorReserve {
    /// Those that timers of the concurrency runtime take when the first one is set, which ends the process where it cannot
    /// have them, and as many as one request needs.
    private static let count = 4 + 6
    /// So many open files are enough for any start.
    private static let ample = 256

    /// Makes sure that there are enough, and has the runtime take its own.
    ///
    /// - Throws: ``StartFailure`` when there are too few.
    static func take() throws {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < ample else {
            return
        }
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        while taken.count < count {
            let descriptor = fcntl(2, F_DUPFD_CLOEXEC, 3)
            guard descriptor >= 0 || errno != EMFILE && errno != ENFILE else {
                throw StartFailure(
                    description:
                        "\(limit.rlim_cur) open files are too few for halcyon: raise the limit with ulimit -n, to 64 at least."
                )
            }
            if descriptor < 0 { break }
            taken.append(descriptor)
        }
        for descriptor in taken { close(descriptor) }
        taken = []
        BlockingWait<Void>.wait { _, then in
            Task.detached {
                try? await ContinuousClock().sleep(for: .nanoseconds(1))
                try? await SuspendingClock().sleep(for: .nanoseconds(1))
                then(())
            }
        }
    }
}
