internal import Synchronization

/// Objects that are being removed. Until one is gone, it is not read, and no upload of it begins: what is read or uploaded after
/// the removal began is not what was there before. It ends with the last reference too.
package final class ObjectRemoval: Sendable {
    private let tier: RemoteTier
    private let names: Mutex<Set<String>>

    init(of names: Set<String>, from tier: RemoteTier) {
        self.tier = tier
        self.names = Mutex(names)
    }

    deinit { for name in names.withLock({ $0 }) { tier.endRemoval(name) } }

    /// Removes one of the objects. An upload of it that runs is waited for.
    package func remove(_ name: String) async throws {
        guard tier.configuration.mode.writes else {
            throw RemoteError.refused("the remote tier is only read (remoteMode)")
        }
        defer { if names.withLock({ $0.remove(name) }) != nil { tier.endRemoval(name) } }
        try await tier.waitForUploads(name)
        try await tier.patiently { try await $0.remove(name) }
    }
}
