import CTestSupport
import Foundation
import Glibc
import Platform
import Synchronization

/// The real binary as a subprocess, spoken to over pipes (or a socket) as any client would.
public final class ServerProcess: Sendable {
    /// What the server's standard input and output are.
    public enum Channel: Sendable {
        /// Two pipes.
        case pipes
        /// One socket for both, as Node and Neovim give.
        case socket
        /// A file for input, a pipe for output.
        case file(String)
        /// The far end of a pseudo-terminal, given with the near one.
        case terminal(near: Int32, far: Int32)
    }

    /// What the server's standard error is.
    public enum Errors: Sendable {
        /// A pipe, read by ``complaints()``.
        case pipe
        /// A pipe that nobody reads and that holds all it can.
        case fullPipe
        /// Nothing: descriptor 2 is closed.
        case closed
    }

    private struct State {
        var input: Int32
        var received: [UInt8] = []
        /// Bytes known to hold no end of line.
        var scanned = 0
        var hasEnded = false
        var isOutputClosed = false
    }

    /// The number of the process.
    public let process: pid_t
    /// The framing that is spoken.
    public let isFramed: Bool
    private let output: Int32
    private let errors: Int32
    private let state: Mutex<State>
    private let reaped = Mutex<Int32?>(nil)

    /// The binary under test: `HALCYON_BIN`, or the one built beside the tests.
    public static let binary: String = {
        if let path = ProcessInfo.processInfo.environment["HALCYON_BIN"] { return path }
        for argument in CommandLine.arguments where argument.contains(".xctest") {
            let path = argument.components(separatedBy: ".xctest")[0]
            return URL(fileURLWithPath: path).deletingLastPathComponent().path + "/halcyon"
        }
        return Fixtures.repository + "/.build/debug/halcyon"
    }()

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - cache: The cache folder.
    ///   - isFramed: Whether messages have `Content-Length` headers; one a line otherwise.
    public init(
        cache: String, _ arguments: [String] = [], isFramed: Bool = false, channel: Channel = .pipes,
        errors errorChannel: Errors = .pipe, directory: String? = nil, environment: [String: String] = [:]
    ) throws {
        self.isFramed = isFramed
        var ours: (input: Int32, output: Int32)
        var theirs: (input: Int32, output: Int32)
        switch channel {
        case .pipes, .file:
            var inward: [Int32] = [0, 0]
            var outward: [Int32] = [0, 0]
            guard hl_pipe(&inward) == 0, hl_pipe(&outward) == 0 else {
                throw PatienceExhausted(description: "no pipes could be had")
            }
            ours = (inward[1], outward[0])
            theirs = (inward[0], outward[1])
            if case .file(let path) = channel {
                close(theirs.input)
                theirs.input = open(path, O_RDONLY | O_CLOEXEC)
            }
        case .socket:
            var ends: [Int32] = [0, 0]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                throw PatienceExhausted(description: "no sockets could be had")
            }
            ours = (ends[0], fcntl(ends[0], F_DUPFD_CLOEXEC, 3))
            theirs = (ends[1], fcntl(ends[1], F_DUPFD_CLOEXEC, 3))
        case .terminal(let near, let far):
            ours = (fcntl(near, F_DUPFD_CLOEXEC, 3), fcntl(near, F_DUPFD_CLOEXEC, 3))
            theirs = (fcntl(far, F_DUPFD_CLOEXEC, 3), fcntl(far, F_DUPFD_CLOEXEC, 3))
        }
        var complaints: [Int32] = [0, 0]
        hl_pipe(&complaints)
        if case .fullPipe = errorChannel {
            _ = fcntl(complaints[1], F_SETFL, O_NONBLOCK)
            while write(complaints[1], "full", 4) > 0 {}
            _ = fcntl(complaints[1], F_SETFL, 0)
        }

