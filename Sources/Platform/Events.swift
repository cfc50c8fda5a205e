internal import CLinux
package import Glibc

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

/// Wakes a thread that waits for descriptors.
///
/// It takes a descriptor itself. Where the system has none, the thread looks every 50 ms whether something has happened.
package final class WakeEvent: Sendable {
    private let descriptor: Int32
    private static let blindMilliseconds: Int32 = 50

    package convenience init() { self.init(hl_eventfd()) }

    /// - Parameter descriptor: −1 where there is none.
    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The event among the descriptors that a thread waits for: the first.
    package var place: pollfd { pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0) }

    /// Waits as `poll(2)` does for descriptors of which the first is this event's ``place``. That shows afterwards that the
    /// event was signalled, or may have been, and does so no longer the next time.
    ///
    /// - Parameter milliseconds: The longest wait; −1 for no end.
    @discardableResult
    package func poll(_ places: inout [pollfd], _ milliseconds: Int32 = -1) -> Int32 {
        let isBlind = descriptor < 0
        let isLong = milliseconds < 0 || milliseconds > Self.blindMilliseconds
        let wait = isBlind && isLong ? Self.blindMilliseconds : milliseconds
        let count = Glibc.poll(&places, nfds_t(places.count), wait)
        if isBlind { places[0].revents = Int16(POLLIN) } else if count > 0, places[0].revents != 0 { clear() }
        return count
    }

    /// Wakes the thread, or keeps it from waiting the next time.
    package func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    private func clear() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, 8)
    }
}
