import Synchronization
import TestSupport

@testable import RemoteStorage

/// An engine in memory whose operations wait for gates, and fail as long as there is an error.
final class GatedStorage: RemoteStorage {
    let objects = Mutex<[String: [UInt8]]>([:])
    let error = Mutex<RemoteError?>(nil)
    let (gets, puts, removals, claims) = (Gate(), Gate(), Gate(), Gate())
    let (getCount, putCount, removeCount, claimEnds) = (Counter(), Counter(), Counter(), Counter())
    let hasClaims = true
    /// `true` for an engine that says it has written what it has not.
    let losesWrites = Atomic(false)
    /// Called for each read.
    let onGet = Mutex<(@Sendable () -> Void)?>(nil)
    /// What ``lastReceived`` is.
    let received = Mutex<Int?>(nil)

    var lastReceived: Int? { received.withLock { $0 } }

    var names: [String] { objects.withLock { $0.keys.sorted() } }

    func openAll() { for gate in [gets, puts, removals] { gate.open() } }

    private func failIfMeant() throws { if let error = error.withLock({ $0 }) { throw error } }

    func get(_ name: String) async throws -> [UInt8]? {
        getCount.add()
        await withTaskCancellationHandler {
            await gets.wait()
        } onCancel: {
            gets.open()
        }
        onGet.withLock { $0 }?()
        try failIfMeant()
        return objects.withLock { $0[name] }
    }

    func put(_ name: String, _ object: [UInt8], seconds: Int?) async throws {
        putCount.add()
        await puts.wait()
        try failIfMeant()
        objects.withLock { $0[name] = losesWrites.load(ordering: .relaxed) ? [] : object }
    }

    func remove(_ name: String) async throws {
        removeCount.add()
        await removals.wait()
        try failIfMeant()
        _ = objects.withLock { $0.removeValue(forKey: name) }
    }

    /// The claim of a name with `slow` comes when nobody waits for it any more, that of one with `gated` waits for its gate.
    func claim(_ name: String, seconds: Int) async throws -> String? {
        if name.hasPrefix("gated") { await claims.wait() }
        if name.hasPrefix("slow") { try? await Task.sleep(for: .seconds(60)) }
        return name
    }

    func endClaim(_ name: String, token: String) async throws { claimEnds.add() }
}
