internal import CCrypto

/// A digest by libcrypto: SHA-256, MD5, or one of the others that ``RunningDigest`` knows.
public struct Digest: Hashable, Sendable {
    /// The bytes: 32 of SHA-256, 16 of MD5.
    public let bytes: [UInt8]

    /// The SHA-256 of `data`.
    ///
    /// - Complexity: O(*n*): 0.7 ns a byte with the processor's SHA extensions.
    public init(of data: UnsafeRawBufferPointer) {
        bytes = [UInt8](unsafeUninitializedCapacity: Int(SHA256_DIGEST_LENGTH)) { buffer, count in
            // On the stack: libcrypto's newer calls allocate and look the algorithm up, which costs more than the
            // digest of a key.
            var context = SHA256_CTX()
            SHA256_Init(&context)
            SHA256_Update(&context, data.baseAddress, data.count)
            SHA256_Final(buffer.baseAddress, &context)
            count = Int(SHA256_DIGEST_LENGTH)
        }
    }

    /// The SHA-256 of the UTF-8 of `text`.
    public init(of text: String) {
        var text = text
        self = text.withUTF8 { Digest(of: UnsafeRawBufferPointer($0)) }
    }

    /// The MD5 of the UTF-8 of `text`: a name for files, as other caches have it, and no proof of anything.
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

    /// The digest written as 64 or 32 hexadecimal digits; `nil` for any other text.
    package init?(hex: Substring) {
        let digits = hex.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue.map(UInt8.init) }
        guard digits.count == 64 || digits.count == 32, hex.utf8.count == digits.count else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// 64 lower-case hexadecimal digits, or 32.
    public var hex: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                (text[2 * index], text[2 * index + 1]) = (digit(byte >> 4), digit(byte & 15))
            }
            return 2 * bytes.count
        }
    }

    /// The first 63 bits, as a positive number: the row number of an entry in the index.
    package var rowNumber: Int64 {
        Int64(bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1)
    }
}

/// A digest of data that comes piece by piece.
package final class RunningDigest {
    /// The algorithm.
    package enum Kind: String, Sendable {
        case sha256, sha384, sha512

        /// The number of bytes of the digest.
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
