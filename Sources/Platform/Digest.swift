internal import CCrypto
internal import Synchronization

/// A digest by libcrypto: SHA-256, MD5, or what ``Integrity`` asks for.
public struct Digest: Hashable, Sendable {
    /// The bytes: 32 of SHA-256, 16 of MD5.
    public let bytes: [UInt8]

    /// The digest of `data`.
    ///
    /// - Complexity: O(*n*): 0.7 ns a byte with the processor's SHA extensions.
    public init(of data: UnsafeRawBufferPointer) {
        bytes = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            let context = Self.takeContext()
            defer { Self.giveBack(context) }
            EVP_DigestInit_ex(context, Self.algorithm, nil)
            EVP_DigestUpdate(context, data.baseAddress, data.count)
            EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            count = Int(SHA256_DIGEST_LENGTH)
        }
    }

    /// What libcrypto keeps of a digest under way, as numbers: used again, for most keys are shorter than what it costs to
    /// make and unmake one.
    private static let contexts = Mutex<[UInt]>([])

    private static func takeContext() -> OpaquePointer? {
        contexts.withLock { $0.popLast() }.flatMap { OpaquePointer(bitPattern: $0) } ?? EVP_MD_CTX_new()
    }

    private static func giveBack(_ context: OpaquePointer?) {
        // As many as there are threads that make digests at once.
        contexts.withLock { $0.append(UInt(bitPattern: context)) }
    }

    /// SHA-256, looked up once and kept as a number: left to itself libcrypto looks it up for every digest, which costs
    /// more than that of a key. EVP_sha256 stands in should it be missing from the providers.
    private static var algorithm: OpaquePointer? { OpaquePointer(bitPattern: fetchedAlgorithm) ?? EVP_sha256() }

    private static let fetchedAlgorithm = UInt(bitPattern: EVP_MD_fetch(nil, "SHA256", nil))

    /// The digest of the UTF-8 of `text`.
    public init(of text: String) {
        var text = text
        self = text.withUTF8 { Digest(of: UnsafeRawBufferPointer($0)) }
    }

    /// The MD5 digest of the UTF-8 of `text`: a name for files, as the caches of others have it, and no proof of anything.
    package init(md5Of text: String) {
        var text = text
        bytes = text.withUTF8 { text in
            [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
                EVP_Digest(text.baseAddress, text.count, buffer.baseAddress, nil, EVP_md5(), nil)
                count = 16
            }
        }
    }

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// The digest written as 64 or 32 hexadecimal digits; nil for any other text.
    package init?(hex: Substring) {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
        guard digits.count == 64 || digits.count == 32, hex.utf8.count == digits.count else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// 64 lower-case hexadecimal digits, or 32.
    public var hex: String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = Self.digit(byte >> 4)
                text[2 * index + 1] = Self.digit(byte & 15)
            }
            return 2 * bytes.count
        }
    }

    /// The first 63 bits, as a positive number: the row number of an entry in the index.
    package var rowNumber: Int64 {
        Int64(bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}

/// A digest that is fed piece by piece.
package final class RunningDigest {
    /// What it is calculated by.
    package enum Kind: String, Sendable {
        case sha256, sha384, sha512

        /// Bytes of the digest.
        package var count: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    private let context = EVP_MD_CTX_new()
    private let kind: Kind

    package init(_ kind: Kind = .sha256) {
        self.kind = kind
        let algorithm =
            switch kind {
            case .sha256: EVP_sha256()
            case .sha384: EVP_sha384()
            case .sha512: EVP_sha512()
            }
        EVP_DigestInit_ex(context, algorithm, nil)
    }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ data: UnsafeRawBufferPointer) {
        EVP_DigestUpdate(context, data.baseAddress, data.count)
    }

    package func finish() -> Digest {
        var bytes = [UInt8](repeating: 0, count: kind.count)
        EVP_DigestFinal_ex(context, &bytes, nil)
        return Digest(bytes: bytes)
    }
}
