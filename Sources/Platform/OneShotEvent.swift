internal import CLinux

/// Something one thread waits for and another one gives, once.
package final class OneShotEvent: Sendable {
    /// The address of the number; 0 as long as nothing was given.
    private let place: UInt

    /// A turn that has not come yet.
    package init() {
        let number = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
        number.initialize(to: 0)
        place = UInt(bitPattern: number)
    }

    deinit { number?.deallocate() }

    private var number: UnsafeMutablePointer<UInt32>? { UnsafeMutablePointer(bitPattern: place) }

    /// Gives the thread that waits, or will wait, a number that is not 0.
    package func give(_ value: UInt32) { if let number { hl_post(number, value) } }

    /// Waits for the number.
    package func wait() -> UInt32 { number.map { hl_await($0) } ?? 0 }
}
