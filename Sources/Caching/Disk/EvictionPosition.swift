/// The place in the order of use up to which all entries are lent. An eviction begins after it, so that a lent entry is
/// examined once, and not with every store.
struct EvictionPosition: Sendable {
    /// The longest time in seconds for which it counts, whatever the leases are: others may have changed the index.
    private static let span = 60

    /// The last of the entries, by its number and its use.
    private var last: (number: Int64, use: Int64)?
    /// The time when the first of the leases ends, in seconds since the machine's start.
    private var end = 0

    /// The use after which an eviction looks for an entry.
    mutating func start(at now: Int, _ writer: IndexWriter) throws -> Int64 {
        // A new use gets the highest number plus one, so after the removal of the newest entry its number is used again.
        if let last, now < end, let found = try writer.leastRecentlyUsed(1, after: last.use - 1).first,
            found.number == last.number, found.use == last.use
        {
            return last.use
        }
        (last, end) = (nil, now + Self.span)
        return .min
    }

    /// Goes on past an entry that is lent for `rest` more seconds.
    mutating func pass(_ entry: IndexUse, rest: Int, at now: Int) {
        if let last, last.use >= entry.use { return }
        (last, end) = ((entry.number, entry.use), min(end, now + rest))
    }
}
