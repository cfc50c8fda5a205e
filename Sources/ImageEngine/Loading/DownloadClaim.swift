internal import Platform
internal import Synchronization

extension ImageManager {
    /// A download among all processes on one folder: its turn comes with its slot, so that no process holds up others
    /// with what it has not begun.
    final class DownloadClaim: Sendable {
        let identity: Digest?
        /// Whether other processes find what it brings.
        let isForOthers: Bool
        /// When the request began, on a clock that never goes back.
        let started: Int
        /// Nanoseconds from one note of progress to the next: fewer where others wait less long.
        let interval: Int
        private let state: Mutex<State>
        private let flights: DownloadLock
        /// Whether what others of this process bring is waited for, too.
        let merges: Bool

        struct State: Sendable {
            var patience: LockPatience
            var flight: DownloadLease?
            var hasWaited = false
            var hasWaitedForOthers = false
            /// Whether the flight is not asked for any more.
            var isSettled = false
            /// Whether its body has come.
            var hasArrived = false
            var hit: ImageCache.Hit?
            /// The URLs where something has been changed.
            var changed: [String] = []
            /// Whether nobody asks for those any more.
            var isOver = false
        }

        init(
            identity: Digest?, isForOthers: Bool, among flights: DownloadLock, merges: Bool, from start: Int, span: Int
        ) {
            (self.identity, self.isForOthers) = (identity, isForOthers)
            (started, interval) = (start, min(1_000_000_000, span / 4))
            (self.flights, self.merges) = (flights, merges)
            let patience = LockPatience(from: start, span: span)
            state = Mutex(State(patience: patience, isSettled: identity == nil))
        }

        deinit {
            if let identity, state.withLock({ $0.hasArrived }) { flights.noteStored(identity) }
        }

        /// Its body has come: who wants the same waits for the rest, which takes no longer than storing it.
        func arrive() {
            guard let identity else { return }
            state.withLock { state in
                if !state.hasArrived { flights.noteBodyArrived(identity) }
                state.hasArrived = true
            }
        }

        /// Where a request that is no GET has changed something.
        var changed: [String] { state.withLock { $0.changed } }

        /// The same for the last time.
        func end() -> [String] {
            state.withLock { state in
                state.isOver = true
                return state.changed
            }
        }

        /// Whether another one of this process is about to store what this one would download.
        var isBeingStoredHere: Bool {
            guard let identity, merges else { return false }
            return state.withLock { !$0.isSettled } && flights.isBeingStored(identity)
        }

        /// Asks for the flight, if there is anybody to tell.
        ///
        /// - Returns: nil if that takes waiting.
        func lockAtOnce(_ identity: Digest) -> DownloadLock.Attempt? {
            isForOthers ? flights.lockAtOnce(identity) : .impossible
        }

        /// The same, however long it takes.
        func take(_ identity: Digest) -> DownloadLock.Attempt {
            isForOthers ? flights.take(identity) : .impossible
        }

        /// The right to download, once there is one. Nil when nobody is to wait for this download.
        var flight: DownloadLease? { state.withLock { $0.flight } }

        /// Takes note of what came of asking for the flight.
        ///
        /// - Returns: Whether the download may begin.
        func settle(_ attempt: DownloadLock.Attempt) -> Bool {
            switch attempt {
            case .busy: return false
            case .impossible: use { $0.isSettled = true }
            case .taken(let flight):
                use { state in
                    state.flight = flight
                    state.isSettled = true
                }
            }
            return true
        }

        func use<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
            state.withLock { body(&$0) }
        }
    }
}
