internal import CLinux
internal import Glibc

/// A descriptor that becomes readable when signalled: the way to wake a thread that waits in `poll`.
package final class WakeEvent: Sendable {
    /// The descriptor to poll for `POLLIN`.
    package let descriptor: Int32

    /// An event that is not signalled.
    package init() {
        descriptor = hl_eventfd()
    }

    deinit { close(descriptor) }

    /// Makes the descriptor readable. Signals before the next ``clear()`` count as one.
    package func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Makes the descriptor unreadable again.
    package func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
