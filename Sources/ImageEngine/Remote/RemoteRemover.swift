internal import Platform
internal import RemoteStorage

/// What was removed from the remote tier.
public struct RemoteRemoval: Sendable, Equatable {
    /// The objects that the tier was told to remove, whether it had them or not.
    public var count = 0
    /// The reason why some or all are still there; `nil` when none is.
    public var problem: String?
}

/// A removal from the remote tier that has begun: until its objects are gone, no request is answered with them.
public struct PendingRemoteRemoval: Sendable {
    fileprivate let names: [String]
    /// `nil` when there is no tier.
    fileprivate let removal: ObjectRemoval?
}

/// Removes objects from the remote tier, for all machines.
struct RemoteRemover: Sendable {
    /// The most removals at the same time.
    private static let width = 16

    let engine: EngineServices

    /// Begins to remove the objects of an entry, and of those of this machine with the same text, for a tier is not listed. Waits
    /// for the disk.
    func begin(_ selection: EntrySelection, in cache: ImageCache) throws(ImageError) -> PendingRemoteRemoval {
        var query = ListQuery()
        query.prefix = selection.key.key
        // What is in memory alone may have been uploaded too.
        return begin([selection.key] + (try cache.keys(where: query)).filter(selection.contains))
    }

    /// Begins to remove the objects of entries.
    func begin(_ keys: [CacheKey]) -> PendingRemoteRemoval {
        guard let tier = engine.remote else { return PendingRemoteRemoval(names: [], removal: nil) }
        var seen: Set<String> = []
        let names = keys.map { tier.name(of: $0) }.filter { seen.insert($0).inserted }
        return PendingRemoteRemoval(names: names, removal: tier.removal(of: seen))
    }

    /// Removes the objects. Begins no more after a failure.
    func remove(_ pending: PendingRemoteRemoval) async -> RemoteRemoval {
        guard let objects = pending.removal else {
            return RemoteRemoval(problem: "There is no remote tier: name one with the setting remote.")
        }
        var removal = RemoteRemoval()
        do { try await engine.remoteSlot.waitForRetired() } catch { /* Cancelled, as the removals are then, too. */  }
        await withTaskGroup(of: String?.self) { group in
            func take(_ problem: String?) {
                if let problem { removal.problem = problem } else { removal.count += 1 }
            }
            for (index, name) in pending.names.enumerated() {
                if index >= Self.width, let problem = await group.next() { take(problem) }
                if removal.problem != nil { break }
                group.addTask {
                    do { try await objects.remove(name) } catch { return "\(error)" }
                    return nil
                }
            }
            for await problem in group { take(problem) }
        }
        return removal
    }
}
