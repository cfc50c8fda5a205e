/// An engine that keeps objects by name for several machines: an HTTP server, S3 or Redis.
///
/// Every operation ends when its task is cancelled. None waits for long by itself; ``RemoteTier`` sets the limits.
package protocol RemoteStorage: Sendable {
    /// `true` when ``claim(_:seconds:)`` works.
    var hasClaims: Bool { get }

    /// The time when the engine last sent something that is read, in nanoseconds of the system's monotonic clock; `nil` when
    /// that is not known.
    var lastReceived: Int? { get }

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
    package var lastReceived: Int? { nil }
    package func claim(_ name: String, seconds: Int) async throws -> String? { throw RemoteError.unsupported }
    package func endClaim(_ name: String, token: String) async throws { throw RemoteError.unsupported }
    package func wallClock() async throws -> Int? { nil }
}
