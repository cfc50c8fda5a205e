internal import Glibc
public import JSONRPC

/// A connection to a server over a pair of descriptors, for a program that sends requests and blocks until the answers
/// arrive.
///
/// Not thread-safe.
public final class Dialogue {
    /// A request to the server.
    public struct Request: Sendable {
        fileprivate let method: String
        fileprivate let wantsProgress: Bool
        /// The parameters as the members of a JSON object, without its braces.
        fileprivate var members: [UInt8] = []
        /// The parameters as JSON; `nil` when they are ``members``.
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

        /// A request with parameters that are already JSON: an object or a list.
        public init(_ method: String, params: [UInt8]) {
            self.method = method
            wantsProgress = false
            self.params = params
        }
    }

    /// An answer of the server.
    public struct Reply: Sendable {
        /// `true` when the answer is an error.
        public let isError: Bool
        /// The result or the error as JSON.
        public let text: [UInt8]
        /// The path of the image in the result; `nil` when there is none.
        public let path: String?
        /// The format of the image in the result; `nil` when there is none.
        public let format: String?
        /// The size of that image as it is displayed, in pixels; `nil` when it is not known.
        public let size: (width: Int, height: Int)?
        /// The reason why no tier keeps the image; `nil` when one keeps it, or when nothing was to be stored.
        public let notStored: String?
        /// The number of frames of an animation that the image does not have any more.
        public let framesDropped: Int
        /// The error's code; `nil` when there is none.
        public let code: Int?
        /// The error's message; `nil` when there is none.
        public let message: String?
        /// The error's hint, a suggestion for the user; `nil` when there is none.
        public let hint: String?

        init(_ view: borrowing JSONView, isError: Bool) {
            self.isError = isError
            var writer = JSONWriter()
            writer.write(view)
            text = writer.bytes
            path = view.member("path")?.string
            format = view.member("format")?.string
            let width = view.member("displayWidth")?.integer ?? view.member("width")?.integer
            let height = view.member("displayHeight")?.integer ?? view.member("height")?.integer
            if let width, let height { size = (width, height) } else { size = nil }
            framesDropped = view.member("framesDropped")?.integer ?? 0
            notStored = view.member("stored")?.string
            code = isError ? view.member("code")?.integer : nil
            message = view.member("message")?.string
            hint = view.member("data")?.member("hint")?.string
        }
    }

    /// A message from the server.
    public enum Message: Sendable {
        /// The progress of a request, by its number.
        case progress(Int, Progress)
        /// The answer to a request, by its number.
        case reply(Int, Reply)
        /// A notification that belongs to no request of this connection, as JSON.
        case other([UInt8])
        /// No message arrived within the time.
        case silence
    }

    /// The progress of a request.
    public struct Progress: Sendable, Equatable {
        /// The number of bytes received, or of images done.
        public var done: Int
        /// The expected number; `nil` when it is unknown.
        public var total: Int?
        /// The number of images that have failed, which are among those done.
        public var failed: Int

        /// Progress of `done` out of `total`.
        public init(done: Int, total: Int?, failed: Int = 0) {
            (self.done, self.total, self.failed) = (done, total, failed)
        }
    }

    private let input: Int32
    private let output: Int32
    private var reader = MessageReader(framing: .lines, limit: .max / 2)
    private var lastID = 0
    /// The numbers of the requests whose progress was asked for: the tokens of others are their own.
    private var tokens: Set<Int> = []

    /// A connection that reads from `input` and writes to `output`; the caller keeps ownership of the descriptors.
    public init(input: Int32, output: Int32) {
        self.input = input
        self.output = output
    }

    /// Sends a request.
    ///
    /// - Returns: The number of the request, which its messages carry.
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
                params.writeRawMembers(request.members[...])
                if request.wantsProgress {
                    params.field("workDoneToken", lastID)
                    tokens.insert(lastID)
                }
            }
        }
        // One line is one message, but JSON written by people may contain newlines between its values.
        write(writer.bytes.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 } + [UInt8(ascii: "\n")])
        return lastID
    }

    /// Waits for the next message; `nil` when the server is gone.
    ///
    /// - Parameter milliseconds: The time to wait; unlimited when `nil`.
    public func next(within milliseconds: Int? = nil) -> Message? {
        while true {
            while let event = reader.next() {
                guard case .message(let range) = event else { return nil }
                if let message = reader.bytes(in: range, { message($0) }) { return message }
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

    /// Sends a request and waits for the answer; `nil` when the server is gone.
    public func ask(_ request: Request) -> Reply? {
        let number = send(request)
        while let message = next() {
            if case .reply(number, let reply) = message { return reply }
        }
        return nil
    }

    private func message(_ text: UnsafeRawBufferPointer) -> Message? {
        guard let document = try? JSONDocument(parsing: text) else { return nil }
        let root = document.root
        if let method = root.member("method")?.string {
            if method == "$/progress", let params = root.member("params"), let id = params.member("token")?.integer,
                let value = params.member("value"), tokens.contains(id)
            {
                func count(_ name: StaticString) -> Int { value.member(name)?.integer ?? 0 }
                let images = count("completed") + count("skipped") + count("failed")
                let done = value.member("receivedBytes")?.integer ?? images
                let total = value.member("totalBytes")?.integer ?? value.member("total")?.integer
                return .progress(id, Progress(done: done, total: total, failed: count("failed")))
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
                // A server that is gone is detected by reading.
                if count <= 0 { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
