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
    }

    /// What came of a write.
    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Runs `body` in a transaction that other threads' writes may share: beginning and ending one costs more than what
    /// most of them do. Each is done as a whole or not at all, and none is done before the transaction is.
    ///
    /// Nothing marks where one ends and the next begins, for SQLite would then copy every page before it changes: when
    /// one fails, the transaction does, and each is done again alone.
    ///
    /// - Parameter body: May run again when the transaction fails, and must then undo what it did outside of the index.
    func writeTogether<Value: Sendable>(
        syncs: Bool = false, _ body: @escaping @Sendable (Writer) throws -> Value
    ) throws -> Value {
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
            })
        convoy.join(write) { writes in
            if writes.count > 1, (try? share(writes)) == true { return }
            for write in writes { write.doAlone() }
        }
        guard let result = outcome.result.withLock({ $0 }) else { return try self.write(syncs: syncs, body) }
        return try result.get()
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
