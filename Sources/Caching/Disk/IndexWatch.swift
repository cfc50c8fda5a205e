internal import Glibc
internal import Platform
internal import Synchronization

/// Notices that somebody else has changed the files of the index, and has the folder checked then: three seconds after it
/// was opened, and every two seconds from there.
///
/// SQLite stops silently at the first damaged page of its log, and cannot tell a missing row from one that never was.
/// Nobody but SQLite, ``EntryLog`` and ``EntryLogRewriting`` writes these files, so each other change is one too many.
final class IndexWatch: Sendable {
    /// What is known of the index as its files were in the state `seen`.
    private enum Knowledge {
        case none, isSound
        /// Somebody has changed them, and no check has been made since.
        case isChanged
    }

    private struct State {
        var hasStarted = false
        var knowledge = Knowledge.none
        /// `true` when the connection for writing knows the state of the files, by which it tells later changes.
        var hasWriter = false
        var seen: IndexMark?
        /// The state of the index of SQLite's log. Its own changes show in it or do not, as the file system likes.
        var logIndex: FileStamp?
        /// The time before which no further check begins, by a clock that never goes back, in nanoseconds.
        var rest = 0
    }

    private let index: CacheIndex
    private let folder: StorageFolder
    private let clock: EngineClock
    private let state = Mutex(State())
    /// Held while the files are looked at.
    private let looking = Mutex(())
    private let closes = Atomic(false)

    init(index: CacheIndex, folder: StorageFolder, clock: EngineClock) {
        (self.index, self.folder, self.clock) = (index, folder, clock)
    }

    /// `true` when there is neither an index nor an image: nothing can be wrong.
    private var isEmpty: Bool { (try? !index.exists && !folder.hasBlobs) == true }
    private var mark: IndexMark { IndexMark(of: index.files, bootNumber: index.clock.bootNumber) }

    /// Looks at the files before the index is opened for the first time.
    ///
    /// - Returns: `true` at the first call.
    func noteOpening() -> Bool {
        state.withLock { state in
            guard !state.hasStarted else { return false }
            state.hasStarted = true
            let mark = mark
            let isSound = IndexMark(savedIn: index.files) == mark || isEmpty
            (state.seen, state.knowledge) = (mark, isSound ? .isSound : .none)
            return true
        }
    }

    /// `true` when nobody has written since the index was known to be sound.
    var isQuiet: Bool {
        !index.isChanged && state.withLock { $0.knowledge == .isSound && $0.hasWriter && $0.seen == mark }
    }

    /// `true` when somebody has changed the files, and no check has been made since: an image that the index does not have may
    /// be there.
    var isDoubted: Bool { index.isChanged || state.withLock { $0.knowledge == .isChanged } }

    /// `true` from the call of ``close()``: a check that runs ends soon and fails, and no other begins.
    var isClosing: Bool { closes.load(ordering: .relaxed) }

    /// Looks at the files again, unless another thread does, and checks the folder when they are not known to be sound.
    ///
    /// - Parameter check: Puts index and folder right; it throws when it cannot be done now, and when ``isClosing``.
    func look(check: () throws -> Void) {
        _ = looking.withLockIfAvailable { _ in
            if !isClosing { lookAlone(check: check) }
        }
    }

    private func lookAlone(check: () throws -> Void) {
        if isEmpty { return }
        let (knowledge, seen, rest) = state.withLock { ($0.knowledge, $0.seen, $0.rest) }
        let now = mark
        switch knowledge {
        case .none: if !index.isChanged, IndexMark(savedIn: index.files) == now { return settle() }
        case .isSound:
            if now == seen, !index.isChanged {
                let logIndex = FileStamp(path: index.files.path + "-shm")
                let mayBeChanged = state.withLock { state in
                    defer { state.hasWriter = true }
                    return !state.hasWriter || state.logIndex != logIndex
                }
                guard mayBeChanged else { return }
            }
            // A transaction tells a change that SQLite knows of from one that it does not, as long as the file is the same,
            // or has been made here where none was.
            if now.index.inode == seen?.index.inode || index.hasMade(now.index) {
                guard let wasChanged = try? index.wasChangedByOthers() else { return }
                if !wasChanged { return settle() }
            }
            state.withLock { $0.knowledge = .isChanged }
        case .isChanged: break
        }
        let begin = clock.monotonic()
        guard begin >= rest, let lock = try? folder.open(index.files.path + ".check", O_RDWR),
            lock.lock()
        else { return }
        // Until it is made, what is known of changes counts.
        state.withLock { if index.isChanged { $0.knowledge = .isChanged } }
        index.noteCheck()
        do {
            try check()
            // From here on the connection for writing knows the state of the files, and tells what changes them.
            if try !index.wasChangedByOthers() { settle() }
            state.withLock { $0.hasWriter = true }
        } catch {}
        // A long check takes a twentieth of the time at most, a short one a fifth.
        let end = clock.monotonic()
        let duration = end - begin
        state.withLock { $0.rest = end + (duration < 1_000_000_000 ? 4 : 20) * duration }
    }

    /// Notes that the index is sound as its files are now.
    private func settle() {
        let (mark, logIndex) = (mark, FileStamp(path: index.files.path + "-shm"))
        let isNew = state.withLock { state in
            defer { (state.seen, state.logIndex, state.knowledge) = (mark, logIndex, .isSound) }
            return state.seen != mark || state.knowledge != .isSound
        }
        if isNew { mark.save(in: index.files) }
    }

    /// Closes the index, so that the last process to go writes SQLite's log into it, and notes the state of its files for the
    /// next one if it is known to be sound. What others have changed is left as it is. Called before the process ends; the
    /// folder is not written afterwards.
    func close() {
        closes.store(true, ordering: .relaxed)
        looking.withLock { _ in
            let (knowledge, seen) = state.withLock { ($0.knowledge, $0.seen) }
            switch knowledge {
            case .none: index.closeAll()
            case .isSound:
                guard (try? !index.isChanged && seen == mark || !index.wasChangedByOthers()) == true else { return }
                index.closeAll()
                settle()
            case .isChanged: break
            }
        }
    }
}
