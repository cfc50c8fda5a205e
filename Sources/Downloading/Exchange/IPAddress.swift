internal import CCurl
internal import Glibc

package enum IPAddress: Hashable, Sendable {
    case v4(UInt32)
    case v6(UInt64, UInt64)

    /// Parses an address in the form that `inet_pton` reads. A zone and square brackets are ignored. `nil`: anything
    /// else.
    package init?(_ text: String) {
        let isBare = !text.utf8.contains { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "%") }
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
        let plain = isBare ? text : String(bare.prefix { $0 != "%" })
        var four = in_addr()
        var six = in6_addr()
        if plain.withCString({ inet_pton(AF_INET, $0, &four) }) == 1 {
            self = .v4(UInt32(bigEndian: four.s_addr))
        } else if plain.withCString({ inet_pton(AF_INET6, $0, &six) }) == 1 {
            self = withUnsafeBytes(of: &six) { Self.six($0) }
        } else {
            return nil
        }
    }

    /// The address that a socket is about to be connected to. `nil`: another address family.
    init?(_ address: UnsafePointer<curl_sockaddr>) {
        guard let place = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let raw = UnsafeRawPointer(address) + place
        switch address.pointee.family {
        case AF_INET: self = .v4(UInt32(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6:
            var six = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self = withUnsafeBytes(of: &six) { Self.six($0) }
        default: return nil
        }
    }

    private static func six(_ bytes: UnsafeRawBufferPointer) -> IPAddress {
        .v6(
            UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    /// `true` when the first `length` bits equal those of `other`.
    package func matches(_ other: IPAddress, bits length: Int) -> Bool {
        func same(_ one: UInt64, _ two: UInt64, _ count: Int) -> Bool {
            count <= 0 || (one ^ two) >> (64 - min(count, 64)) == 0
        }
        switch (self, other) {
        case (.v4(let one), .v4(let two)): return same(UInt64(one) << 32, UInt64(two) << 32, min(length, 32))
        case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
            return same(high, otherHigh, length) && same(low, otherLow, length - 64)
        default: return false
        }
    }
}

/// An address with the number of its significant leading bits, such as `10.0.0.0/8`.
struct IPNetwork: Hashable, Sendable {
    let address: IPAddress
    let bits: Int

    /// Parses a network. Without a length it is a single address.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let longest = if case .v4 = address { 32 } else { 128 }
        guard let bits = parts.count == 2 ? Int(parts[1]) : longest, (0...longest).contains(bits) else { return nil }
        (self.address, self.bits) = (address, bits)
    }

    func contains(_ other: IPAddress) -> Bool { other.matches(address, bits: bits) }
}
