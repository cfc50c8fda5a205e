/// A part of the work of a ``Job`` that can be stopped.
package protocol JobPart: AnyObject, Sendable {
    /// Stops it. Also called after it has ended, and does nothing then.
    func stop()
}

/// A part that a function stops.
final class StoppedPart: JobPart {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    func stop() { action() }
}
