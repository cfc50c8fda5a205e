internal import CLinux
internal import Glibc

/// A counting semaphore that threads wait for. It takes no descriptor.
package final class Semaphore: Sendable {
    private let semaphore = hl_semaphore_make()

    package init() {}

    deinit { hl_semaphore_free(semaphore) }

    /// Adds one, waking one waiter.
    package func signal() { hl_post(semaphore) }

    /// Waits until there is one to take.
    package func wait() { hl_await(semaphore) }
}

/// A descriptor that becomes readable when signalled: wakes a thread that waits in `poll`.
package final class WakeEvent: Sendable {
    /// The descriptor to poll for `POLLIN`.
    package let descriptor = hl_eventfd()

    package init() {}

    deinit { close(descriptor) }

    /// Makes the descriptor readable. Signals before the next ``clear()`` count as one.
    package func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    package func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
