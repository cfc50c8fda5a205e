internal import Platform

/// A set of digests of which the bytes must match one, as in Subresource Integrity (W3C), so that an image that was
/// exchanged at its source is rejected.
public struct Integrity: Hashable, Sendable {
    fileprivate let kind: RunningDigest.Kind
    fileprivate let digests: Set<[UInt8]>

    /// Parses `sha256-…`, `sha384-…` and `sha512-…`, each with a digest in base64, separated by spaces. Only the
    /// digests of the strongest kind apply.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        var found: [RunningDigest.Kind: Set<[UInt8]>] = [:]
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\t" }) {
            // The text after a question mark is reserved for later versions of the standard.
            let parts = word.prefix { $0 != "?" }.split(separator: "-", maxSplits: 1)
            guard parts.count == 2, let kind = RunningDigest.Kind(rawValue: String(parts[0])),
                let digest = Array(parts[1].utf8).withUnsafeBytes({ Base64.decode($0) }), digest.count == kind.count
            else { return nil }
            found[kind, default: []].insert(digest)
        }
        guard let strongest = found.max(by: { $0.key.count < $1.key.count }) else { return nil }
        (kind, digests) = strongest
    }

    /// `true` when bytes with this SHA-256 match one of the digests; `nil` when another kind of digest is needed.
    func allows(_ digest: Digest) -> Bool? {
        kind == .sha256 && digest.count == kind.count ? digests.contains(digest.bytes) : nil
    }

    func allows(_ bytes: [UInt8]) -> Bool {
        let digest = RunningDigest(kind)
        bytes.withUnsafeBytes { digest.update($0) }
        return digests.contains(digest.finishedBytes())
    }

    /// `true` when an open file, of which nothing was read, matches one of the digests.
    ///
    /// - Throws: ``SystemError`` when it cannot be read.
    func allows(_ file: borrowing Descriptor) throws -> Bool {
        let digest = RunningDigest(kind)
        try file.forEachPiece(digest.update)
        return digests.contains(digest.finishedBytes())
    }

    private func allows(file path: String) throws -> Bool {
        try allows(Descriptor(reading: path, followsLinks: true))
    }

    /// `true` when the content matches one of the digests.
    ///
    /// - Throws: ``SystemError`` when it cannot be read.
    func allows(_ content: DiskStorage.Content) throws -> Bool {
        switch content {
        case .bytes(let bytes): return allows(bytes)
        case .file(let path, _): return try allows(file: path)
        case .body(let body):
            switch body.place {
            case .memory(let bytes): return allows(bytes)
            case .file(let path):
                let known = body.checksum(of: FileStamp(path: path)).flatMap { allows($0) }
                return try known ?? allows(file: path)
            case .unnamed(let path): return try allows(file: path)
            }
        }
    }

    static func mismatch(_ source: String, _ sample: ContentSample? = nil) -> ImageError {
        .badData(reason: "Its bytes are not those that integrity names.", source: source, sample: sample)
    }
}

extension Integrity {
    /// `true` when a cached image matches one of the digests; `nil` when its file must be read to know.
    func allowsAtOnce(_ hit: ImageCache.Hit) -> Bool? {
        if let checksum = hit.record.checksum, let verdict = allows(checksum) { return verdict }
        return hit.bytes.map { allows($0) }
    }

    /// `true` when a cached image matches one of the digests; `false` when its file cannot be read. May read it.
    func allows(_ hit: ImageCache.Hit) -> Bool {
        allowsAtOnce(hit) ?? hit.record.path.map { (try? allows(file: $0)) ?? false } ?? false
    }

    /// `true` when a made image was made from bytes that match one of the digests; `nil` when its entry does not say.
    func allowsOriginal(of record: ImageRecord) -> Bool? {
        guard kind == .sha256, let mark = VariantSource.mark(of: record) else { return nil }
        return digests.contains { Digest(bytes: $0).map(VariantSource.mark) == mark }
    }
}
