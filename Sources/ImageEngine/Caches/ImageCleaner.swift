internal import Platform
internal import Synchronization

/// Cleans the caches of an engine now and then, on a thread of its own that sleeps otherwise; never at the end of the
/// process.
final class ImageCleaner: Sendable {
    private let interval: Double
    private let now: @Sendable () -> Int
    private let work: @Sendable () -> Int
    private let clean: @Sendable () -> Void
    private let hasStarted = Atomic(false)

    /// - Parameters:
    ///   - interval: Seconds from one cleaning to the next; 0 for never.
    ///   - now: Nanoseconds of a clock that never goes back.
    ///   - work: A count that grows with everything that is asked for.
    init(
        interval: Double, now: @escaping @Sendable () -> Int, work: @escaping @Sendable () -> Int,
        clean: @escaping @Sendable () -> Void
    ) {
        self.interval = interval
        self.now = now
        self.work = work
        self.clean = clean
    }

    /// Begins, unless that has happened.
    func start() {
        guard interval > 0, !hasStarted.exchange(true, ordering: .relaxed) else { return }
        Task.detached(priority: .background) { [weak self] in
            guard var schedule = self?.schedule() else { return }
            while let decision = self?.decide(&schedule) {
                switch decision {
                case .clean:
                    await self?.run()
                    self?.note(&schedule)
                case .wait(let seconds): try? await Task.sleep(for: .seconds(max(seconds, 0.05)))
                case .sleep: return
                }
            }
        }
    }

    private func schedule() -> CleaningSchedule { CleaningSchedule(interval: interval, now: seconds) }

    private func decide(_ schedule: inout CleaningSchedule) -> CleaningSchedule.Decision {
        schedule.decide(at: seconds, work: work())
    }

    private func note(_ schedule: inout CleaningSchedule) { schedule.cleaned(at: seconds) }

    /// Cleans on a thread that may wait for the disk.
    private func run() async {
        await withCheckedContinuation { continuation in
            startThread { [clean] in
                clean()
                continuation.resume()
            }
        }
    }

    private var seconds: Double { Double(now()) / 1e9 }
}
