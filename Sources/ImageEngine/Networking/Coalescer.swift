internal import Synchronization

/// Shares one piece of work among all callers that want the same thing at the same time.
///
/// A cancelled caller leaves at once; the work is cancelled when the last caller leaves. A call that comes after that
/// starts afresh.
final class Coalescer<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Report = @Sendable (DownloadProgress) -> Void

    private struct Waiter: Sendable {
        let resume: @Sendable (Result<Value, any Error>) -> Void
        let report: Report?
    }

    private struct Flight: Sendable {
        let number: UInt64
        var waiters: [UInt64: Waiter] = [:]
        var task: Task<Void, Never>?
        var progress: DownloadProgress?
    }

    private struct State: Sendable {
        var flights: [Key: Flight] = [:]
        var lastNumber: UInt64 = 0
        var merged = 0
    }

    private let state = Mutex(State())

    /// How many callers joined work that was under way.
    var mergedCount: Int { state.withLock { $0.merged } }

    /// How many callers wait for `key`.
    func waiterCount(for key: Key) -> Int { state.withLock { $0.flights[key]?.waiters.count ?? 0 } }

    /// The result of `work`, done once however many callers overlap.
    ///
    /// - Parameters:
    ///   - report: Hears of progress; a caller that joins late hears at once how far it is.
    ///   - work: Is given what to tell its progress to.
    func value(
        for key: Key, report: Report? = nil, work: @escaping @Sendable (@escaping Report) async throws -> Value
    ) async throws -> Value {
        let id = nextNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                join(key, as: id, Waiter(resume: { continuation.resume(with: $0) }, report: report), work)
            }
        } onCancel: {
            leave(key, as: id)
        }
    }

    private func nextNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    private func join(
        _ key: Key, as id: UInt64, _ waiter: Waiter,
        _ work: @escaping @Sendable (@escaping Report) async throws -> Value
    ) {
        // The caller may have been cancelled before it got here; its handler has run already and found nothing.
        if Task.isCancelled { return waiter.resume(.failure(CancellationError())) }
        let (isNew, number, progress) = state.withLock { state in
            if state.flights[key] != nil {
                state.flights[key]?.waiters[id] = waiter
                state.merged += 1
                return (false, UInt64(0), state.flights[key]?.progress)
            }
            state.flights[key] = Flight(number: id, waiters: [id: waiter])
            return (true, id, nil)
        }
        if let progress { waiter.report?(progress) }
        if isNew { start(key, number, work) }
        if Task.isCancelled { leave(key, as: id) }
    }

    private func start(
        _ key: Key, _ number: UInt64, _ work: @escaping @Sendable (@escaping Report) async throws -> Value
    ) {
        let task = Task {
            let result: Result<Value, any Error>
            do {
                result = .success(try await work { self.report($0, key, number) })
            } catch { result = .failure(error) }
            // Everyone may have left meanwhile, and a newer flight may have taken off.
            let landed = self.state.withLock { state in
                state.flights[key]?.number == number ? state.flights.removeValue(forKey: key) : nil
            }
            for waiter in landed?.waiters.values.map(\.self) ?? [] { waiter.resume(result) }
        }
        let isWanted = state.withLock { state in
            guard state.flights[key]?.number == number else { return false }
            state.flights[key]?.task = task
            return true
        }
        if !isWanted { task.cancel() }
    }

    private func report(_ progress: DownloadProgress, _ key: Key, _ number: UInt64) {
        let waiters = state.withLock { state in
            guard state.flights[key]?.number == number else { return [Waiter]() }
            state.flights[key]?.progress = progress
            return state.flights[key]?.waiters.values.filter { $0.report != nil } ?? []
        }
        for waiter in waiters { waiter.report?(progress) }
    }

    private func leave(_ key: Key, as id: UInt64) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: id) else { return (nil, nil) }
            guard state.flights[key]?.waiters.isEmpty == true else { return (waiter, nil) }
            return (waiter, state.flights.removeValue(forKey: key)?.task)
        }
        waiter?.resume(.failure(CancellationError()))
        task?.cancel()
    }
}
