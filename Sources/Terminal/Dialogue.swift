internal import Glibc
public import JSONRPC

/// A conversation with a server over a pair of descriptors, for a program that has nothing else to do: it asks, and
/// waits for what comes.
///
/// Not for several threads.
public final class Dialogue {
    /// A request to the server.
    public struct Request: Sendable {
        fileprivate let method: String
        fileprivate let wantsProgress: Bool
        /// The parameters as the members of a JSON object, without its braces.
        fileprivate var members: [UInt8] = []
        /// The parameters as JSON; nil when they are ``members``.
        fileprivate var params: [UInt8]?

        /// A request with the parameters that `write` writes as members of an object.
        public init(
            _ method: String, wantsProgress: Bool = false, _ write: (inout JSONWriter) throws -> Void = { _ in }
        )
            rethrows
        {
            self.method = method
            self.wantsProgress = wantsProgress
            var writer = JSONWriter()
            try write(&writer)
            members = writer.bytes
        }

        /// A request with parameters that are JSON already: an object or a list.
        public init(_ method: String, params: [UInt8]) {
            self.method = method
            wantsProgress = false
            self.params = params
        }
    }

    /// What the server answers.
    public struct Reply: Sendable {
        /// Whether it is an error.
        public let isError: Bool
        /// The result or the error as JSON.
        public let text: [UInt8]
        /// The text of the image's path, the error's message and hint, read from it; nil where there is none.
        public let path: String?
        /// What went wrong, as a sentence.
        public let message: String?
        /// What can be done about it.
        public let hint: String?

        init(_ view: borrowing JSONView, isError: Bool) {
            self.isError = isError
            var writer = JSONWriter()
            writer.write(view)
            text = writer.bytes
            path = view.member("path")?.string
            message = view.member("message")?.string
            hint = view.member("data")?.member("hint")?.string
        }
    }

    /// What comes from the server.
    public enum Message: Sendable {
        /// A request, by its number, is so far.
        case progress(Int, Progress)
        /// A request is answered.
        case reply(Int, Reply)
        /// A notification that belongs to no request of ours, as JSON.
        case other([UInt8])
        /// Nothing came within the time.
        case silence
    }

    /// How far a request is.
    public struct Progress: Sendable, Equatable {
        /// Bytes that have come, or images that are done.
        public var done: Int
        /// How many there will be; nil if nobody knows.
        public var total: Int?

        /// Progress of `done` out of `total`.
        public init(done: Int, total: Int?) {
            self.done = done
            self.total = total
        }
    }

    private let input: Int32
    private let output: Int32
    private var reader = MessageReader(framing: .lines, limit: .max / 2)
    private var lastID = 0

    /// A conversation that reads from `input` and writes to `output`; the descriptors stay the caller's.
    public init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Sends a request.
    ///
    /// - Returns: Its number, which its messages bear.
    public func send(_ request: Request) -> Int {
        lastID += 1
        var writer = JSONWriter()
        writer.object { message in
            message.field("jsonrpc", "2.0")
            message.field("id", lastID)
            message.field("method", request.method)
            message.key("params")
            if let params = request.params { return message.writeRaw(params) }
            message.object { params in
                params.writeRawMembers(request.members)
                if request.wantsProgress { params.field("workDoneToken", lastID) }
            }
        }
        // A line is a message: between the values of JSON that people write there may be more of them.
        write(writer.bytes.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 } + [UInt8(ascii: "\n")])
        return lastID
    }

    /// Waits for the next message; nil when the server is gone.
    ///
    /// - Parameter milliseconds: How long to wait; for ever when nil.
    public func next(within milliseconds: Int? = nil) -> Message? {
        while true {
            while let event = reader.next() {
                guard case .message(let range) = event else { return nil }
                if let message = reader.bytes(in: range, { Self.message($0) }) { return message }
            }
            var place = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
            if let milliseconds, poll(&place, 1, Int32(clamping: milliseconds)) == 0 { return .silence }
            let count = reader.fill { space -> Int in
                while true {
                    let count = read(input, space.baseAddress, space.count)
                    if count < 0, errno == EINTR { continue }
                    return count
                }
            }
            if count <= 0 { return nil }
        }
    }

    /// Asks, and waits for the answer; nil when the server is gone.
    public func ask(_ request: Request) -> Reply? {
        let number = send(request)
        while let message = next() {
            if case .reply(number, let reply) = message { return reply }
        }
        return nil
    }

    private static func message(_ text: UnsafeRawBufferPointer) -> Message? {
        guard let document = try? JSONDocument(parsing: text) else { return nil }
        let root = document.root
        if let method = root.member("method")?.string {
            if method == "$/progress", let params = root.member("params"), let id = params.member("token")?.integer,
                let value = params.member("value")
            {
                let done = value.member("receivedBytes")?.integer ?? value.member("completed")?.integer ?? 0
                let total = value.member("totalBytes")?.integer ?? value.member("total")?.integer
                return .progress(id, Progress(done: done, total: total))
            }
            return .other([UInt8](text))
        }
        let id = root.member("id")?.integer ?? 0
        if let error = root.member("error") { return .reply(id, Reply(error, isError: true)) }
        if let result = root.member("result") { return .reply(id, Reply(result, isError: false)) }
        return nil
    }

    private func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes
            while !rest.isEmpty {
                let count = Glibc.write(output, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                // A server that is gone is noticed by reading.
                if count <= 0 { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
