internal import Glibc

/// The separation of messages in a stream of bytes.
public enum MessageFraming: String, Sendable, CaseIterable {
    /// One message per line.
    case lines
    /// The base protocol of language servers: a `Content-Length` header, a blank line and the body.
    case contentLength = "content-length"
}

/// Cuts a stream of bytes into messages: a plain value without I/O.
///
/// The framing is detected from the first bytes unless given. ``fill(_:)`` adds bytes; ``next()`` returns messages as
/// ranges for ``bytes(in:_:)``, without a copy.
///
/// - Complexity: Every byte is examined once, however the input is split into reads.
public struct MessageReader: Sendable {
    /// The next element of the stream.
    public enum Event: Equatable, Sendable {
        /// A message; its content is not checked.
        case message(Range<Int>)
        /// A message longer than the limit, and the beginning of one that is a line. It is skipped, and the following
        /// messages are still read.
        case oversized(Range<Int>)
        /// The messages can no longer be separated; no further event follows.
        case lost(String)
    }

    /// The framing in use; `nil` until the first bytes arrive.
    public private(set) var framing: MessageFraming?
    /// The longest message accepted, in bytes.
    public let limit: Int

    private static let initialCapacity = 1 << 16
    private static let headerLimit = 1 << 13
    /// The most bytes that are looked at of a message that is too long.
    private static let beginningLimit = 1 << 12
    /// The longest name of a header field in the detection of the framing.
    private static let nameLimit = 63

    private var buffer = [UInt8](repeating: 0, count: initialCapacity)
    private var start = 0
    private var end = 0
    /// The number of bytes from `start` that contain no end of line.
    private var scanned = 0
    /// The number of bytes of an oversized body that are still to be skipped.
    private var toSkip = 0
    private var isSkippingLine = false
    private var bodyLength: Int?
    private var mayHaveBOM = true
    private var isLost = false

    /// A reader that expects `framing`, or detects it when `nil`.
    public init(framing: MessageFraming? = nil, limit: Int = 64 << 20) {
        self.framing = framing
        self.limit = limit
    }

    /// Lets `source` write new bytes into free space; it returns the number of bytes written.
    ///
    /// Ranges that ``next()`` returned before are no longer valid.
    public mutating func fill<Failure: Error>(
        _ source: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
    ) throws(Failure) -> Int {
        makeRoom()
        var written = 0
        var failure: Failure?
        buffer.withUnsafeMutableBytes { bytes in
            do throws(Failure) {
                written = try source(UnsafeMutableRawBufferPointer(rebasing: bytes[end...]))
            } catch { failure = error }
        }
        if let failure { throw failure }
        end += max(written, 0)
        return written
    }

