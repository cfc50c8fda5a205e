internal import Glibc

/// Starts a detached thread that runs `body` to its end: for the few loops that block in the kernel and so may not sit
/// on the threads of the concurrency runtime.
///
/// A process that may not have the thread ends with code 71 (EX_OSERR) and a sentence on stderr.
///
/// - Parameter stackSize: In bytes; 512 KiB by default, of which only touched pages are ever resident.
package func startThread(stackSize: Int = 512 << 10, _ body: @escaping @Sendable () -> Void) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackSize)
    let context = Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    var thread = pthread_t()
    let code = pthread_create(&thread, &attributes, runThreadBody, context)
    pthread_attr_destroy(&attributes)
    if code != 0 {
        Unmanaged<ThreadBody>.fromOpaque(context).release()
        // The loops that run on threads never return, and nothing works without them.
        let complaint = Array("halcyon: a thread cannot be started: \(String(cString: strerror(code))).\n".utf8)
        _ = write(2, complaint, complaint.count)
        _exit(71)
    }
}

private final class ThreadBody: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().body() }
    return nil
}
