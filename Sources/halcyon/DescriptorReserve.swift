internal import Glibc
internal import Platform

/// The descriptors that the process cannot do without, had before the first request.
enum DescriptorReserve {
    /// Those that timers of the concurrency runtime take, and as many as requests of every kind need at once. With fewer it is
    /// not only requests that fail: the runtime ends the process where it cannot open what it looks at each second.
    private static let count = 4 + 22
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
        setTimer(of: ContinuousClock())
        setTimer(of: SuspendingClock())
    }

    /// Returns when the runtime has a timer of a clock. It takes the descriptor only for a moment that is still to come when it
    /// looks, so there is one far away.
    private static func setTimer<C: Clock>(of clock: C) where C.Duration == Duration {
        Task.detached { try? await clock.sleep(for: .seconds(1 << 30)) }
        BlockingWait<Void>.wait { _, then in
            Task.detached {
                try? await clock.sleep(for: .milliseconds(1))
                then(())
            }
        }
    }
}
