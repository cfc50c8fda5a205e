internal import ImageFormats
internal import Platform

/// An entry as bytes: what does not change with its use. The index and the ``EntryLog`` each keep it with its ``mark``, by
/// which a damaged one is told from a sound one.
///
/// Fields in a fixed order: a number is eight bytes, the least significant first; text and bytes have their count before
/// them, in four bytes; nothing is a count of 2³²−1.
struct EntryRecord: Sendable {
    var row: IndexRow
    /// The metadata that the caller of `store` gave.
    var metadata: String?

    /// A number made of all fields: 63 bits of their digest.
    var mark: Int64 { Self.mark(of: bytes) }

    static func mark(of bytes: [UInt8]) -> Int64 { bytes.withUnsafeBytes { Digest(of: $0).rowNumber } }

    /// The number of the entry that a record's bytes speak of.
    static func number(in bytes: [UInt8]) -> Int64? {
        var fields = Fields(bytes: bytes)
        return fields.takeDigest()?.rowNumber
    }

    var bytes: [UInt8] {
        let (header, origin, facts) = (row.header, row.origin, row.origin.facts)
        var fields = Fields()
        fields.put(row.name)
        fields.put(row.key)
        fields.put(row.identifier)
        fields.put(row.fileExtension)
        fields.put(header.format.rawValue)
        fields.put(header.width)
        fields.put(header.height)
        fields.put(header.frameCount)
        fields.put(row.byteCount)
        fields.put(row.allocated)
        fields.put(row.checksum)
        fields.put(origin.url)
        fields.put(origin.etag)
        fields.put(origin.lastModified)
        fields.put(origin.http)
        fields.put(row.storedAt)
        fields.put(row.modified)
        fields.put(row.life.number ?? -1)
        fields.put(facts.preview)
        fields.put(facts.timing?.text)
        fields.put(facts.sourceMark)
        fields.put(facts.exactness)
        fields.put(facts.verdict?.rawValue)
        fields.put(metadata)
        // An entry of an older version does not know them, and keeps its mark.
        if header.orientation != nil || header.hasAlpha != nil {
            fields.put(header.orientation ?? -1)
            fields.put(header.hasAlpha.map { $0 ? 1 : 0 } ?? -1)
        }
        return fields.bytes
    }

    init(row: IndexRow, metadata: String?) { (self.row, self.metadata) = (row, metadata) }

    /// Reads ``bytes``; `nil` if they say what no version of ours would write. The life of the entry is not among them. What a
    /// newer version added at their end is left out.
    init?(bytes: [UInt8]) {
        var fields = Fields(bytes: bytes)
        guard let name = fields.takeDigest(), let key = fields.take(), let identifier = fields.take(),
            let fileExtension = fields.take(), let format = fields.take().flatMap(ImageFormat.init(rawValue:))
        else { return nil }
        let (width, height, frames) = (fields.takeNumber(), fields.takeNumber(), fields.takeNumber())
        let (byteCount, allocated, checksum) = (fields.takeNumber(), fields.takeNumber(), fields.takeDigest())
        var origin = ImageOrigin(url: fields.take(), etag: fields.take(), lastModified: fields.take())
        origin.http = fields.take()
        let (storedAt, modified, life) = (fields.takeNumber(), fields.takeNumber(), fields.takeNumber())
        origin.facts = ImageFacts(
            preview: fields.take(), timing: fields.take(), sourceMark: fields.take(), exactness: fields.take(),
            verdict: fields.take())
        metadata = fields.take()
        let (orientation, alpha) = fields.isAtEnd ? (-1, -1) : (fields.takeNumber(), fields.takeNumber())
        guard fields.isWhole,
            let header = try? ImageHeader(
                format, width, height, frames: frames, orientation: orientation,
                hasAlpha: alpha == -1 ? nil : alpha == 1)
        else { return nil }
        row = IndexRow(
            name: name, key: key, identifier: identifier, fileExtension: fileExtension, header: header,
            byteCount: byteCount, allocated: allocated, checksum: checksum, origin: origin,
            storedAt: storedAt, life: EntryLife(number: life == -1 ? nil : life), modified: modified, content: 0)
        row.content = row.checksum?.rowNumber ?? row.number
        if !row.isPlausible { return nil }
    }
}

/// The fields of a record, one after the other.
private struct Fields {
    fileprivate(set) var bytes: [UInt8] = []
    private var place = 0
    private var isBroken = false

    init() { bytes.reserveCapacity(512) }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// `true` when nothing was missing of what has been taken.
    var isWhole: Bool { !isBroken }

    /// `true` when that was all.
    var isAtEnd: Bool { isWhole && place == bytes.count }

    mutating func put(_ number: Int) { append(UInt64(bitPattern: Int64(number))) }

    mutating func put(_ text: String?) {
        putCount(text?.utf8.count)
        if let text { bytes.append(contentsOf: text.utf8) }
    }

    mutating func put(_ digest: Digest?) {
        putCount(digest?.count)
        digest?.withBytes { bytes.append(contentsOf: $0) }
    }

    private mutating func putCount(_ count: Int?) { append(count.map(UInt32.init(clamping:)) ?? .max) }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func takeNumber() -> Int { Int(truncatingIfNeeded: takeInteger(8)) }

    mutating func takeDigest() -> Digest? { takeSlice().flatMap(Digest.init(bytes:)) }

    mutating func take() -> String? { takeSlice().map { String(decoding: $0, as: UTF8.self) } }

    private mutating func takeSlice() -> ArraySlice<UInt8>? {
        let count = takeInteger(4)
        if count == UInt64(UInt32.max) { return nil }
        guard count <= bytes.count - place else {
            isBroken = true
            return nil
        }
        defer { place += Int(count) }
        return bytes[place..<place + Int(count)]
    }

    private mutating func takeInteger(_ size: Int) -> UInt64 {
        guard size <= bytes.count - place else {
            isBroken = true
            return size == 4 ? UInt64(UInt32.max) : 0
        }
        defer { place += size }
        return bytes[place..<place + size].littleEndianNumber
    }
}

extension ArraySlice<UInt8> {
    /// The number that up to eight bytes stand for, the least significant first.
    var littleEndianNumber: UInt64 { reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
