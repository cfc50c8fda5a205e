/// Lets only so many pieces of work run at the same time; the others wait in the order of their arrival.
actor WorkLimit {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(_ width: Int) { free = width }

    /// Runs `work` when it is its turn.
    ///
    /// - Throws: What `work` throws; `CancellationError` when the task was cancelled before.
    func run<Result: Sendable>(_ work: @Sendable () async throws -> Result) async throws -> Result {
        if free > 0 {
            free -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
        defer {
            // The place goes to the next one, or is free.
            if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
        }
        try Task.checkCancellation()
        return try await work()
    }
}
