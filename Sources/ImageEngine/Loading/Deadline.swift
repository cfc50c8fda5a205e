/// How long one caller waits for an image in all: in queues, for redirects, through retries and other sources.
struct Deadline: Sendable {
    /// Seconds in all; without end when nil.
    let seconds: Double?
    /// When the caller came, in nanoseconds of the engine's clock.
    let arrived: Int

    /// Nanoseconds that are left; nil when there is no end.
    func rest(at now: Int) -> Int? {
        // As long as an option can say: a day.
        seconds.map { seconds in
            seconds > 0 ? max(0, Int(min(seconds, 86_400) * 1e9) - (now - arrived)) : 0
        }
    }

    /// The result of `work`, unless it takes too long: then the work is cancelled.
    ///
    /// - Throws: ``ImageError/timedOut(url:option:seconds:)``, or what the work throws.
    func hold<Value: Sendable>(
        _ url: String, now: Int, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let seconds, let rest = rest(at: now) else { return try await work() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(for: .nanoseconds(rest))
                return nil
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() ?? nil else {
                throw ImageError.timedOut(url: url, option: "deadline", seconds: seconds)
            }
            return value
        }
    }
}
