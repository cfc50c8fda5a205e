internal import Platform

/// The order in which a prefetcher looks up its URLs and loads the missing ones: a plain value.
///
/// URLs with equal keys are not loaded at the same time. A URL that waits for another one is looked up again when that
/// has ended, because the image may be stored then or the load may have failed.
struct PrefetchQueue {
    enum Step: Equatable {
        /// Looks these up in the cache; the missing ones are passed to ``add(missing:)``.
        case look(ArraySlice<String>)
        /// Loads this one; ``ended(_:)`` is called at its end.
        case load(String)
        /// Waits until a load has ended.
        case wait
    }

    /// The URLs that have not been looked up.
    private var rest: ArraySlice<String>
    /// The URLs that the cache does not have and that wait for their load.
    private var missing: ArraySlice<String> = []
    /// The keys of the running loads.
    private var loading: Set<ExactText> = []
    /// The URLs that wait for a load with the same key.
    private var waiting: [ExactText: ArraySlice<String>] = [:]
    private let concurrency: Int
    private let lookahead: Int
    private let key: @Sendable (String) -> ExactText

    /// - Parameters:
    ///   - concurrency: The largest number of simultaneous loads.
    ///   - lookahead: The number of URLs in one look-up.
    ///   - key: The cache key of a URL.
    init(_ urls: [String], concurrency: Int, lookahead: Int, key: @escaping @Sendable (String) -> ExactText) {
        (rest, self.concurrency, self.lookahead, self.key) = (urls[...], max(concurrency, 1), lookahead, key)
    }

    mutating func next() -> Step {
        while loading.count < concurrency {
            guard let url = missing.popFirst() else {
                if rest.isEmpty { return .wait }
                defer { rest = rest.dropFirst(lookahead) }
                return .look(rest.prefix(lookahead))
            }
            if loading.insert(key(url)).inserted { return .load(url) }
            waiting[key(url), default: []].append(url)
        }
        return .wait
    }

    mutating func add(missing url: String) { missing.append(url) }

    mutating func ended(_ url: String) {
        loading.remove(key(url))
        if let again = waiting.removeValue(forKey: key(url)) { rest = again + rest }
    }

    /// Removes and returns all URLs whose load has not started.
    mutating func removeAll() -> ArraySlice<String> {
        defer { (missing, rest, waiting) = ([], [], [:]) }
        return missing + rest + waiting.values.joined()
    }
}
