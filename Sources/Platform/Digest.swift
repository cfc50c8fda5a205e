internal import CCrypto

/// A digest by libcrypto: SHA-256, or MD5. Its bytes are in the value itself: thousands of entries have two.
public struct Digest: Hashable, Sendable {
    private typealias Words = (UInt64, UInt64, UInt64, UInt64)

    /// The bytes in the order of memory; those of MD5 are followed by zeros.
    private var words: Words = (0, 0, 0, 0)
    private let isShort: Bool

    /// The number of bytes: 32 of SHA-256, 16 of MD5.
    package var count: Int { isShort ? 16 : 32 }

    /// The SHA-256 of `data`.
    ///
    /// - Complexity: O(*n*): 0.7 ns a byte with the processor's SHA extensions.
    public init(of data: UnsafeRawBufferPointer) {
        isShort = false
        withUnsafeMutableBytes(of: &words) { digest in
            var context = SHA256_CTX()
            SHA256_Init(&context)
            SHA256_Update(&context, data.baseAddress, data.count)
            SHA256_Final(digest.baseAddress, &context)
        }
    }

    /// The SHA-256 of the UTF-8 of `text`.
    public init(of text: String) {
        var text = text
        self = text.withUTF8 { Digest(of: UnsafeRawBufferPointer($0)) }
    }

    /// The MD5 of the UTF-8 of `text`: a name for files, as other caches have it, and no proof of anything.
    package init(md5Of text: String) {
        isShort = true
        var text = text
        text.withUTF8 { text in
            withUnsafeMutableBytes(of: &words) { digest in
                var context = MD5_CTX()
                MD5_Init(&context)
                MD5_Update(&context, text.baseAddress, text.count)
                MD5_Final(digest.baseAddress, &context)
            }
        }
    }

    /// The digest with these bytes; `nil` unless they are 32 or 16.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 32 || bytes.count == 16 else { return nil }
        isShort = bytes.count == 16
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    }

    fileprivate init(finishing running: RunningDigest) {
        isShort = false
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { all in
            running.finish(into: all)
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[..<32])) }
        }
    }

    /// The bytes.
    public var bytes: [UInt8] { withBytes(Array.init) }

    /// Calls `body` with the bytes, where they are.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: words) { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    /// `true` when both have the same bytes.
    public static func == (one: Digest, other: Digest) -> Bool {
        one.words == other.words && one.isShort == other.isShort
    }

    /// Hashes a part of the bytes, which are as good as random.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }

    /// The digest written as 64 or 32 hexadecimal digits; `nil` for any other text.
    package init?(hex: Substring) {
        var hex = hex
        guard let digest = hex.withUTF8({ Digest(hexDigits: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = digest
    }

    private init?(hexDigits digits: UnsafeRawBufferPointer) {
        func value(_ digit: UInt8) -> UInt8? {
            switch digit {
            case 0x30...0x39: digit - 0x30
            case 0x41...0x46, 0x61...0x66: digit & 0x0F + 9
            default: nil
            }
        }
        guard digits.count == 64 || digits.count == 32 else { return nil }
        isShort = digits.count == 32
        for place in 0..<digits.count / 2 {
            guard let high = value(digits[2 * place]), let low = value(digits[2 * place + 1]) else { return nil }
            withUnsafeMutableBytes(of: &words) { $0[place] = high << 4 | low }
        }
    }

    /// The digest that names a file: what stands before the first dot; `nil` for any other name.
    package init?(fileName: String) {
        var name = fileName
        let digest = name.withUTF8 { name in
            Digest(
                hexDigits: UnsafeRawBufferPointer(
                    rebasing: UnsafeRawBufferPointer(name).prefix { $0 != UInt8(ascii: ".") }))
        }
        guard let digest else { return nil }
        self = digest
    }

    /// 64 lower-case hexadecimal digits, or 32.
    public var hex: String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
        return withBytes { bytes in
            String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
                for (index, byte) in bytes.enumerated() {
                    (text[2 * index], text[2 * index + 1]) = (digit(byte >> 4), digit(byte & 15))
                }
                return 2 * bytes.count
            }
        }
    }

    /// The first 63 bits, as a positive number: the row number of an entry in the index.
    package var rowNumber: Int64 { Int64(UInt64(bigEndian: words.0) >> 1) }
}

/// A digest of data that comes piece by piece.
package final class RunningDigest {
    package enum Kind: String, Sendable {
        case sha256, sha384, sha512

        package var count: Int {
            switch self {
            case .sha256: 32
            case .sha384: 48
            case .sha512: 64
            }
        }
    }

    private let kind: Kind
    /// What SHA-256 has come to.
    private var short = SHA256_CTX()
    /// What SHA-384 or SHA-512 has come to.
    private var long = SHA512_CTX()

    package init(_ kind: Kind = .sha256) {
        self.kind = kind
        switch kind {
        case .sha256: SHA256_Init(&short)
        case .sha384: SHA384_Init(&long)
        case .sha512: SHA512_Init(&long)
        }
    }

    package func update(_ data: UnsafeRawBufferPointer) {
        switch kind {
        case .sha256: SHA256_Update(&short, data.baseAddress, data.count)
        case .sha384: SHA384_Update(&long, data.baseAddress, data.count)
        case .sha512: SHA512_Update(&long, data.baseAddress, data.count)
        }
    }

    /// The digest of all that came; of a longer kind, its first 32 bytes. Called once.
    package func finish() -> Digest { Digest(finishing: self) }

    /// All bytes of the digest of what came. Called once.
    package func finishedBytes() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: kind.count) { bytes, count in
            finish(into: UnsafeMutableRawBufferPointer(bytes))
            count = kind.count
        }
    }

    fileprivate func finish(into bytes: UnsafeMutableRawBufferPointer) {
        let digest = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        switch kind {
        case .sha256: SHA256_Final(digest, &short)
        case .sha384: SHA384_Final(digest, &long)
        case .sha512: SHA512_Final(digest, &long)
        }
    }
}
