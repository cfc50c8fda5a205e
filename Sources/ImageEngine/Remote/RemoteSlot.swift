internal import Logging
internal import Platform
package import RemoteStorage
internal import Synchronization

/// The remote tier of an engine, which may be exchanged for another one while it runs.
final class RemoteSlot: Sendable {
    private struct State: Sendable {
        var configuration: RemoteTier.Configuration
        var tier: RemoteTier?
    }

    private let make: @Sendable (RemoteTier.Configuration) -> RemoteTier?
    private let state: Mutex<State>

    /// The tier in force; `nil` when there is none.
    var tier: RemoteTier? { state.withLock { $0.tier } }

    /// The settings in force.
    var configuration: RemoteTier.Configuration { state.withLock { $0.configuration } }

    /// - Parameter changes: Receives each change of the breaker.
    init(_ configuration: EngineConfiguration, pool: BlockingPool, changes: EventHook<RemoteChange>) {
        let (downloader, now) = (configuration.downloader, configuration.clock.monotonic)
        make = { configuration in
            RemoteTier(configuration, downloader: downloader, pool: pool, now: now) { state, error in
                let change = RemoteChange(state: state, reason: error.map { "\($0)" })
                change.log()
                changes.report(change)
            }
        }
        state = Mutex(State(configuration: configuration.remote, tier: make(configuration.remote)))
    }

    /// Uses other settings from now on; what has begun with the tier before ends with that.
    func use(_ configuration: RemoteTier.Configuration) {
        let tier = make(configuration)
        state.withLock { $0 = State(configuration: configuration, tier: tier) }
    }
}

/// The event that the remote tier is left out, tried again or used again.
package struct RemoteChange: Sendable, Equatable {
    /// The state of the breaker from now on.
    package let state: CircuitBreaker.State
    /// The reason why the tier is left out; `nil` when it is not.
    package let reason: String?

    private static let logger = Logger(label: "halcyon.remote")

    /// Writes the event into the log.
    fileprivate func log() {
        switch state {
        case .open: Self.logger.warning("the remote tier is left out: \(reason ?? "it failed")")
        case .closed: Self.logger.notice("the remote tier is used again")
        case .halfOpen: Self.logger.debug("the remote tier is tried again")
        }
    }
}
