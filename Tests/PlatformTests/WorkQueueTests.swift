import Glibc
import TestSupport
import Testing

@testable import Platform

/// Waiting for the end of work that nobody waits for by itself.
@Suite struct WorkQueueTests {
    @Test func whoWaitsGetsWhatIsTold() async {
        let values = await onThread { (0..<100).map { number in BlockingWait.wait { _, then in then(number) } } }
        #expect(values == Array(0..<100))
        let late = await onThread {
            BlockingWait.wait { _, then in startThread { then(7) } }
        }
        #expect(late == 7)
    }

    @Test func whoWaitsDoesTheWorkHimself() async {
        let threads = await onThread {
            let mine = threadNumber()
            let others = BlockingWait<[UInt]>.wait { queue, then in
                queue.submit {
                    let first = threadNumber()
                    // From elsewhere, while the other one waits.
                    startThread { queue.submit { then([first, threadNumber()]) } }
                }
            }
            return [mine] + others
        }
        #expect(Set(threads).count == 1)
    }

    private func threadNumber() -> UInt { UInt(pthread_self()) }

    /// Outside of the threads for tasks, which must not wait.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in startThread { continuation.resume(returning: body()) } }
    }
}
