/// An engine that keeps objects by name for several machines: an HTTP server, S3 or Redis.
///
/// Every operation ends when its task is cancelled. None waits for long by itself; ``RemoteTier`` sets the limits.
package protocol RemoteStorage: Sendable {
    /// `true` when ``claim(_:seconds:)`` works.
    var hasClaims: Bool { get }

    /// The object; `nil` when there is none.
    func get(_ name: String) async throws -> [UInt8]?
    /// Writes an object, which replaces another.
    ///
    /// - Parameter seconds: The time after which the engine may forget it; `nil` for no limit.
    func put(_ name: String, _ object: [UInt8], seconds: Int?) async throws
    /// Removes an object, if there is one.
    func remove(_ name: String) async throws
    /// Claims a name for so many seconds, unless it is claimed. The claim is an object that ``get(_:)`` sees.
    ///
    /// - Returns: The token that ends the claim; `nil` when another has it.
    func claim(_ name: String, seconds: Int) async throws -> String?
    /// Ends a claim, unless it has ended and is another's.
    func endClaim(_ name: String, token: String) async throws
    /// The engine's clock, in nanoseconds since 1970; `nil` when it tells none.
    func wallClock() async throws -> Int?
}

extension RemoteStorage {
    package func claim(_ name: String, seconds: Int) async throws -> String? { throw RemoteError.unsupported }
    package func endClaim(_ name: String, token: String) async throws { throw RemoteError.unsupported }
    package func wallClock() async throws -> Int? { nil }
}

/// The failure of an operation of a ``RemoteStorage``. It names no address: that may contain a password.
package enum RemoteError: Error, Equatable, CustomStringConvertible {
    case unreachable(String)
    case timedOut
    /// The engine has answered that it will not.
    case refused(String)
    /// The engine has answered that it cannot now.
    case failed(String)
    /// The object is larger than the tier takes.
    case tooLarge
    /// The answer is none that the protocol knows.
    case malformed
    case unsupported

    package var description: String {
        switch self {
        case .unreachable(let reason): "it cannot be reached: \(reason)"
        case .timedOut: "it did not answer in time"
        case .refused(let reason): "it refused: \(reason)"
        case .failed(let reason): "it failed: \(reason)"
        case .tooLarge: "it has a larger object than remoteMaxBytes allows"
        case .malformed: "it answered something that its protocol does not know"
        case .unsupported: "it has no such operation"
        }
    }
}
