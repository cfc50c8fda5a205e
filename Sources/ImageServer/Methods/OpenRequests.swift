internal import ImageEngine
internal import JSONRPC
internal import Platform
internal import Synchronization

/// A running request that loads images; it can be found by its URL, its cache and its slot.
protocol OpenRequest: CallWork {
    var cacheName: String { get }
    /// The priority of the request, which may change.
    var priority: CallPriority? { get }
    var slotPlace: SlotPlace? { get }
    /// The prefetcher that `stopPrefetch` stops.
    var prefetcher: ImagePrefetcher? { get }

    /// - Parameter url: In the form of ``Resource/comparable(_:)``.
    func loads(_ url: ExactText) -> Bool
}

/// The place of a request in a slot, in which at most one request is open.
final class SlotPlace: Sendable {
    private struct State {
        var call: Call?
        /// Stops the work of a superseded request.
        var work: (@Sendable () -> Void)?
        var isSuperseded = false
        /// The request that this one supersedes: its work goes on until this one's has started.
        var previous: SlotPlace?
    }

    let name: ExactText
    private let state: Mutex<State>

    fileprivate init(_ name: ExactText, previous: SlotPlace?) {
        self.name = name
        state = Mutex(State(previous: previous))
    }

    fileprivate func attach(_ call: Call) { state.withLock { $0.call = call } }

    fileprivate func supersede() {
        // Before the answer: the code that runs after the answer must see the flag.
        let call = state.withLock { state in
            state.isSuperseded = true
            return state.call
        }
        let work = call?.supersede(.requestCancelled)
        state.withLock { $0.work = work }
    }

    /// Stops the work of the request that this one supersedes, and of those before it.
    func stopPrevious() {
        // A loop instead of recursion, because a chain can have thousands of requests; each is stopped once.
        var next = state.withLock { $0.previous.take() }
        while let place = next {
            let (work, previous) = place.state.withLock { ($0.work.take(), $0.previous.take()) }
            work?()
            next = previous
        }
    }

    /// Stops the superseded request once this one is answered, unless this one is superseded itself: then its successor
    /// stops both.
    fileprivate func finish() {
        if !state.withLock({ $0.isSuperseded }) { stopPrevious() }
    }
}

/// The number and the slots of the running requests that load images. Callable from any thread.
final class OpenRequests: Sendable {
    private struct State {
        var slots: [ExactText: SlotPlace] = [:]
        var count = 0
        var trimmer = AllocatorTrimmer()
    }

    private let state = Mutex(State())

    /// Counts a request and puts it into its slot until ``remove(_:)``.
    func add(_ place: SlotPlace?, _ call: Call) {
        place?.attach(call)
        state.withLock { state in
            state.count += 1
            _ = state.trimmer.note(state.count)
            if let place { state.slots[place.name] = place }
        }
    }

    /// Removes a request that has ended.
    func remove(_ place: SlotPlace?) {
        let shouldTrim = state.withLock { state in
            state.count -= 1
            if let place, state.slots[place.name] === place { state.slots[place.name] = nil }
            return state.trimmer.note(state.count)
        }
        place?.finish()
        guard shouldTrim else { return }
        Task {
            // The tasks of the requests end a little later than the requests.
            try? await Task.sleep(for: .seconds(1))
            _ = startOptionalThread { AllocatorTrimmer.giveBack() }
        }
    }

    /// The place of a new request in a slot. The request that has the slot is answered as cancelled. Its work goes on
    /// until it is stopped, so that a download that both requests need is not interrupted.
    func place(in slot: String) -> SlotPlace {
        let name = ExactText(slot)
        let previous = state.withLock { $0.slots.removeValue(forKey: name) }
        previous?.supersede()
        return SlotPlace(name, previous: previous)
    }
}

/// A running `download`, `probe` or `prefetch`.
final class OpenLoad: OpenRequest {
    let cacheName: String
    let priority: CallPriority?
    let slotPlace: SlotPlace?
    let prefetcher: ImagePrefetcher?
    private let urls: Set<ExactText>
    private let requests: OpenRequests
    private let started = Atomic(false)

    init(
        _ requests: OpenRequests, cache: String, urls: [String], slot: String? = nil, priority: CallPriority,
        prefetcher: ImagePrefetcher? = nil
    ) {
        (self.requests, cacheName, self.priority, self.prefetcher) = (requests, cache, priority, prefetcher)
        self.urls = Set(urls.map { ExactText($0) })
        slotPlace = slot.map { requests.place(in: $0) }
    }

    /// The URL, if there is only one.
    var url: String? { urls.count == 1 ? urls.first?.text : nil }

    func loads(_ url: ExactText) -> Bool { urls.contains { Resource.comparable($0.text) == url } }

    /// Registers the request until it is answered.
    func begin(_ call: Call) {
        requests.add(slotPlace, call)
        call.begin(self)
    }

    /// `true` when the request waits for no other one any more.
    var hasStarted: Bool { started.load(ordering: .relaxed) }

    func noteStart() { started.store(true, ordering: .relaxed) }

    /// Does nothing: the task of the request is cancelled with the call.
    func stop() {}

    func callEnded() { requests.remove(slotPlace) }
}

extension ImageServer {
    /// The open request with an id that loads images.
    func openRequest(_ id: RequestID) -> (any OpenRequest)? { openCall(id)?.work as? any OpenRequest }

    /// Answers requests as cancelled and stops their work. A prefetch goes on without the image of `url`.
    ///
    /// - Returns: The number of cancelled requests.
    func cancel(url: String?, cache: String?, slot: String?) -> Int {
        let (wanted, place) = (url.map { Resource.comparable($0) }, slot.map { ExactText($0) })
        return openCalls.count { call in
            guard let request = call.work as? any OpenRequest, wanted.map({ request.loads($0) }) ?? true,
                cache.map({ request.cacheName == $0 }) ?? true, place.map({ request.slotPlace?.name == $0 }) ?? true
            else { return false }
            // Only one of the images of a prefetch is cancelled.
            if let wanted, let prefetcher = request.prefetcher { return prefetcher.cancel(wanted) }
            return call.end(.requestCancelled)
        }
    }
}
