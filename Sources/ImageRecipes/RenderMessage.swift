/// A message between the server and a codec worker.
///
/// A worker sends ``hello(_:)`` when it starts; then it answers each ``request(_:)`` with one ``reply(_:)``, one after
/// another, and ends when its end of the socket is closed. It opens no files: with a request come the descriptors of its
/// source and of its outputs' files, in their order (SCM_RIGHTS). A message is a frame: the length of the rest as four bytes,
/// little-endian, one byte for the kind, and the fields in the order of their declaration.
public enum RenderMessage: Hashable, Sendable {
    /// The worker's first message.
    case hello(CodecFacts)
    /// A request to render files from one source.
    case request(RenderRequest)
    /// The result of a request.
    case reply(RenderReply)

    /// The version of the messages. A server and a worker of different versions do not work together.
    public static let version = 6

    /// The longest frame, in bytes without the four bytes of the length: several outputs, each with pictures of
    /// ``Watermark``.
    public static let maxLength = 16 << 20

    /// The bytes of the frame, including its length.
    public var frame: [UInt8] {
        var writer = FrameWriter()
        switch self {
        case .hello(let facts):
            writer.byte(1)
            writer.facts(facts)
        case .request(let request):
            writer.byte(2)
            writer.request(request)
        case .reply(let reply):
            writer.byte(3)
            writer.reply(reply)
        }
        return withUnsafeBytes(of: UInt32(writer.bytes.count).littleEndian) { Array($0) } + writer.bytes
    }

    /// The length of the frame that begins with the bytes, including the length field.
    ///
    /// - Returns: `nil` while there are fewer than four bytes.
    /// - Throws: ``FrameError`` for a length that no frame has.
    public static func frameLength(_ bytes: some Collection<UInt8>) throws(FrameError) -> Int? {
        guard bytes.count >= 4 else { return nil }
        var length = 0
        for (place, byte) in bytes.prefix(4).enumerated() { length |= Int(byte) << (8 * place) }
        guard (1...maxLength).contains(length) else { throw FrameError("its length is \(length)") }
        return 4 + length
    }

    /// The message of a complete frame.
    ///
    /// - Throws: ``FrameError`` if the bytes are anything else, also if some are left over.
    public init(frame: [UInt8]) throws(FrameError) {
        guard try RenderMessage.frameLength(frame) == frame.count else { throw FrameError("it is cut off") }
        var reader = FrameReader(frame[4...])
        switch try reader.byte() {
        case 1: self = .hello(try reader.facts())
        case 2: self = .request(try reader.request())
        case 3: self = .reply(try reader.reply())
        case let kind: throw FrameError("its kind is \(kind)")
        }
        guard reader.isAtEnd else { throw FrameError("it goes on after its end") }
    }
}

/// Assembles frames from the pieces that a socket delivers.
public struct RenderMessageReader: Sendable {
    private var bytes: [UInt8] = []

    /// A reader without input.
    public init() {}

    /// Appends bytes that were read.
    public mutating func append(_ piece: some Sequence<UInt8>) { bytes.append(contentsOf: piece) }

    /// The next message; `nil` until it is complete.
    ///
    /// - Throws: ``FrameError`` when the bytes are not messages; no further message can be read then.
    public mutating func next() throws(FrameError) -> RenderMessage? {
        guard let length = try RenderMessage.frameLength(bytes), bytes.count >= length else { return nil }
        defer { bytes.removeFirst(length) }
        return try RenderMessage(frame: Array(bytes.prefix(length)))
    }
}
