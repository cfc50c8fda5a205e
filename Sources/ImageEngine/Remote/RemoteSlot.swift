internal import Logging
internal import Platform
package import RemoteStorage
internal import Synchronization

/// The remote tier of an engine, which may be exchanged for another one while it runs.
final class RemoteSlot: Sendable {
    private struct State: Sendable {
        var configuration: RemoteTier.Configuration
        var tier: RemoteTier?
        /// Those of before whose uploads or claims have not ended.
        var retired: [RemoteTier] = []
    }

    private let make: @Sendable (RemoteTier.Configuration) -> RemoteTier?
    private let changes: EventHook<RemoteChange>
    private let state: Mutex<State>

    /// The tier in force; `nil` when there is none.
    var tier: RemoteTier? { state.withLock { $0.tier } }

    var configuration: RemoteTier.Configuration { state.withLock { $0.configuration } }

    /// - Parameter changes: Receives each change of the breaker.
    init(_ configuration: EngineConfiguration, pool: BlockingPool, changes: EventHook<RemoteChange>) {
        let (downloader, now) = (configuration.downloader, configuration.clock.monotonic)
        self.changes = changes
        make = { configuration in
            RemoteTier(configuration, downloader: downloader, pool: pool, now: now) { state, error in
                let change = RemoteChange(state: state, reason: error.map { "\($0)" })
                change.log()
                changes.report(change)
            }
        }
        state = Mutex(State(configuration: configuration.remote, tier: make(configuration.remote)))
    }

    /// Uses other settings from now on. What runs with the tier before ends with that; what waits for its upload to the same
    /// engine is uploaded.
    func use(_ configuration: RemoteTier.Configuration) {
        let tier = make(configuration)
        let old = state.withLock { state in
            let old = state.tier
            state.retired = (state.retired + [old].compactMap(\.self)).filter(\.isBusy)
            (state.configuration, state.tier) = (configuration, tier)
            return old
        }
        guard let old else { return }
        let (waiting, reported) = old.retire()
        guard let tier else { return }
        if old.configuration.url == configuration.url { for upload in waiting { tier.upload(upload) } }
        // Whoever heard that the tier is left out hears that it is used.
        if reported != .closed { changes.report(RemoteChange(state: .closed, reason: nil)) }
    }

    /// Waits for the uploads of the tiers before, which may be to the same engine.
    func waitForRetired() async throws {
        for tier in state.withLock({ $0.retired }) { try await tier.waitForUploads() }
    }

    /// Waits for what is to be uploaded, for a short time at most: the process ends.
    func finish() {
        let (retired, tier) = state.withLock { ($0.retired, $0.tier) }
        for one in retired + [tier].compactMap(\.self) { one.finish() }
    }
}

/// The event that the remote tier is left out, tried again or used again.
package struct RemoteChange: Sendable, Equatable {
    package let state: CircuitBreaker.State
    /// The reason why the tier is left out; `nil` when it is not.
    package let reason: String?

    private static let logger = Logger(label: "halcyon.remote")

    fileprivate func log() {
        switch state {
        case .open: Self.logger.warning("the remote tier is left out: \(reason ?? "it failed")")
        case .closed: Self.logger.notice("the remote tier is used again")
        case .halfOpen: Self.logger.debug("the remote tier is tried again")
        }
    }
}
