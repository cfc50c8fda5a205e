internal import Platform
internal import RemoteStorage

/// What was removed from the remote tier.
public struct RemoteRemoval: Sendable, Equatable {
    /// The objects that the tier was told to remove, whether it had them or not.
    public var count = 0
    /// The reason why some or all are still there; `nil` when none is.
    public var problem: String?
}

/// Removes objects from the remote tier, for all machines.
struct RemoteRemover: Sendable {
    /// The most removals at the same time.
    private static let width = 16

    let engine: EngineServices

    /// The entries that a removal means: that of the key, and those of this machine with the same text, for a tier is not
    /// listed. Waits for the disk.
    func keys(_ selection: EntrySelection, in cache: ImageCache) throws(ImageError) -> [CacheKey] {
        var query = ListQuery(limit: 1000)
        query.prefix = selection.key.key
        return [selection.key] + (try all(query, in: cache).filter { selection.contains($0) && $0 != selection.key })
    }

    /// All entries of a cache. Waits for the disk.
    func keys(of cache: ImageCache) throws(ImageError) -> [CacheKey] { try all(ListQuery(limit: 1000), in: cache) }

    private func all(_ query: ListQuery, in cache: ImageCache) throws(ImageError) -> [CacheKey] {
        var (query, keys) = (query, [CacheKey]())
        while true {
            let page = try cache.list(query)
            keys += page.entries.compactMap(\.cacheKey)
            guard let next = page.next else { return keys }
            query.cursor = next
        }
    }

    /// Removes the objects of entries. Begins no more after a failure.
    func remove(_ keys: [CacheKey]) async -> RemoteRemoval {
        guard let tier = engine.remote else {
            return RemoteRemoval(problem: "There is no remote tier: name one with the setting remote.")
        }
        var removal = RemoteRemoval()
        await withTaskGroup(of: String?.self) { group in
            func take(_ problem: String?) {
                if let problem { removal.problem = problem } else { removal.count += 1 }
            }
            for (index, key) in keys.enumerated() {
                if index >= Self.width, let problem = await group.next() { take(problem) }
                if removal.problem != nil { break }
                group.addTask {
                    do { try await tier.remove(tier.name(of: key)) } catch { return "\(error)" }
                    return nil
                }
            }
            for await problem in group { take(problem) }
        }
        return removal
    }
}
