internal import Platform
internal import Synchronization

/// Originals that no cache keeps, as long as something is made of them: who wants the same meanwhile has it from here, for
/// the table of downloads has forgotten it, and no cache will ever know of it.
final class HeldOriginals: Sendable {
    /// Keeps an original findable while it lives.
    final class Hold: Sendable {
        fileprivate let result: ImageResult
        private let number: Int
        private let forget: @Sendable (Int) -> Void

        fileprivate init(_ result: ImageResult, _ number: Int, forget: @escaping @Sendable (Int) -> Void) {
            (self.result, self.number, self.forget) = (result, number, forget)
        }

        deinit { forget(number) }
    }

    private struct Entry {
        let number: Int
        weak var hold: Hold?
    }

    private struct State {
        var entries: [ImageManager.JobKey: Entry] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// How many there are.
    var count: Int { state.withLock { $0.entries.count } }

    /// The result, which is found as what was wished for as long as there is a copy of what this returns.
    func holding(_ result: ImageResult, for jobKey: ImageManager.JobKey) -> ImageResult {
        var held = result
        held.hold = state.withLock { state in
            state.lastNumber += 1
            let hold = Hold(result, state.lastNumber) { [weak self] in self?.forget(jobKey, $0) }
            state.entries[jobKey] = Entry(number: state.lastNumber, hold: hold)
            return hold
        }
        return held
    }

    /// What is held for a jobKey. Whoever has it from here holds it no longer than the one who loaded it, or it would never
    /// be loaded anew.
    func result(for jobKey: ImageManager.JobKey) -> ImageResult? {
        // Not let go of under the lock, for it may be the last reference.
        let hold = state.withLock { $0.entries[jobKey]?.hold }
        return hold?.result
    }

    private func forget(_ jobKey: ImageManager.JobKey, _ number: Int) {
        state.withLock { state in
            if state.entries[jobKey]?.number == number { state.entries[jobKey] = nil }
        }
    }
}

extension ImageManager.FetchPlan {
    /// Whether what comes is kept nowhere, and is for whoever wants the same.
    var mayBeHeld: Bool {
        let options = outgoing.options
        return options.storage.cacheMemoryOnly && !options.storage.keepsInMemory && !options.lookup.forceRefresh
            && options.network.merges
            && (options.lookup.revalidate ?? .never) == .never && storedCandidate == nil && request.delegates == nil
            && request.method == .get
    }
}
