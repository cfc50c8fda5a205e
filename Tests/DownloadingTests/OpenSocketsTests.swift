import Glibc
import TestSupport
import Testing

@testable import Downloading
@testable import HTTPSemantics
@testable import ImageErrors
@testable import Platform

/// Which connection libcurl means when it is about to use one.
@Suite struct OpenSocketsTests {
    private static func address(_ host: UInt8, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0000 | UInt32(host)).bigEndian
        return address
    }

    private static func use<Value>(
        _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func port(of socket: Int32) -> UInt16 {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(socket, $0, &size) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func made() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        try #require(descriptor >= 0)
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        return descriptor
    }

    /// The system gives a port to several connections, as long as they lead to different places.
    @Test func twoConnectionsFromOnePortAreToldApart() throws {
        var all: [Int32] = []
        defer { for descriptor in all { close(descriptor) } }
        var sockets = OpenSockets()
        var ends: [OpenSockets.Ends] = []
        var servers: [Int32] = []
        var near: UInt16 = 0
        for host in [2, 3] as [UInt8] {
            let listener = try Self.made()
            all.append(listener)
            try #require(Self.use(Self.address(host, 0)) { bind(listener, $0, $1) } == 0 && listen(listener, 1) == 0)
            let client = try Self.made()
            all.append(client)
            try #require(Self.use(Self.address(1, near)) { bind(client, $0, $1) } == 0)
            try #require(Self.use(Self.address(host, Self.port(of: listener))) { connect(client, $0, $1) } == 0)
            near = Self.port(of: client)
            servers.append(accept(listener, nil, nil))
            all.append(servers[servers.count - 1])
            sockets.opened(client)
            let end = OpenSockets.Ends(
                nearPort: Int32(near), farAddress: "127.0.0.\(host)", farPort: Int32(Self.port(of: listener)))
            ends.append(end)
        }
        #expect(ends[0].nearPort == ends[1].nearPort)
        func hasInput() -> [Bool] { ends.reversed().map { sockets.hasUnaskedInput(over: $0) } }
        #expect(hasInput() == [false, false], "at the first use there is nothing to look for")
        try #require(write(servers[1], "x", 1) == 1)
        #expect(hasInput() == [true, false])
        sockets.closed(all[4])
        try #require(write(servers[0], "x", 1) == 1)
        #expect(hasInput() == [false, true], "a closed one is forgotten")
    }
}
