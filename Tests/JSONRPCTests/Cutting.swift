import JSONRPC

/// What came out of a reader, with the bytes of messages copied out.
enum Cut: Equatable, CustomStringConvertible {
    case message(String)
    case oversized
    case lost(String)

    var description: String {
        switch self {
        case .message(let text): "message(\(text.prefix(80)))"
        case .oversized: "oversized"
        case .lost(let reason): "lost(\(reason))"
        }
    }
}

extension MessageReader {
    /// Every event that is ready.
    mutating func drain() -> [Cut] {
        var cuts: [Cut] = []
        while let event = next() { cuts.append(cut(event)) }
        return cuts
    }

    /// An event with its bytes.
    func cut(_ event: Event) -> Cut {
        switch event {
        case .message(let range): .message(bytes(in: range) { String(decoding: $0, as: UTF8.self) })
        case .oversized: .oversized
        case .lost(let reason): .lost(reason)
        }
    }
}

/// What a reader makes of a stream that arrives in these pieces and then ends.
func cuts(of pieces: [ArraySlice<UInt8>], framing: MessageFraming? = nil, limit: Int = 1000) -> [Cut] {
    var reader = MessageReader(framing: framing, limit: limit)
    var cuts: [Cut] = []
    for piece in pieces {
        reader.append(piece)
        cuts += reader.drain()
    }
    if let last = reader.finish() { cuts.append(reader.cut(last)) }
    return cuts
}

/// What a reader makes of a stream that arrives at once and then ends.
func cuts(of text: String, framing: MessageFraming? = nil, limit: Int = 1000) -> [Cut] {
    cuts(of: [Array(text.utf8)[...]], framing: framing, limit: limit)
}

/// A frame with a `Content-Length` header.
func framed(_ body: String) -> String { "Content-Length: \(body.utf8.count)\r\n\r\n\(body)" }
