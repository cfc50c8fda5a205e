import Synchronization
import Testing

@testable import Platform

@Suite struct AwaitResultTests {
    private typealias Report = @Sendable (Result<Int, any Error>) -> Void

    /// The functions to report with that were handed out, by the number of their wait.
    private final class Reports: Sendable {
        private let reports = Mutex<[Int: [Report]]>([:])

        func add(_ number: Int, _ report: @escaping Report) { reports.withLock { $0[number] = [report] } }
        func report(_ number: Int, _ result: Result<Int, any Error>) {
            for report in reports.withLock({ $0.removeValue(forKey: number) ?? [] }) { report(result) }
        }
        var count: Int { reports.withLock { $0.count } }
    }

    private let reports = Reports()

    private func wait(_ number: Int) async throws -> Int {
        try await awaitResult {
            reports.add(number, $0)
            return number
        } cancel: { [reports] in
            reports.report($0, .failure(CancellationError()))
        }
    }

    @Test func theResultIsThatOfTheReport() async throws {
        let task = Task(executorPreference: InlineExecutor.shared) { try await wait(1) }
        while reports.count == 0 { await Task.yield() }
        reports.report(1, .success(5))
        #expect(try await task.value == 5)
    }

    /// Within the cancellation the runtime holds the lock of the task; one that ends there is destroyed with its lock held.
    @Test func aTaskThatRunsInlineEndsOutsideItsCancellation() async throws {
        for number in 0..<200 {
            let outer = Task(executorPreference: InlineExecutor.shared) { [self] in
                let inner = Task(executorPreference: InlineExecutor.shared) { try await wait(number) }
                return await withTaskCancellationHandler {
                    await inner.result
                } onCancel: {
                    inner.cancel()
                }
            }
            while reports.count == 0 { await Task.yield() }
            outer.cancel()
            let result = await outer.value
            #expect(throws: CancellationError.self) { try result.get() }
        }
    }

    @Test func aWaitThatBeginsInACancelledTaskEndsAtOnce() async throws {
        let task = Task { try await wait(1) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(reports.count == 0)
    }
}