    /// Appends bytes that the caller has in memory.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let taken = fill { space in
                let part = rest.prefix(space.count)
                space.copyBytes(from: part)
                return part.count
            }
            rest = rest.dropFirst(taken)
        }
    }

    /// Calls `body` with the bytes of a message.
    public func bytes<Result>(in range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// The next event; `nil` when more bytes are needed.
    public mutating func next() -> Event? {
        guard !isLost else { return nil }
        if framing == nil { detect(atEnd: false) }
        switch framing {
        case .lines: return nextLine(atEnd: false)
        case .contentLength: return nextBody()
        case nil: return nil
        }
    }

    /// The last event, once the stream has ended and ``next()`` returns `nil`: a last line without its newline, or a body
    /// that was cut off.
    public mutating func finish() -> Event? {
        guard !isLost else { return nil }
        if framing == nil { detect(atEnd: true) }
        if framing == .lines { return nextLine(atEnd: true) }
        guard start < end || bodyLength != nil, toSkip == 0 else { return nil }
        start = end
        bodyLength = nil
        return fail("The input ended in the middle of a message.")
    }

    // MARK: Lines

    private mutating func nextLine(atEnd: Bool) -> Event? {
        while true {
            guard let newline = firstNewline() else {
                if isSkippingLine {
                    start = end
                    scanned = 0
                    if atEnd { isSkippingLine = false }
                    return nil
                }
                if end - start > limit {
                    isSkippingLine = true
                    let known = (start..<end).prefix(Self.beginningLimit)
                    start = end
                    scanned = 0
                    return .oversized(known)
                }
                guard atEnd, start < end else { return nil }
                let range = start..<end
                start = end
                scanned = 0
                return isBlank(range) ? nil : .message(range)
            }
            let range = start..<newline
            start = newline + 1
            scanned = 0
            if isSkippingLine {
                isSkippingLine = false
                continue
            }
            if range.count > limit { return .oversized(range.prefix(Self.beginningLimit)) }
            if !isBlank(range) { return .message(range) }
        }
    }

    private mutating func firstNewline() -> Int? {
        let from = start + scanned
        let found: Int? = buffer.withUnsafeBytes { bytes in
            guard from < end, let base = bytes.baseAddress,
                let newline = memchr(base + from, Int32(UInt8(ascii: "\n")), end - from)
            else { return nil }
            return UnsafeRawPointer(newline) - base
        }
        if found == nil { scanned = end - start }
        return found
    }

    private func isBlank(_ range: Range<Int>) -> Bool {
        buffer[range].allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    }

    // MARK: Bodies

    private mutating func nextBody() -> Event? {
        if toSkip > 0 {
            let skipped = min(toSkip, end - start)
            start += skipped
            toSkip -= skipped
            if toSkip > 0 { return nil }
        }
        if bodyLength == nil {
            switch nextHeader() {
            case .none: return nil
            case .failure(let reason): return fail(reason)
            case .length(let length):
                guard length <= limit else {
                    toSkip = length
                    // How much of it has come depends on chance.
                    return .oversized(start..<start)
                }
                bodyLength = length
            }
        }
        guard let length = bodyLength, end - start >= length else { return nil }
        let range = start..<(start + length)
        start += length
        bodyLength = nil
        return .message(range)
    }

    private enum Header {
        case none
        case length(Int)
        case failure(String)
    }

    /// Reads header lines up to the blank one; nothing is consumed until that has arrived.
    private mutating func nextHeader() -> Header {
        while start < end, [0x0D, 0x0A].contains(buffer[start]) { start += 1 }
        var line = start
        var length: Int?
        while let newline = buffer[line..<end].firstIndex(of: UInt8(ascii: "\n")) {
            var text = buffer[line..<newline]
            if text.last == 0x0D { text.removeLast() }
            line = newline + 1
            // The limit counts the bytes read, not the bytes received, so that the result does not depend on how the
            // input is split into reads.
            guard line - start <= Self.headerLimit else { break }
            if text.isEmpty {
                start = line
                guard let length else { return .failure("The header has no Content-Length.") }
                return .length(length)
            }
            guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else {
                return .failure("A header line has no colon: \"\(Self.excerpt(text))\".")
            }
            guard Self.isContentLength(text[..<colon]) else { continue }
            let value = Self.trimmed(text[(colon + 1)...])
            let digits = !value.isEmpty && value.count <= 18 && value.allSatisfy { (0x30...0x39).contains($0) }
            guard digits, let parsed = Int(String(decoding: value, as: UTF8.self)), length ?? parsed == parsed else {
                return .failure("The Content-Length \"\(Self.excerpt(value))\" cannot be trusted.")
            }
            length = parsed
        }
        return end - start > Self.headerLimit
            ? .failure("The header is longer than \(Self.headerLimit) bytes.") : .none
    }

    private static func isContentLength(_ name: ArraySlice<UInt8>) -> Bool {
        String(decoding: name, as: UTF8.self).lowercased() == "content-length"
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var text = text
        while text.first == 0x20 || text.first == 0x09 { text.removeFirst() }
        while text.last == 0x20 || text.last == 0x09 { text.removeLast() }
        return text
    }

    private static func excerpt(_ text: ArraySlice<UInt8>) -> String {
        String(decoding: text.prefix(40), as: UTF8.self)
    }

    private mutating func fail(_ reason: String) -> Event {
        isLost = true
        return .lost(reason)
    }

    // MARK: Detection

    /// Detects the framing from the first bytes that are not blank: a header line begins with a name and a colon,
    /// anything else is lines.
    private mutating func detect(atEnd: Bool) {
        if mayHaveBOM {
            let bom: [UInt8] = [0xEF, 0xBB, 0xBF]
            let seen = min(3, end - start)
            if buffer[start..<(start + seen)].elementsEqual(bom.prefix(seen)), seen < 3, !atEnd { return }
            if seen == 3, buffer[start..<(start + 3)].elementsEqual(bom) { start += 3 }
            if seen > 0 { mayHaveBOM = false }
        }
        while start < end, [0x20, 0x09, 0x0A, 0x0D].contains(buffer[start]) { start += 1 }
        guard start < end else { return }
        var place = start
        while place < end, Self.isTokenByte(buffer[place]) { place += 1 }
        let length = place - start
        if place == end, (1...Self.nameLimit).contains(length), !atEnd { return }
        let isHeader = (1...Self.nameLimit).contains(length) && place < end && buffer[place] == UInt8(ascii: ":")
        framing = isHeader ? .contentLength : .lines
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
        default: false
        }
    }

    // MARK: Space

    private mutating func makeRoom() {
        if start == end {
            start = 0
            end = 0
            if buffer.count > 1 << 20 { buffer = [UInt8](repeating: 0, count: Self.initialCapacity) }
        }
        let wanted = bodyLength.map { min($0 - (end - start), limit) } ?? 1
        if buffer.count - end >= max(wanted, buffer.count / 4) { return }
        // A message above the limit is skipped, so no more space than the limit is needed.
        let enough = max(end - start + wanted, limit + Self.initialCapacity)
        let needed = min(end - start + max(wanted, buffer.count / 4), enough)
        if buffer.count < needed {
            var larger = [UInt8](repeating: 0, count: max(needed, min(2 * buffer.count, enough)))
            larger.withUnsafeMutableBytes { larger in
                buffer.withUnsafeBytes { larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }
            }
            buffer = larger
        } else if start > 0 {
            buffer.withUnsafeMutableBytes { bytes in
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
        }
        end -= start
        start = 0
    }
}
