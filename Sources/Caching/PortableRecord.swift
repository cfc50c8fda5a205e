internal import HTTPSemantics
internal import ImageFormats
internal import Platform

/// Records as other machines read them: an ``EntryRecord`` without the key and the URL. Its times are
/// seconds since 1970, because each machine has a ``CacheClock`` of its own.
extension ImageRecord {
    /// The record as bytes, with the clock of its cache.
    package func portable(_ clock: CacheClock) -> [UInt8] {
        var told = origin
        told.facts = ImageFacts(
            sourceMark: origin.facts.sourceMark, exactSource: origin.facts.exactSource,
            framesDropped: origin.facts.framesDropped)
        // Who reads the object need not know where it came from, and any part of a URL may be a secret.
        told.url = nil
        if var metadata = answer?.metadata {
            metadata.receivedAt = clock.wall(metadata.receivedAt)
            if !key.partition.isEmpty { metadata.forgetCredentials() }
            told.http = metadata.text
        }
        let life: EntryLife = if case .until(let moment) = self.life { .until(clock.wall(moment)) } else { self.life }
        let row = IndexRow(
            name: Digest(of: key.computed), key: "", identifier: "", fileExtension: header.format.fileExtension,
            header: header, byteCount: byteCount, allocated: 0, checksum: nil, origin: told,
            storedAt: clock.wall(storedAt), life: life, modified: 0, content: 0)
        return EntryRecord(row: row, metadata: nil).bytes
    }

    /// The most seconds that a moment may lie ahead, because clocks are not quite alike, and then counts as now.
    private static let tolerance = 2

    /// Reads ``portable(_:)``; throws if the bytes are no record of that key, or one of a machine whose clock is ahead.
    ///
    /// - Parameter url: The URL of the request, which its bytes came from unless they say otherwise.
    package convenience init(
        portable bytes: [UInt8], of key: CacheKey, from url: String, _ clock: CacheClock
    ) throws(PortableRecordFault) {
        guard let row = EntryRecord(bytes: bytes)?.row, row.name == Digest(of: key.computed) else { throw .malformed }
        let (now, wall) = (clock.now, clock.wallNow)
        func time(_ moment: Int) -> Int { now - HTTPFreshness.span(from: moment, to: wall) }
        var origin = row.origin
        (origin.facts.preview, origin.facts.timing, origin.facts.verdict) = (nil, nil, nil)
        var answer = origin.http.flatMap { HTTPMetadata($0) }
        if origin.http != nil, answer == nil { throw .malformed }
        // Its age cannot be known, so it might be answered for too long, or in place of a newer one.
        if max(row.storedAt, answer?.receivedAt ?? .min) > wall + Self.tolerance { throw .ahead }
        if let received = answer?.receivedAt {
            answer?.receivedAt = time(received)
            origin.http = answer?.text
        }
        if origin.url == nil, answer?.route?.isRedirected != true, answer?.isAlternative != true { origin.url = url }
        let storedAt = time(row.storedAt)
        let end: Int? =
            switch row.life {
            case .forever: nil
            case .span(let seconds): storedAt + seconds
            case .until(let moment): now + HTTPFreshness.span(from: wall, to: moment)
            }
        self.init(
            key: key, header: row.header, byteCount: row.byteCount, path: nil, origin: origin, storedAt: storedAt,
            expiresAt: end, clock: clock)
    }

    /// The seconds until its life ends; `nil` for never.
    package func remainingSeconds(_ clock: CacheClock) -> Int? { expiryTime.map { $0 - clock.now } }
}

/// The reason why a record of another machine is of no use.
package enum PortableRecordFault: Error {
    /// It is not a record of the key.
    case malformed
    /// It is from the future.
    case ahead
}

extension CacheKey {
    /// What tells the entry apart on all machines.
    package var portableParts: [String] { [indexed, indexedIdentifier] }
}