        var isClosed = false
        if case .closed = errorChannel { isClosed = true }
        // Without flags the server has none to parse, which in a debug build is most of its start.
        let words = arguments.isEmpty ? [Self.binary] : [Self.binary, "serve", "--cache-dir", cache] + arguments
        process = try Spawn.start(
            words, descriptors: [theirs.input, theirs.output, isClosed ? nil : complaints[1]], directory: directory,
            environment: ["HALCYON_CACHE_DIR": cache].merging(environment) { $1 })
        if isClosed { close(complaints[1]) }
        output = ours.output
        errors = complaints[0]
        state = Mutex(State(input: ours.input))
    }

    deinit {
        // Once reaped, the number may be another process's.
        if reaped.withLock({ $0 == nil }) { kill(process, SIGKILL) }
        _ = exitCode()
        state.withLock {
            if $0.input >= 0 { close($0.input) }
            if !$0.isOutputClosed { close(output) }
        }
        close(errors)
    }

    // MARK: Speaking

    /// Sends bytes as they are.
    public func sendRaw(_ bytes: [UInt8]) throws {
        let input = state.withLock { $0.input }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw PatienceExhausted(description: "the server does not read any more") }
            rest = rest.dropFirst(count)
        }
    }

    /// The bytes of a message as the framing wants them.
    public func frame(_ message: String) -> [UInt8] {
        isFramed ? Array("Content-Length: \(message.utf8.count)\r\n\r\n\(message)".utf8) : Array("\(message)\n".utf8)
    }

    /// Sends one message.
    public func send(_ message: String) throws { try sendRaw(frame(message)) }

    /// Sends a request.
    public func request(_ id: Int, _ method: String, _ params: String = "{}") throws {
        try send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
    }

    var inputDescriptor: Int32 { state.withLock { $0.input } }

    /// Ends the server's input.
    public func closeInput() {
        state.withLock { state in
            if state.input >= 0 {
                shutdown(state.input, Int32(SHUT_WR))
                close(state.input)
            }
            state.input = -1
        }
    }

    // MARK: Listening

    /// The next message; nil when the server has closed its output.
    ///
    /// - Throws: ``PatienceExhausted`` when nothing comes for 60 s.
    public func next() throws -> JSON? { try nextBytes().map { try JSON($0) } }

    /// The bytes of the next message.
    public func nextBytes() throws -> [UInt8]? {
        while true {
            if let message = takeMessage() { return message }
            guard try readMore() else { return nil }
        }
    }

    /// Sends a request and returns the next message.
    public func call(_ id: Int, _ method: String, _ params: String = "{}") throws -> JSON {
        try request(id, method, params)
        guard let reply = try next() else {
            throw PatienceExhausted(description: "the server ended instead of answering")
        }
        return reply
    }

    /// Everything the server still sends until it closes its output.
    public func rest() throws -> [JSON] {
        var messages: [JSON] = []
        while let message = try next() { messages.append(message) }
        return messages
    }

    private func takeMessage() -> [UInt8]? {
        state.withLock { state in
            if isFramed {
                guard let range = state.received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
                let head = String(decoding: state.received[..<range.lowerBound], as: UTF8.self)
                guard head.hasPrefix("Content-Length: "), let length = Int(head.dropFirst(16)),
                    state.received.count >= range.upperBound + length
                else { return nil }
                let message = Array(state.received[range.upperBound..<(range.upperBound + length)])
                state.received.removeSubrange(..<(range.upperBound + length))
                return message
            }
            let newline = state.received.firstNewline(from: state.scanned)
            state.scanned = newline == nil ? state.received.count : 0
            guard let newline else { return nil }
            let message = Array(state.received[..<newline])
            state.received.removeSubrange(...newline)
            return message
        }
    }

    private func readMore() throws -> Bool {
        if state.withLock({ $0.hasEnded }) { return false }
        var place = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        guard poll(&place, 1, 60_000) > 0 else {
            throw PatienceExhausted(description: "the server said nothing for 60 s")
        }
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(output, &piece, piece.count)
        state.withLock { state in
            if count > 0 { state.received += piece[..<count] } else { state.hasEnded = true }
        }
        return count > 0
    }

    /// How many bytes have come that make no whole frame.
    public var unparsedCount: Int { state.withLock { $0.received.count } }

    /// Goes away as far as the server's output is concerned; only what was read before can still be looked at.
    public func closeOutput() {
        state.withLock { state in
            if !state.isOutputClosed { close(output) }
            state.isOutputClosed = true
            state.hasEnded = true
        }
    }

    /// What the server has written to stderr so far.
    public func complaints() -> String {
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        var place = pollfd(fd: errors, events: Int16(POLLIN), revents: 0)
        while poll(&place, 1, 0) > 0 {
            let count = read(errors, &piece, piece.count)
            guard count > 0 else { break }
            text += piece[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    // MARK: Ending

    /// Sends a signal.
    public func signal(_ number: Int32) { kill(process, number) }

    /// Waits for the process to end: its exit code, or minus the signal that killed it.
    public func exitCode() -> Int32 {
        reaped.withLock { code in
            if let code { return code }
            let result = Spawn.wait(for: process)
            code = result
            return result
        }
    }

    /// Closes the input and waits for the process to end.
    public func finish() -> Int32 {
        closeInput()
        _ = try? rest()
        return exitCode()
    }

    /// A field of `/proc/<pid>/status`, in kilobytes.
    public func memory(_ field: String = "VmRSS") -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix(field + ":") }
        return line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }
    }
}
