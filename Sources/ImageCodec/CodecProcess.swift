internal import CVips
internal import Glibc
public import ImageRecipes

/// The worker as a process: its resource limits and its communication with the server.
public struct CodecProcess {
    /// The resource limits of the process, independent of requests.
    public struct Bounds: Sendable {
        /// The address space, in bytes; the libraries take about 400 MB of it.
        public var memory = 2 << 30
        /// The largest file that can be written, in bytes.
        public var fileSize = 1 << 30
        /// The number of open files, besides the fonts.
        public var files = 64

        /// The default limits.
        public init() {}
    }

    private let descriptor: Int32
    private let worker: CodecWorker
    private var reader = RenderMessageReader()
    /// The descriptors that have come and belong to requests that have not been read yet.
    private var descriptors: [Int32] = []

    /// Prepares parts of the library and restricts the process, before it has read a byte of anybody.
    ///
    /// - Returns: nil when the codec library does not start.
    public init?(descriptor: Int32, parts: Set<CodecPart>, bounds: Bounds = Bounds()) {
        self.descriptor = descriptor
        hv_drop_privileges()
        hv_tune_memory()
        hv_limit_resources(UInt64(bounds.memory), UInt64(bounds.fileSize))
        guard let worker = CodecWorker(parts) else { return nil }
        self.worker = worker
        hv_limit_files(UInt64(bounds.files))
        hv_confine()
    }

    /// Answers requests until the server closes its end.
    ///
    /// - Returns: The process's exit code: 0 after the end, 65 (EX_DATAERR) when the input is not a valid message.
    public mutating func run() -> Int32 {
        guard send(.hello(worker.facts)) else { return 0 }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        var arrived = [Int32](repeating: -1, count: 256)
        while true {
            do {
                while let message = try reader.next() {
                    guard case .request(let request) = message, request.descriptorCount <= descriptors.count else {
                        return 65
                    }
                    guard answer(request) else { return 0 }
                }
            } catch {
                return 65
            }
            var arrivedCount = 0
            let count = hv_receive(descriptor, &buffer, buffer.count, &arrived, arrived.count, &arrivedCount)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return 0 }
            descriptors += arrived.prefix(arrivedCount)
            reader.append(buffer[..<count])
        }
    }

    private mutating func answer(_ request: RenderRequest) -> Bool {
        let files = Array(descriptors.prefix(request.descriptorCount))
        descriptors.removeFirst(files.count)
        defer { for file in files { close(file) } }
        // A decoder that does not check the deadline is ended by a signal, which sends this reply. Those that check get a
        // quarter of a second to notice.
        let late = RenderMessage.reply(
            RenderReply(outcomes: request.outputs.map { _ in .failed(.tookTooLong) }, isLast: true)
        ).frame
        let seconds = min(max(request.limits.decodeSeconds, 0.001), 86_400)
        hv_limit_processor_time(seconds + 5)
        hv_set_alarm(descriptor, late, late.count, seconds + 0.25)
        let reply = worker.render(request, files)
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
