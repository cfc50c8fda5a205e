internal import Platform
internal import Synchronization

/// Closing connections that are of no use, and putting a damaged index aside.
extension CacheIndex {
    func close<Connection>(_ slot: borrowing Mutex<Connection?>) {
        slot.withLock { $0 = nil }
        readable.store(false, ordering: .relaxed)
    }

    /// Closes all connections. Those that are opened next see the files as they are, whatever became of those that were open.
    func closeAll() {
        close(writer)
        close(reader)
        close(survey)
    }

    /// Begins anew where the file was cut off under open connections. Under the lock between processes, and before the
    /// connection for writing is closed.
    func mendCutOff() {
        guard files.removeIfCutOff() else { return }
        // Only now: the last one to close writes the log into the file.
        close(reader)
        close(survey)
    }

    /// Moves a damaged index out of the way, so that a new one can be begun.
    ///
    /// Under the lock between processes, and only if the index is still the damaged one: another process may have begun a
    /// new one meanwhile.
    ///
    /// - Parameter failure: What a connection found that was opened to look again.
    /// - Throws: `failure` if it says nothing about the content of the files, or they cannot be read at all.
    func putAside(_ damaged: UInt64?, after failure: Failure, _ wait: Wait) throws {
        guard failure.isCorruption || failure.isForeign || failure.isCutOff else { throw failure }
        try withoutConnections {
            guard files.areReadable else { throw failure }
            guard let lock = try lock(wait), let damaged, try files.inode == damaged else { return }
            if try !memoryIsTrue() { throw Failure.cutMemory }
            files.putAside()
            withExtendedLifetime(lock) {}
        }
    }

    /// Closes all connections, and keeps others from being opened while `body` runs. To close a file that was read gives up
    /// all locks that the process has on it, those of open connections too; another process would take itself for the last.
    private func withoutConnections(_ body: () throws -> Void) throws {
        try writer.withLock { slot in
            slot = nil
            try reader.withLock { slot in
                slot = nil
                readable.store(false, ordering: .relaxed)
                try survey.withLock { slot in
                    slot = nil
                    try body()
                }
            }
        }
    }

    /// `false` when the memory that processes share contradicts SQLite's log, and what was read by it was not so: somebody has
    /// cut its file.
    private func memoryIsTrue() throws -> Bool {
        let answer = Result { () throws -> Bool in
            let database = try SQLiteDatabase(path: files.path, creates: false)
            try database.execute("BEGIN IMMEDIATE")
            return database.checksLogIndex()
        }
        if case .failure(let failure as Failure) = answer, failure.isBusy || failure.isCutMemory { throw failure }
        return (try? answer.get()) ?? true
    }
}
