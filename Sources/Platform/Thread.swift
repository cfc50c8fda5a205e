internal import Glibc

/// Starts a detached thread that runs `body` to its end, for work that blocks in the kernel and so may not sit on the threads
/// of the concurrency runtime: work without which the process is of no use. A process that may not have the thread ends with
/// code 71 (EX_OSERR) and a sentence on stderr.
///
/// - Parameter stackSize: In bytes; 512 KiB by default, of which only touched pages are ever resident.
package func startThread(stackSize: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) {
    let code = makeThread(stackSize, body)
    if code != 0 { endWithoutThread(code) }
}

/// Starts a detached thread for work that can be left out, done later or done elsewhere.
///
/// - Returns: `false` when the process may not have a thread now.
package func startOptionalThread(stackSize: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) -> Bool {
    makeThread(stackSize, body) == 0
}

/// Ends the process, which may not have a thread that it needs.
func endWithoutThread(_ code: Int32 = EAGAIN) -> Never {
    let complaint = Array("halcyon: a thread cannot be started: \(String(cString: strerror(code))).\n".utf8)
    _ = write(2, complaint, complaint.count)
    _exit(71)
}

private func makeThread(_ stackSize: Int, _ body: @escaping @Sendable () -> Void) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    var thread = pthread_t()
    let code = pthread_create(&thread, &attributes, runThreadBody, context)
    pthread_attr_destroy(&attributes)
    if code != 0 { Unmanaged<ThreadBody>.fromOpaque(context).release() }
    return code
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body() }
    return nil
}
