internal import JSONRPC
internal import Terminal

/// The keys of the cache that the usual settings name, as completions of an argument.
enum CachedKeys {
    /// As many keys are offered at most.
    private static let limit = 200
    /// As many pages are read at most: a key with many made variants fills pages of its own.
    private static let pageLimit = 10

    /// The keys that begin with what is typed; none where the cache cannot be used.
    ///
    /// - Parameter prefix: What is typed of the argument.
    @Sendable static func completions(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let session = try? Session(ServerSettings(given: ["cleanInterval": "0", "logLevel": "critical"])) else {
            return []
        }
        var keys: [String] = []
        var seen: Set<String> = []
        var cursor: String?
        for _ in 0..<pageLimit {
            let reply = session.dialogue.ask(
                Dialogue.Request("list") { params in
                    params.field("prefix", prefix)
                    params.field("limit", limit)
                    if let cursor { params.field("cursor", cursor) }
                })
            guard let reply, let page = try? JSONDocument(parsing: reply.text),
                let entries = page.root.member("entries")
            else { break }
            for place in 0..<entries.count {
                guard let key = entries.element(place)?.member("key")?.string, seen.insert(key).inserted else {
                    continue
                }
                keys.append(key)
            }
            cursor = page.root.member("cursor")?.string
            guard cursor != nil, keys.count < limit else { break }
        }
        session.end()
        return Array(keys.prefix(limit))
    }
}
