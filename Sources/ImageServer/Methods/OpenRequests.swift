internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// The requests under way that load images: for cancelling many at once, for slots and for priorities.
///
/// Callable from any thread.
final class OpenRequests: Sendable {
    /// One such request.
    final class Entry: Sendable {
        /// How urgent it is; may be changed.
        let priority: CallPriority
        let cache: String
        private let urls: Set<ExactText>
        /// The only one of them.
        private let only: ExactText?
        let slot: ExactText?
        /// What to stop for `stopPrefetch`.
        let prefetcher: ImagePrefetcher?
        private let state = Mutex<Call?>(nil)
        private let stopping: Mutex<Stop>

        private struct Stop: Sendable {
            /// What stops the work of a request whose place another has taken.
            var work: (@Sendable () -> Void)?
            var isSuperseded = false
            /// The request whose place this one has taken: its work goes on until this one's does.
            var previous: Entry?
        }

        init(
            cache: String, urls: [String], slot: String?, priority: CallPriority, previous: Entry? = nil,
            prefetcher: ImagePrefetcher? = nil
        ) {
            self.cache = cache
            only = urls.count == 1 ? urls.first.map { ExactText($0) } : nil
            self.urls = only == nil ? Set(urls.map { ExactText($0) }) : []
            self.slot = slot.map { ExactText($0) }
            self.priority = priority
            self.prefetcher = prefetcher
            stopping = Mutex(Stop(previous: previous))
        }

        /// The request, once it waits for its answer.
        var call: Call? { state.withLock { $0 } }

        /// Its URL, if it is but one.
        fileprivate var url: String? { only?.text }

        fileprivate func loads(_ url: ExactText) -> Bool { only.map { $0 == url } ?? urls.contains(url) }

        fileprivate func begin(_ call: Call) { state.withLock { $0 = call } }

        fileprivate func supersede() {
            // Before it is answered: what comes after the answer must know.
            stopping.withLock { $0.isSuperseded = true }
            let work = call?.supersede(.requestCancelled)
            stopping.withLock { $0.work = work }
        }

        /// Stops the work of the request whose place this one has taken, and of those before it.
        func stopPrevious() { stopping.withLock { $0.previous.take() }?.stop() }

        /// Stops its work and that of the requests whose places it has taken.
        func stop() {
            // Thousands may have taken each other's place: one after the other, and each once.
            var next: Entry? = self
            while let entry = next {
                let (work, previous) = entry.stopping.withLock { ($0.work.take(), $0.previous.take()) }
                work?()
                next = previous
            }
        }

        /// The same, once this one is answered; unless another has taken its place meanwhile, which does it then.
        fileprivate func end() {
            if !stopping.withLock({ $0.isSuperseded }) { stopPrevious() }
        }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var slots: [ExactText: Entry] = [:]
        var ids: [RequestID: Entry] = [:]
        var tide = MemoryTide()
    }

    private let state = Mutex(State())

    /// Notes a request until it is answered.
    func add(_ entry: Entry, _ call: Call) {
        entry.begin(call)
        if let url = entry.url { call.concerns(url) }
        state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = entry
            _ = state.tide.note(state.entries.count)
            if let id = call.id { state.ids[id] = entry }
            if let slot = entry.slot { state.slots[slot] = entry }
        }
        call.afterwards { [weak self] in
            self?.remove(entry, call.id)
            entry.end()
        }
    }

    private func remove(_ entry: Entry, _ id: RequestID?) {
        let hasEbbed = state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = nil
            if let id, state.ids[id] === entry { state.ids[id] = nil }
            if let slot = entry.slot, state.slots[slot] === entry { state.slots[slot] = nil }
            return state.tide.note(state.entries.count)
        }
        guard hasEbbed else { return }
        Task {
            // Their tasks end a little later than they do.
            try? await Task.sleep(for: .seconds(1))
            startThread { MemoryTide.giveBack() }
        }
    }

    /// Answers the request in a slot as cancelled, for another takes its place. Its work goes on until it
    /// is stopped, so that a download which the other wants too is not broken off between the two.
    func vacate(_ slot: String) -> Entry? {
        guard let entry = state.withLock({ $0.slots.removeValue(forKey: ExactText(slot)) }) else { return nil }
        entry.supersede()
        return entry
    }

    /// The request with an id, unless it has been answered: it is forgotten only after that.
    func entry(_ id: RequestID) -> Entry? {
        guard let entry = state.withLock({ $0.ids[id] }), entry.call?.isOpen == true else { return nil }
        return entry
    }

    /// Answers requests as cancelled and stops their work (B-008). A prefetch goes on without the image of `url`.
    ///
    /// - Returns: How many there were.
    func cancel(url: String?, cache: String?, slot: String?) -> Int {
        let (wanted, place) = (url.map { ExactText($0) }, slot.map { ExactText($0) })
        let matching = state.withLock { state in
            state.entries.values.filter { entry in
                (wanted.map { entry.loads($0) } ?? true) && (cache.map { entry.cache == $0 } ?? true)
                    && (place.map { entry.slot == $0 } ?? true)
            }
        }
        return matching.count { entry in
            // Of many images, one is left out.
            if let url, let prefetcher = entry.prefetcher { return prefetcher.cancel(url) }
            return entry.call?.end(.requestCancelled) == true
        }
    }
}
