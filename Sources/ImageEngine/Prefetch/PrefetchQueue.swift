internal import Platform

/// The order in which a prefetcher looks for its URLs and loads those that are missing: a plain value.
///
/// URLs with the same key are not loaded at the same time. Those that wait for another one are looked for once more when it has
/// ended: it may have brought what they want, or have failed.
struct PrefetchQueue {
    /// What is done next.
    enum Step: Equatable {
        /// Looks for these in the cache; ``add(missing:)`` takes those that are not there.
        case look(ArraySlice<String>)
        /// Loads this one; ``ended(_:)`` follows.
        case load(String)
        /// Waits until one that is loaded has ended.
        case wait
    }

    /// The URLs that have not been looked for.
    private var rest: ArraySlice<String>
    /// The URLs that have been looked for and are to be loaded.
    private var missing: ArraySlice<String> = []
    /// The keys of the URLs that are loaded.
    private var loading: Set<ExactText> = []
    /// The URLs that wait for one of the same key.
    private var waiting: [ExactText: ArraySlice<String>] = [:]
    private let concurrency: Int
    private let lookahead: Int
    private let key: @Sendable (String) -> ExactText

    /// - Parameters:
    ///   - concurrency: The largest number of URLs that are loaded at the same time.
    ///   - lookahead: The number of URLs that are looked for at once.
    ///   - key: The cache key of a URL.
    init(_ urls: [String], concurrency: Int, lookahead: Int, key: @escaping @Sendable (String) -> ExactText) {
        (rest, self.concurrency, self.lookahead, self.key) = (urls[...], max(concurrency, 1), lookahead, key)
    }

    /// The next step.
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

    /// Adds a URL that the cache does not have.
    mutating func add(missing url: String) { missing.append(url) }

    /// Notes that a URL is not loaded any more.
    mutating func ended(_ url: String) {
        loading.remove(key(url))
        if let again = waiting.removeValue(forKey: key(url)) { rest = again + rest }
    }

    /// Removes all URLs that are not loaded yet, and returns them.
    mutating func removeAll() -> ArraySlice<String> {
        defer { (missing, rest, waiting) = ([], [], [:]) }
        return missing + rest + waiting.values.joined()
    }
}
