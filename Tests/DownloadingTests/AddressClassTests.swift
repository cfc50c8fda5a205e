import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// What kind of network an address is of (after the tables of imgproxy's privatenet tests).
@Suite struct AddressClassTests {
    @Test(
        arguments: [
            ("8.8.8.8", .public), ("1.1.1.1", .public), ("172.15.255.255", .public), ("172.32.0.0", .public),
            ("100.63.255.255", .public), ("100.128.0.0", .public), ("11.0.0.0", .public), ("9.255.255.255", .public),
            ("192.167.255.255", .public), ("169.253.255.255", .public), ("223.255.255.255", .public),
            ("127.0.0.0", .loopback), ("127.0.0.1", .loopback), ("127.255.255.255", .loopback),
            ("0.0.0.0", .loopback), ("0.1.2.3", .loopback),
            ("10.0.0.0", .private), ("10.255.255.255", .private), ("172.16.0.1", .private),
            ("172.31.255.255", .private),
            ("192.168.0.1", .private), ("100.64.0.1", .private), ("100.127.255.255", .private),
            ("198.18.0.1", .private), ("192.0.2.1", .private), ("240.0.0.1", .private),
            ("169.254.0.1", .linkLocal), ("169.254.169.254", .metadata), ("100.100.100.200", .metadata),
            ("168.63.129.16", .metadata), ("fd00:ec2::254", .metadata),
            ("224.0.0.1", .multicast), ("239.255.255.255", .multicast), ("255.255.255.255", .multicast),
            ("2606:4700::1111", .public), ("2a00:1450:4001::1", .public),
            ("::1", .loopback), ("::", .loopback),
            ("fc00::1", .private), ("fdff:ffff::1", .private), ("fec0::1", .private), ("2001:db8::1", .private),
            ("4000::1", .private), ("100::1", .private),
            ("fe80::1", .linkLocal), ("febf::1", .linkLocal), ("fe80::1%eth0", .linkLocal), ("ff02::1", .multicast),
            ("::ffff:127.0.0.1", .loopback), ("::ffff:10.0.0.1", .private), ("::ffff:8.8.8.8", .public),
            ("::ffff:169.254.169.254", .metadata), ("::ffff:0:127.0.0.1", .loopback),
            ("::127.0.0.1", .loopback), ("::10.1.2.3", .private), ("::8.8.8.8", .public),
            ("2002:7f00:1::", .loopback), ("2002:a00:1::1", .private), ("2002:808:808::", .public),
            ("2002:a9fe:a9fe::", .metadata),
            ("64:ff9b::7f00:1", .loopback), ("64:ff9b::10.0.0.1", .private), ("64:ff9b::808:808", .public),
            ("64:ff9b:1::808:808", .private), ("64:ff9b:1::7f00:1", .loopback),
            // Teredo, with a client of 127.0.0.1 and one of 8.8.8.8, and a private server.
            ("2001:0:808:808::80ff:fffe", .loopback), ("2001:0:808:808::f7f7:f7f7", .public),
            ("2001:0:a00:1::f7f7:f7f7", .private),
            // ISATAP.
            ("2a00::5efe:127.0.0.1", .loopback), ("2a00::200:5efe:10.0.0.1", .private),
            ("2a00::5efe:8.8.8.8", .public), ("fe80::5efe:8.8.8.8", .linkLocal),
        ] as [(String, AddressClass)])
    func addressIsOfAClass(_ text: String, _ type: AddressClass) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressClass(address) == type)
    }

    @Test func whatIsNoAddressIsNone() {
        for text in ["", "localhost", "1.2.3", "1.2.3.4.5", "2130706433", "0x7f.1", "12345::", ":::", "[::1"] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
        #expect(IPAddress("[::1]") == IPAddress("::1"))
    }

    @Test func classesAreInOrderOfPrivacy() {
        #expect(AddressClass.allCases.sorted() == [.public, .private, .loopback, .linkLocal, .metadata, .multicast])
    }

    @Test(
        arguments: [
            (.noCrossover, .loopback, nil, true), (.noCrossover, .private, nil, true),
            (.noCrossover, .linkLocal, nil, false), (.noCrossover, .metadata, nil, false),
            (.noCrossover, .multicast, nil, false), (.noCrossover, .linkLocal, .linkLocal, false),
            (.noCrossover, .private, .public, false), (.noCrossover, .loopback, .public, false),
            (.noCrossover, .loopback, .private, false), (.noCrossover, .private, .loopback, true),
            (.noCrossover, .public, .loopback, true), (.noCrossover, .public, .public, true),
            (.noCrossover, .loopback, .loopback, true),
            (.public, .public, nil, true), (.public, .private, nil, false), (.public, .loopback, .loopback, false),
            (.public, .metadata, nil, false), (.any, .metadata, .public, true), (.any, .loopback, .public, true),
        ] as [(NetworkPolicy.Reach, AddressClass, AddressClass?, Bool)])
    func policyAllowsOrRefuses(
        _ reach: NetworkPolicy.Reach, _ type: AddressClass, _ origin: AddressClass?, _ isAllowed: Bool
    ) {
        var policy = NetworkPolicy()
        policy.reach = reach
        let refusal = policy.refusal(type, after: origin)
        #expect((refusal == nil) == isAllowed)
        #expect(refusal?.contains("networkPolicy") ?? true, "the setting is named")
    }

    @Test(
        arguments: [
            ("example.com", "example.com", true), ("EXAMPLE.com", "Example.COM", true),
            ("example.com.", "example.com", true),
            ("www.example.com", "example.com", false), ("www.example.com", "*.example.com", true),
            ("a.b.example.com", "*.example.com", true), ("example.com", "*.example.com", false),
            ("badexample.com", "*.example.com", false), ("badexample.com", "example.com", false),
            ("[::1]", "::1", true), ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "*.0.0.1", true),
        ])
    func hostMatchesAPattern(_ host: String, _ pattern: String, _ isMatch: Bool) {
        #expect(HostPattern.matches(host, pattern) == isMatch)
    }

    @Test func memoryOfNamesIsBounded() {
        let memory = ResolvedNames()
        for number in 0..<(2 * ResolvedNames.limit) { memory.add("\(number)", .public) }
        #expect(memory["0"] == nil && memory["\(2 * ResolvedNames.limit - 1)"] == .public)
        memory.add("a", .private)
        memory.add("a", .public)
        memory.add("a", .loopback)
        #expect(memory["a"] == .public, "the most public one counts")
    }
}
