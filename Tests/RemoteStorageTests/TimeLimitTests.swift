import Synchronization
import TestSupport
import Testing

@testable import RemoteStorage

@Suite struct TimeLimitTests {
    @Test func operationThatTakesTooLongIsCancelledAndTimesOut() async throws {
        let (limit, gate) = (TimeLimit(seconds: 0.01), Gate())
        for _ in 1...3 {
            await #expect(throws: RemoteError.timedOut) {
                try await limit.run { await Self.wait(for: Gate()) }
            }
        }
        // A value that comes when the time is over counts for nothing.
        await #expect(throws: RemoteError.timedOut) {
            try await limit.run {
                await Self.wait(for: gate)
                return 1
            }
        }
    }

    @Test func operationsInTimeReturnTheirValuesAndErrors() async throws {
        let limit = TimeLimit(seconds: 600)
        #expect(try await limit.run { 1 } == 1)
        await #expect(throws: RemoteError.malformed) { try await limit.run { throw RemoteError.malformed } }
        let values = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...100 {
                group.addTask {
                    try await limit.run {
                        await Task.yield()
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(values == 5050)
    }

    @Test func cancellationOfTheCallerReachesTheOperation() async throws {
        let (limit, started) = (TimeLimit(seconds: 600), Gate())
        let task = Task {
            try await limit.run {
                started.open()
                await Self.wait(for: Gate())
                try Task.checkCancellation()
            }
        }
        await started.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Waits until the gate is open or the task is cancelled.
    private static func wait(for gate: Gate) async {
        await withTaskCancellationHandler {
            await gate.wait()
        } onCancel: {
            gate.open()
        }
    }
}
