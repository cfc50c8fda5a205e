internal import Platform

/// The form of an object: what is known of an image, and its bytes.
///
/// Eight bytes `HALCYON` and the version, the SHA-256 of all that follows, the size of the record in four bytes with the least
/// significant first, the record, the image. An object of another version has another name too.
package struct RemoteObject: Sendable, Equatable {
    package static let version: UInt8 = 1
    /// The largest record, in bytes.
    static let recordLimit = 64 << 10
    /// The most bytes that an object has beside its image.
    package static let overhead = 44 + recordLimit

    private static let magic = Array("HALCYON".utf8) + [version]

    package let record: [UInt8]
    package let image: [UInt8]

    package init(record: [UInt8], image: [UInt8]) { (self.record, self.image) = (record, image) }

    /// The object as bytes; `nil` when the record is too large.
    package var bytes: [UInt8]? {
        guard record.count <= Self.recordLimit else { return nil }
        var bytes = Self.magic
        bytes.reserveCapacity(Self.overhead + image.count)
        bytes += [UInt8](repeating: 0, count: 32)
        withUnsafeBytes(of: UInt32(record.count).littleEndian) { bytes += $0 }
        bytes += record
        bytes += image
        let digest = bytes.withUnsafeBytes { Digest(of: UnsafeRawBufferPointer(rebasing: $0[40...])) }
        digest.withBytes { bytes.replaceSubrange(8..<40, with: $0) }
        return bytes
    }

    /// Reads ``bytes``; `nil` when they are not whole and unchanged, or of another version.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count >= 44, bytes.starts(with: Self.magic) else { return nil }
        let digest = bytes.withUnsafeBytes { Digest(of: UnsafeRawBufferPointer(rebasing: $0[40...])) }
        guard digest.bytes.elementsEqual(bytes[8..<40]) else { return nil }
        let count = bytes[40..<44].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard count <= Self.recordLimit, count <= bytes.count - 44 else { return nil }
        record = Array(bytes[44..<44 + count])
        image = Array(bytes[(44 + count)...])
    }

    /// The name of the object of an entry, from all that identifies the entry. It tells nothing of that.
    package static func name(of parts: [String]) -> String {
        let parts = ["halcyon", "\(version)"] + parts
        var bytes: [UInt8] = []
        for part in parts {
            withUnsafeBytes(of: part.utf8.count.littleEndian) { bytes += $0 }
            bytes += part.utf8
        }
        return bytes.withUnsafeBytes { Digest(of: $0) }.hex
    }
}
