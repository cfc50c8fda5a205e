/// The right of one machine to download an image. It ends with the last reference, or by itself after its time.
package final class RemoteClaim: Sendable {
    private let end: @Sendable () -> Void

    /// - Parameter end: Called once, on any thread; it must not block.
    init(end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
