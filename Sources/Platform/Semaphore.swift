internal import CLinux
internal import Glibc

/// A counting semaphore that a thread may wait for.
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
