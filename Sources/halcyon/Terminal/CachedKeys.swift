internal import JSONRPC
internal import Terminal

/// The keys of the cache that the usual settings name, as completions of an argument.
enum CachedKeys {
    /// As many are offered at most.
    private static let limit = 200

    /// The keys that begin with what is typed; none where the cache cannot be used.
    ///
    /// - Parameter prefix: What is typed of the argument.
    @Sendable static func completions(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
        guard let session = try? Session(ServerSettings(given: ["cleanInterval": "0", "logLevel": "critical"])) else {
            return []
        }
        let reply = session.dialogue.ask(
            Dialogue.Request("list") { params in
                params.field("prefix", prefix)
                params.field("limit", limit)
            })
        session.end()
        guard let reply, let document = try? JSONDocument(parsing: reply.text),
            let entries = document.root.member("entries")
        else { return [] }
        var keys: [String] = []
        for place in 0..<entries.count {
            if let key = entries.element(place)?.member("key")?.string, keys.last != key { keys.append(key) }
        }
        return keys
    }
}
