import CLinux
import Foundation
import Glibc
import ImageRecipes
import Platform
import Synchronization

/// The real codec worker as a subprocess, spoken to over its socket as the server does.
public final class CodecChild: Sendable {
    /// The number of the process.
    public let process: pid_t
    /// What the worker said first.
    public let facts: CodecFacts
    private let socket: Int32
    private let reader: Mutex<RenderMessageReader>
    private let reaped = Mutex<Int32?>(nil)
    /// Lets the thread go that started the worker: it dies with that thread, as with its server.
    private let release: Platform.Semaphore

    /// The binary under test, beside the server's.
    public static let binary =
        URL(fileURLWithPath: ServerProcess.binary).deletingLastPathComponent().path + "/halcyon-codec"

    /// Starts a worker and reads its hello.
    ///
    /// - Parameter output: What becomes its standard output; a file at that path, or nothing.
    public init(output: String = "/dev/null") async throws {
        var ends: [Int32] = [0, 0]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw PatienceExhausted(description: "no sockets could be had")
        }
        // Out of the way of the descriptors that it becomes in the child.
        let theirs = fcntl(ends[1], F_DUPFD_CLOEXEC, 10)
        close(ends[1])
        let release = Platform.Semaphore()
        process = try await withCheckedThrowingContinuation { continuation in
            startThread {
                continuation.resume(with: Result { try Self.start(output, theirs) })
                release.wait()
            }
        }
        self.release = release
        socket = ends[0]
        let message = try await Self.onThread { [socket] in
            var reader = RenderMessageReader()
            return try Self.receive(socket, &reader)
        }
        guard case .hello(let facts) = message.message else {
            throw PatienceExhausted(description: "the worker did not say hello")
        }
        self.facts = facts
        self.reader = Mutex(message.reader)
    }

    deinit {
        close(socket)
        if reaped.withLock({ $0 == nil }) { kill(process, SIGKILL) }
        _ = exitCode()
        release.signal()
    }

    private static func start(_ output: String, _ socket: Int32) throws -> pid_t {
        try Spawn.start(
            [binary] + CodecPart.allCases.map(\.rawValue),
            descriptors: [
                open("/dev/null", O_RDONLY | O_CLOEXEC),
                open(output, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600), open("/dev/null", O_WRONLY | O_CLOEXEC), socket,
            ])
    }

    /// Has a request done.
    public func render(_ request: RenderRequest) async throws -> RenderReply {
        try await send(request)
        let reply = try await reply()
        for (output, outcome) in zip(request.outputs, reply.outcomes) where output.rule != .nothing {
            if case .failed = outcome { unlink(output.path) }
        }
        return reply
    }

    /// Sends a request with the descriptors of its files, which are opened and created here, as the server does.
    public func send(_ request: RenderRequest) async throws {
        var files = [open(request.source, O_RDONLY | O_CLOEXEC)]
        for output in request.outputs where output.rule != .nothing {
            files.append(open(output.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600))
        }
        defer { for file in files { close(file) } }
        guard files.allSatisfy({ $0 >= 0 }) else { throw PatienceExhausted(description: "a file cannot be opened") }
        try await send(RenderMessage.request(request).frame, descriptors: files)
    }

    /// Sends bytes, whatever they are.
    public func send(_ bytes: [UInt8], descriptors: [Int32] = []) async throws {
        try await Self.onThread { [socket] in
            var (rest, along) = (bytes[...], descriptors)
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { hl_send(socket, $0.baseAddress, $0.count, along, along.count) }
                if count < 0, errno == EAGAIN { continue }
                guard count > 0 else { throw PatienceExhausted(description: "the worker takes no more") }
                rest = rest.dropFirst(count)
                along = []
            }
        }
    }

    /// Waits for the next reply.
    public func reply() async throws -> RenderReply {
        let state = reader.withLock { $0 }
        let result = try await Self.onThread { [socket] in
            var state = state
            return try Self.receive(socket, &state)
        }
        reader.withLock { $0 = result.reader }
        guard case .reply(let reply) = result.message else {
            throw PatienceExhausted(description: "the worker gave no reply")
        }
        return reply
    }

    /// Closes our end of the socket.
    public func hangUp() { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Waits for the end: the exit code, or minus the signal.
    public func ended() async throws -> Int32 { try await Self.onThread { [self] in exitCode() } }

    private func exitCode() -> Int32 {
        reaped.withLock { known in
            if let known { return known }
            let code = Spawn.wait(for: process)
            known = code
            return code
        }
    }

    private static func receive(
        _ socket: Int32, _ reader: inout RenderMessageReader
    ) throws -> (message: RenderMessage, reader: RenderMessageReader) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            if let message = try reader.next() { return (message, reader) }
            var place = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&place, 1, 120_000) > 0 else { throw PatienceExhausted(description: "the worker is silent") }
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count > 0 else { throw PatienceExhausted(description: "the worker is gone") }
            reader.append(buffer.prefix(count))
        }
    }

    /// Runs what blocks on a thread of its own.
    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            startThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
