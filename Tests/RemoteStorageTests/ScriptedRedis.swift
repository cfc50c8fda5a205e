import Glibc
import Platform
import Synchronization
import TestSupport

/// A server of Redis that says what a test wants, at a port of 127.0.0.1.
final class ScriptedRedis: Sendable {
    /// A connection, on a thread of its own.
    struct Client {
        /// Which connection it is, from 0.
        let number: Int
        fileprivate let descriptor: Int32
        private var received: [UInt8] = []

        fileprivate init(number: Int, descriptor: Int32) { (self.number, self.descriptor) = (number, descriptor) }

        /// The words of the next command; `nil` when the other end has closed the connection.
        mutating func command() -> [String]? {
            guard let count = number(after: "*") else { return nil }
            var words: [String] = []
            for _ in 0..<count {
                guard let size = number(after: "$"), let word = take(size), take(2) != nil else { return nil }
                words.append(String(decoding: word, as: UTF8.self))
            }
            return words
        }

        func send(_ text: String) { send(Array(text.utf8)) }

        func send(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// Waits until the other end closes the connection.
        mutating func waitForEnd() { while read() {} }

        private mutating func number(after sign: Character) -> Int? {
            while true {
                if let end = received.firstNewline() {
                    let line = String(decoding: received[..<end], as: UTF8.self)
                    received.removeSubrange(...end)
                    return line.first == sign ? Int(line.dropFirst().dropLast()) : nil
                }
                guard read() else { return nil }
            }
        }

        private mutating func take(_ count: Int) -> [UInt8]? {
            while received.count < count { guard read() else { return nil } }
            defer { received.removeFirst(count) }
            return Array(received.prefix(count))
        }

        private mutating func read() -> Bool {
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(descriptor, &piece, piece.count, 0)
            if count > 0 { received += piece[..<count] }
            return count > 0
        }
    }

    let port: UInt16
    private let listener: Int32
    private let connections = Mutex(0)

    /// The number of connections that have been made.
    var connectionCount: Int { connections.withLock { $0 } }
    var url: String { "redis://127.0.0.1:\(port)" }

    /// - Parameter serve: Runs for each connection, which is closed after it.
    init(_ serve: @escaping @Sendable (inout Client) -> Void) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw PatienceExhausted(description: "no port could be had") }
        startThread { [weak self] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0, let number = self?.next() else { break }
                startThread {
                    var client = Client(number: number, descriptor: descriptor)
                    serve(&client)
                    close(descriptor)
                }
            }
            close(listener)
        }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    private func next() -> Int {
        connections.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}
