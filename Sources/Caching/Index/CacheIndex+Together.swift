internal import Platform
internal import Synchronization

/// Several writes in one transaction.
extension CacheIndex {
    /// A write that may share its transaction with others.
    struct SharedWrite: Sendable {
        /// Whether it is to be on the disk when it is done.
        let syncs: Bool
        /// Does it within a transaction of several. It counts when that is committed.
        let share: @Sendable (Writer) throws -> Void
        /// Does it in a transaction of its own, whatever came of it before.
        let doAlone: @Sendable () -> Void
        /// Tells what came of it.
        let finish: @Sendable () -> Void
    }

    /// What came of a write.
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Runs `body` in a transaction that other threads' writes may share: beginning and ending one costs more than what
    /// most of them do. Each is done as a whole or not at all, and none is done before the transaction is. Does not wait
    /// for a transaction that another thread has begun.
    ///
    /// Nothing marks where one ends and the next begins, for SQLite would then copy every page before it changes: when
    /// one fails, the transaction does, and each is done again alone.
    ///
    /// - Parameters:
    ///   - body: May run again when the transaction fails, and must then undo what it did outside of the index.
    ///   - servesOthers: Whether this thread has time for the writes of others that come meanwhile.
    ///   - then: Is told what came of it, once, when the transaction is over: on the thread that ran it, on which others
    ///     wait then.
    func writeTogether<Value: Sendable>(
        syncs: Bool = false, servesOthers: Bool = true, _ body: @escaping @Sendable (Writer) throws -> Value,
        then: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        let outcome = Outcome<Value>()
        let write = SharedWrite(
            syncs: syncs,
            share: { writer in
                let value = try body(writer)
                outcome.result.withLock { $0 = .success(value) }
            },
            doAlone: { [self] in
                let result = Result { try self.write(syncs: syncs, body) }
                outcome.result.withLock { $0 = result }
            },
            finish: { [self] in
                then(outcome.result.withLock { $0 } ?? Result { try self.write(syncs: syncs, body) })
            })
        convoy.join(write, staysLeader: servesOthers) { [self] writes in
            var isDone = false
            if writes.count > 1 { Afterwards.gather { isDone = (try? share(writes)) == true } }
            if !isDone { for write in writes { write.doAlone() } }
            Afterwards.gather { for write in writes { write.finish() } }
        }
    }

    /// The same, and waits for it.
    func writeTogether<Value: Sendable>(
        syncs: Bool = false, _ body: @escaping @Sendable (Writer) throws -> Value
    ) throws -> Value {
        try BlockingWait.wait { queue, then in
            writeTogether(syncs: syncs, servesOthers: queue.servesOthers, body, then: then)
        }.get()
    }

    /// Does several writes in one transaction.
    ///
    /// - Returns: false when there is no connection that has proved itself: one write alone opens it, or mends what is
    ///   wrong.
    private func share(_ writes: [SharedWrite]) throws -> Bool {
        try writer.withLock { slot in
            guard let open = slot, open.inode == Self.inode(path) else { return false }
            try open.transaction(syncs: writes.contains(where: \.syncs)) { writer in
                for write in writes { try write.share(writer) }
            }
            return true
        }
    }
}
