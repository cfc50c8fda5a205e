import Glibc

/// A port that is taken, so that no other test gets it, and that nobody listens at.
public final class DeafPort: Sendable {
    private let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    /// Its number.
    public let number: UInt16

    /// Takes one of 127.0.0.1.
    public init() throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        number = UInt16(bigEndian: address.sin_port)
        // What is thrown now, when all is set, still ends in `deinit`.
        guard isBound else { throw PatienceExhausted(description: "no port could be had") }
    }

    deinit { close(descriptor) }

    /// The URL of a path there.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(number)\(path)" }
}
