/// Hears of every byte of a connection, on the threads that read and write it.
public struct ConnectionTap: Sendable {
    /// Takes what was read, which is only lent.
    public let input: @Sendable (UnsafeRawBufferPointer) -> Void
    /// Takes what was written, which is only lent.
    public let output: @Sendable (UnsafeRawBufferPointer) -> Void

    /// A tap that hands bytes to two functions, each of which is called by one thread at a time.
    public init(
        input: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) {
        self.input = input
        self.output = output
    }
}
