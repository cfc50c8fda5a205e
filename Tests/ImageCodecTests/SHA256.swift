import CCrypto

/// SHA-256, for comparing pixels with references.
enum SHA256 {
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
