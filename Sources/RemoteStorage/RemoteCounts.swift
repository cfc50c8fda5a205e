/// What a remote tier has done, and its state.
package struct RemoteCounts: Sendable, Equatable {
    /// The objects that have answered requests.
    package internal(set) var hits = 0
    /// The requests for which there was no object, or none in time.
    package internal(set) var misses = 0
    /// The operations that failed.
    package internal(set) var errors = 0
    /// The objects that were not what their names say.
    package internal(set) var wrong = 0
    package internal(set) var uploads = 0
    /// The uploads that were left out, because too many waited or the engine was left out.
    package internal(set) var dropped = 0
    /// The uploads that wait or run.
    package internal(set) var queued = 0
    package internal(set) var bytesRead = 0
    package internal(set) var bytesWritten = 0
    package internal(set) var breaker = CircuitBreaker.State.closed
}
