internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// The running requests that load images: for cancelling several at once, for slots and for priorities.
///
/// Callable from any thread.
final class OpenRequests: Sendable {
    /// One running request.
    final class Entry: Sendable {
        /// The priority of the request, which may change.
        let priority: CallPriority
        let cache: String
        private let urls: Set<ExactText>
        /// The URL, if there is only one.
        private let singleURL: ExactText?
        let slot: ExactText?
        /// The prefetcher that `stopPrefetch` stops.
        let prefetcher: ImagePrefetcher?
        private let state = Mutex<Call?>(nil)
        private let stopping: Mutex<Stop>

        private struct Stop: Sendable {
            /// Stops the work of a superseded request.
            var work: (@Sendable () -> Void)?
            var isSuperseded = false
            /// The request that this one supersedes in its slot: its work goes on until this one's has started.
            var previous: Entry?
        }

        init(
            cache: String, urls: [String], slot: String?, priority: CallPriority, previous: Entry? = nil,
            prefetcher: ImagePrefetcher? = nil
        ) {
            self.cache = cache
            singleURL = urls.count == 1 ? urls.first.map { ExactText($0) } : nil
            self.urls = singleURL == nil ? Set(urls.map { ExactText($0) }) : []
            self.slot = slot.map { ExactText($0) }
            self.priority = priority
            self.prefetcher = prefetcher
            stopping = Mutex(Stop(previous: previous))
        }

        /// The call, once it waits for its answer.
        var call: Call? { state.withLock { $0 } }

        /// The URL, if there is only one.
        fileprivate var url: String? { singleURL?.text }

        fileprivate func loads(_ url: ExactText) -> Bool { singleURL.map { $0 == url } ?? urls.contains(url) }

        fileprivate func attach(_ call: Call) { state.withLock { $0 = call } }

        fileprivate func supersede() {
            // Before the answer: the code that runs after the answer must see the flag.
            stopping.withLock { $0.isSuperseded = true }
            let work = call?.supersede(.requestCancelled)
            stopping.withLock { $0.work = work }
        }

        /// Stops the work of the request that this one supersedes, and of those before it.
        func stopPrevious() { stopping.withLock { $0.previous.take() }?.stop() }

        /// Stops the work of the request and of those that it supersedes.
        func stop() {
            // A loop instead of recursion, because a chain can have thousands of requests; each is stopped once.
            var next: Entry? = self
            while let entry = next {
                let (work, previous) = entry.stopping.withLock { ($0.work.take(), $0.previous.take()) }
                work?()
                next = previous
            }
        }

        /// Stops the superseded request once this one is answered, unless this one is superseded itself: then its
        /// successor stops both.
        fileprivate func finish() {
            if !stopping.withLock({ $0.isSuperseded }) { stopPrevious() }
        }
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var slots: [ExactText: Entry] = [:]
        var ids: [RequestID: Entry] = [:]
        var tide = AllocatorTrimmer()
    }

    private let state = Mutex(State())

    /// Registers a request until it is answered.
    func add(_ entry: Entry, _ call: Call) {
        entry.attach(call)
        if let url = entry.url { call.setURL(url) }
        state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = entry
            _ = state.tide.note(state.entries.count)
            if let id = call.id { state.ids[id] = entry }
            if let slot = entry.slot { state.slots[slot] = entry }
        }
        call.onEnd { [weak self] in
            self?.remove(entry, call.id)
            entry.finish()
        }
    }

    private func remove(_ entry: Entry, _ id: RequestID?) {
        let shouldTrim = state.withLock { state in
            state.entries[ObjectIdentifier(entry)] = nil
            if let id, state.ids[id] === entry { state.ids[id] = nil }
            if let slot = entry.slot, state.slots[slot] === entry { state.slots[slot] = nil }
            return state.tide.note(state.entries.count)
        }
        guard shouldTrim else { return }
        Task {
            // The tasks of the requests end a little later than the requests.
            try? await Task.sleep(for: .seconds(1))
            startThread { AllocatorTrimmer.giveBack() }
        }
    }

    /// Answers the request in a slot as cancelled, because another request supersedes it. Its work goes on until it is
    /// stopped, so that a download that both requests need is not interrupted.
    func supersede(slot: String) -> Entry? {
        guard let entry = state.withLock({ $0.slots.removeValue(forKey: ExactText(slot)) }) else { return nil }
        entry.supersede()
        return entry
    }

    /// The request with an id; nil once it is answered, even if it is still registered.
    func entry(_ id: RequestID) -> Entry? {
        guard let entry = state.withLock({ $0.ids[id] }), entry.call?.isOpen == true else { return nil }
        return entry
    }

    /// Answers requests as cancelled and stops their work. A prefetch goes on without the image of `url`.
    ///
    /// - Returns: The number of cancelled requests.
    func cancel(url: String?, cache: String?, slot: String?) -> Int {
        let (wanted, place) = (url.map { ExactText($0) }, slot.map { ExactText($0) })
        let matching = state.withLock { state in
            state.entries.values.filter { entry in
                (wanted.map { entry.loads($0) } ?? true) && (cache.map { entry.cache == $0 } ?? true)
                    && (place.map { entry.slot == $0 } ?? true)
            }
        }
        return matching.count { entry in
            // Only one of the images of a prefetch is cancelled.
            if let url, let prefetcher = entry.prefetcher { return prefetcher.cancel(url) }
            return entry.call?.end(.requestCancelled) == true
        }
    }
}
