internal import CCrypto
internal import Glibc

/// Base64 with the standard alphabet and padding (RFC 4648, section 4), by libcrypto.
public enum Base64 {
    /// The length of the text for `count` bytes.
    public static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Writes the text of `data` into `text`, which holds ``encodedCount(_:)`` bytes.
    public static func encode(_ data: UnsafeRawBufferPointer, into text: UnsafeMutableRawBufferPointer) {
        // Whole groups at a time, and short of the NUL that libcrypto adds: it would stand past the end.
        guard let source = data.baseAddress?.assumingMemoryBound(to: UInt8.self),
            let target = text.baseAddress?.assumingMemoryBound(to: UInt8.self), data.count > 0
        else { return }
        let head = (data.count - 1) / 3 * 3
        var place = 0
        while place < head {
            let part = min(head - place, 3 << 20)
            let wanted = encodedCount(part)
            let saved = target[place / 3 * 4 + wanted]
            EVP_EncodeBlock(target + place / 3 * 4, source + place, Int32(part))
            target[place / 3 * 4 + wanted] = saved
            place += part
        }
        var last = (UInt32(0), UInt32(0))
        withUnsafeMutableBytes(of: &last) { buffer in
            EVP_EncodeBlock(
                buffer.assumingMemoryBound(to: UInt8.self).baseAddress, source + head, Int32(data.count - head))
            for index in 0..<4 { target[head / 3 * 4 + index] = buffer[index] }
        }
    }

    /// The bytes that `text` stands for; `nil` if it is not base64. White space is skipped, padding may be missing, and
    /// the URL-safe alphabet is understood.
    public static func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        decodeWhole(text) ?? decodeLoose(text)
    }

    /// Text as most write it: the standard alphabet, padded, without white space.
    private static func decodeWhole(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        guard text.count % 4 == 0, text.count < Int(Int32.max), let last = text.last, last > 0x20, text[0] > 0x20,
            let start = text.assumingMemoryBound(to: UInt8.self).baseAddress
        else { return nil }
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        // Padding elsewhere than at the end would count as zeros.
        let first = memchr(start, Int32(UInt8(ascii: "=")), text.count).map {
            UnsafeRawPointer($0) - UnsafeRawPointer(start)
        }
        guard first ?? text.count == text.count - padding else { return nil }
        let bytes = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { buffer, count in
            let decoded = EVP_DecodeBlock(buffer.baseAddress, start, Int32(text.count))
            count = max(Int(decoded) - padding, 0)
        }
        return bytes.count == text.count / 4 * 3 - padding ? bytes : nil
    }

    private static func decodeLoose(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var clean: [UInt8] = []
        clean.reserveCapacity(text.count + 4)
        for byte in text {
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: continue
            case UInt8(ascii: "-"): clean.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): clean.append(UInt8(ascii: "/"))
            default: clean.append(byte)
            }
        }
        while clean.last == UInt8(ascii: "=") { clean.removeLast() }
        guard clean.count % 4 != 1, clean.count < Int(Int32.max) - 4, !clean.contains(UInt8(ascii: "="))
        else { return nil }
        let padding = (4 - clean.count % 4) % 4
        clean.append(contentsOf: repeatElement(UInt8(ascii: "="), count: padding))
        var bytes = [UInt8](repeating: 0, count: clean.count / 4 * 3)
        let count = clean.isEmpty ? 0 : EVP_DecodeBlock(&bytes, clean, Int32(clean.count))
        guard count == bytes.count else { return nil }
        bytes.removeLast(padding)
        return bytes
    }
}
