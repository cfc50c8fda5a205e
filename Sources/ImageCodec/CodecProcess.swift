internal import CVips
internal import Glibc
internal import ImageRecipes

/// The worker as a process: its resource limits and its communication with the server.
public struct CodecProcess {
    /// The resource limits of the process, independent of requests.
    public struct Bounds: Sendable {
        /// The address space, in bytes; the libraries take about 400 MB of it.
        public var memory = 2 << 30
        /// The largest file that can be written, in bytes.
        public var fileSize = 1 << 30
        /// The number of open files.
        public var files = 64

        /// The default limits.
        public init() {}
    }

    private let descriptor: Int32
    private var worker: CodecWorker
    private var reader = RenderMessageReader()

    /// Restricts the process and sends the hello message to the server at the other end of the socket.
    ///
    /// - Returns: nil when the codec library does not start.
    public init?(descriptor: Int32, bounds: Bounds = Bounds()) {
        self.descriptor = descriptor
        hv_tune_memory()
        hv_limit_resources(UInt64(bounds.memory), UInt64(bounds.fileSize), UInt64(bounds.files))
        guard let worker = CodecWorker() else { return nil }
        self.worker = worker
        hv_confine()
    }

    /// Answers requests until the server closes its end.
    ///
    /// - Returns: The process's exit code: 0 after the end, 65 (EX_DATAERR) when the input is not a valid message.
    public mutating func run() -> Int32 {
        guard send(.hello(worker.facts)) else { return 0 }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            do {
                while let message = try reader.next() {
                    guard case .request(let request) = message else { return 65 }
                    guard answer(request) else { return 0 }
                }
            } catch {
                return 65
            }
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return 0 }
            reader.append(buffer[..<count])
        }
    }

    private mutating func answer(_ request: RenderRequest) -> Bool {
        // A decoder that does not check the deadline is killed by a signal, which sends this reply.
        let late = RenderMessage.reply(
            RenderReply(outcomes: request.outputs.map { _ in .failed(.tookTooLong) })
        ).frame
        let seconds = min(max(request.limits.decodeSeconds, 0.001), 86_400)
        hv_limit_processor_time(seconds + 5)
        hv_set_alarm(descriptor, late, late.count, seconds + 2)
        let reply = worker.render(request)
        hv_cancel_alarm()
        let isSent = send(.reply(reply))
        hv_trim_memory()
        return isSent
    }

    private func send(_ message: RenderMessage) -> Bool {
        let frame = message.frame
        var sent = 0
        while sent < frame.count {
            let count = frame[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }
}
