/// The classes of network addresses, the most public first (RFC 6890 and its registries).
public enum AddressClass: Sendable, CaseIterable, Comparable {
    /// Reachable from everywhere.
    case `public`
    /// In a local network or a provider's, or reserved: 10/8, 172.16/12, 192.168/16, 100.64/10, fc00::/7…
    case `private`
    /// This machine: 127/8 and ::1, and 0.0.0.0 and ::, which lead there too.
    case loopback
    /// On the same link: 169.254/16 and fe80::/10.
    case linkLocal
    /// The metadata services of clouds, which reveal secrets of the machine.
    case metadata
    /// Multicast, where nothing can be loaded from.
    case multicast

    /// The name of the class in error messages.
    package var words: String {
        switch self {
        case .public: "a public address"
        case .private: "an address of a private network"
        case .loopback: "this machine"
        case .linkLocal: "a link-local address"
        case .metadata: "the metadata service of a cloud"
        case .multicast: "a multicast address"
        }
    }
}

extension AddressClass {
    /// The class of an address. An IPv6 address that embeds an IPv4 address has the more private class of the two.
    init(_ address: IPAddress) {
        if Self.metadataAddresses.contains(address) {
            self = .metadata
            return
        }
        switch address {
        case .v4(let bits): self = Self.four(bits)
        case .v6(let high, let low): self = Self.six(high, low)
        }
    }

    private static let metadataAddresses = Set(
        """
        169.254.169.254 169.254.170.2 169.254.169.253 fd00:ec2::254 fd00:ec2::23 fd20:ce::254 100.100.100.200 \
        168.63.129.16 192.0.0.192
        """.split(separator: " ").compactMap { IPAddress(String($0)) })

    private static func networks(_ list: [(AddressClass, [String])]) -> [(network: IPNetwork, type: AddressClass)] {
        list.flatMap { type, texts in texts.compactMap(IPNetwork.init).map { (network: $0, type: type) } }
    }

    private static let fours = networks([
        (.loopback, ["0.0.0.0/8", "127.0.0.0/8"]), (.linkLocal, ["169.254.0.0/16"]),
        (.multicast, ["224.0.0.0/4", "255.255.255.255"]),
        (
            .private,
            [
                "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24",
                "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
            ]
        ),
    ])

    private static func four(_ bits: UInt32) -> AddressClass {
        fours.first { $0.network.contains(.v4(bits)) }?.type ?? .public
    }

    private static let sixes = networks([
        (.loopback, ["::", "::1"]), (.linkLocal, ["fe80::/10"]), (.multicast, ["ff00::/8"]),
        (.private, ["fc00::/7", "fec0::/10", "64:ff9b:1::/48", "2001:db8::/32", "3fff::/20"]),
    ])

    private static func six(_ high: UInt64, _ low: UInt64) -> AddressClass {
        if let found = sixes.first(where: { $0.network.contains(.v6(high, low)) }) {
            return max(found.type, carried(high, low) ?? .public)
        }
        if let carried = carried(high, low) { return carried }
        // Only 2000::/3 is allocated for public use.
        return high >> 61 == 1 ? .public : .private
    }

    /// The class of the IPv4 address that an IPv6 address embeds. `nil`: it embeds none.
    private static func carried(_ high: UInt64, _ low: UInt64) -> AddressClass? {
        let last = UInt32(truncatingIfNeeded: low)
        func type(_ bits: UInt32) -> AddressClass { AddressClass(.v4(bits)) }
        // IPv4-mapped (RFC 4291), the deprecated IPv4-compatible ones, and IPv4-translated ones (RFC 2765).
        if high == 0, low >> 32 == 0xFFFF || low >> 32 == 0 || low >> 32 == 0xFFFF_0000 {
            return low <= 1 ? nil : type(last)
        }
        // 6to4 (RFC 3056).
        if high >> 48 == 0x2002 { return type(UInt32(truncatingIfNeeded: high >> 16)) }
        // NAT64 (RFC 6052 and 8215).
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return type(last) }
        if high >> 16 == 0x0064_FF9B_0001 { return max(type(last), .private) }
        // Teredo (RFC 4380): the server, and the client with inverted bits.
        if high >> 32 == 0x2001_0000 { return max(type(UInt32(truncatingIfNeeded: high)), type(~last)) }
        // ISATAP (RFC 5214), in any network.
        if low >> 32 == 0x0000_5EFE || low >> 32 == 0x0200_5EFE {
            return max(type(last), high >> 61 == 1 ? .public : .private)
        }
        return nil
    }
}
