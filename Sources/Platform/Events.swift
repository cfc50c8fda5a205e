internal import CLinux
internal import Glibc

/// A counting semaphore that threads wait for.
package final class Semaphore: Sendable {
    private let descriptor = hl_semaphore()

    /// A semaphore at zero.
    package init() {}

    deinit { close(descriptor) }

    /// Adds one, waking one waiter.
    package func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Waits until there is one to take.
    package func wait() {
        var one: UInt64 = 0
        while read(descriptor, &one, 8) < 0, errno == EINTR {}
    }
}

/// A descriptor that becomes readable when signalled: wakes a thread that waits in `poll`.
package final class WakeEvent: Sendable {
    /// The descriptor to poll for `POLLIN`.
    package let descriptor = hl_eventfd()

    /// An event that is not signalled.
    package init() {}

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

/// An event that happens once and that one thread waits for.
package final class OneShotEvent: Sendable {
    private let event = hl_event_make()

    /// An event that has not happened.
    package init() {}

    deinit { hl_event_free(event) }

    /// Wakes the thread that waits, or will wait.
    package func signal() { hl_post(event) }

    /// Waits for the event.
    package func wait() { hl_await(event) }
}
