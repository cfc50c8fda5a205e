/// Receives a copy of every byte of a connection, on the threads that read and write it.
public struct ConnectionTap: Sendable {
    /// Receives the bytes that were read; the buffer is valid only during the call.
    public let input: @Sendable (UnsafeRawBufferPointer) -> Void
    /// Receives the bytes that were written; the buffer is valid only during the call.
    public let output: @Sendable (UnsafeRawBufferPointer) -> Void

    /// A tap that passes bytes to two functions, each of which is called by one thread at a time.
    public init(
        input: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) {
        self.input = input
        self.output = output
    }
}
