internal import Platform
internal import Synchronization

/// Writes of several threads in one transaction.
extension CacheIndex {
    /// A write that may share its transaction with others.
    struct SharedWrite: Sendable {
        /// `true` when it is to be on the disk when it is done.
        let syncs: Bool
        /// The end of waits for other processes, by ``monotonicNanoseconds()``.
        let end: Int
        /// Runs it within a transaction of several. It counts once that is committed.
        let runShared: @Sendable (IndexWriter) throws -> Void
        /// Runs it in a transaction of its own, whatever came of it before.
        let runAlone: @Sendable () -> Void
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
        let (outcome, end) = (Outcome<Value>(), deadline(patience))
        let write = SharedWrite(
            syncs: syncs, end: end, runShared: { outcome.result = .success(try body($0)) },
            runAlone: { [self] in outcome.result = Result { try self.write(syncs: syncs, until: end, body) } },
            finish: { if let result = outcome.result { then(result) } })
        commits.join(write, staysLeader: servesOthers) { [self] writes in
            var isDone = false
            if writes.count > 1 { Afterwards.gather { isDone = (try? share(writes)) == true } }
            if !isDone { for write in writes { write.runAlone() } }
            Afterwards.gather { for write in writes { write.finish() } }
        }
    }

    /// The same, and waits for it.
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
            // The least patient of them is not kept waiting by the others.
            let end = writes.lazy.map(\.end).min() ?? 0
            let isDone: Void? = try open.transaction(syncs: writes.contains(where: \.syncs), waitsUntil: end) {
                writer in
                for write in writes { try write.runShared(writer) }
            }
            return isDone != nil
        }
    }
}
