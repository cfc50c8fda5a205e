internal import Platform
internal import Synchronization

/// Writes of several threads in one transaction.
extension CacheIndex {
    /// A write that may share its transaction with others.
    struct SharedWrite: Sendable {
        /// `true` when it is to be on the disk when it is done.
        let syncs: Bool
        let wait: Wait
        /// Runs it within a transaction of several. It counts once that is committed.
        let runShared: @Sendable (IndexWriter) throws -> Void
        /// Runs it in a transaction of its own, whatever came of it before; `false` when it is to be tried again.
        let runAlone: @Sendable () -> Bool
        /// Passes its result on.
        let finish: @Sendable () -> Void
    }

    /// Runs `body` in a transaction that other threads' writes may share: beginning and ending one costs more than what most
    /// of them do. Each is done as a whole or not at all. Does not wait for a transaction that another thread has begun.
    ///
    /// No savepoint separates them, for SQLite would then copy every page before it changes: when one fails, the transaction
    /// does, and each is run again alone.
    ///
    /// - Parameters:
    ///   - body: May run again when the transaction fails, and then undoes what it did outside of the index.
    ///   - servesOthers: `true` when this thread has time for writes of others that come meanwhile.
    ///   - patience: The longest wait for other processes, in seconds.
    ///   - then: Called once with the result after the transaction, on the thread that ran it and on which others wait.
    func writeTogether<Value: Sendable>(
        syncs: Bool = false, servesOthers: Bool = true, patience: Double = patience,
        _ body: @escaping @Sendable (IndexWriter) throws -> Value,
        then: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let (outcome, wait) = (Outcome<Value>(), wait(patience, for: .writing))
        let write = SharedWrite(
            syncs: syncs, wait: wait, runShared: { outcome.result = .success(try body($0)) },
            runAlone: { [self] in
                do {
                    let value = try result(of: wait) { try writeAtOnce(syncs, $0, body) }
                    guard let value else { return false }
                    outcome.result = .success(value)
                } catch { outcome.result = .failure(error) }
                return true
            }, finish: { if let result = outcome.result { then(result) } })
        commits.join(write, staysLeader: servesOthers) { [self] writes, turn in
            var (isDone, late) = (false, [SharedWrite]())
            if writes.count > 1 { Afterwards.gather { isDone = (try? share(writes)) == true } }
            // What one waits for, others do too.
            let done =
                isDone
                ? writes
                : writes.filter { write in
                    if late.isEmpty || write.wait.isOver, write.runAlone() { return true }
                    late.append(write)
                    return false
                }
            Afterwards.gather { for write in done { write.finish() } }
            if !late.isEmpty { Wait.pause(turn) }
            return late
        }
    }

    /// Runs `body` in a transaction that other threads' writes may share, and waits for it.
    func writeTogether<Value: Sendable>(_ body: @escaping @Sendable (IndexWriter) throws -> Value) throws -> Value {
        try BlockingWait.wait { queue, then in
            writeTogether(servesOthers: queue.servesOthers, body, then: then)
        }.get()
    }

    /// The result of a shared write.
    private final class Outcome<Value: Sendable>: Sendable {
        private let value = Mutex<Result<Value, any Error>?>(nil)
        var result: Result<Value, any Error>? {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    /// Runs several writes in one transaction.
    ///
    /// - Returns: `false` when no connection is open, or another process has put the index aside meanwhile: one write alone
    ///   opens it, or mends what is wrong.
    private func share(_ writes: [SharedWrite]) throws -> Bool {
        try writer.withLock { slot in
            guard let open = slot else { return false }
            defer { noteTransaction(of: open) }
            let isDone: Void? = try open.transaction(syncs: writes.contains(where: \.syncs)) { writer in
                for write in writes { try write.runShared(writer) }
            }
            return isDone != nil
        }
    }
}
