/// Runs each part of a task at once, on the thread that continues it, where a thread of the concurrency runtime would have to
/// be woken first, which takes 20 to 50 µs.
///
/// It is for tasks whose parts are short and wait for nothing, because that thread may be the one that reads from the network.
/// Whoever resumes such a task must hold no lock, and must not do so while it is being cancelled; see
/// ``awaitResult(_:cancel:)``.
package final class InlineExecutor: TaskExecutor {
    package static let shared = InlineExecutor()

    package func enqueue(_ job: consuming ExecutorJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
