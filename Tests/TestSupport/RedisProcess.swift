import Foundation
import Glibc

/// A real server of Redis at a Unix socket, that keeps nothing on the disk.
public final class RedisProcess: Sendable {
    private let folder: TemporaryFolder
    private let process: pid_t
    /// The path of the socket.
    public let socket: String
    /// The value of the setting `remote` for it.
    public var url: String { "redis+unix://" + socket }

    /// Starts the server and waits until it answers.
    ///
    /// - Parameter place: A socket to use again; `nil` for one of its own.
    public init(_ arguments: [String] = [], at place: String? = nil) throws {
        folder = try TemporaryFolder()
        socket = place ?? folder.path + "/redis.sock"
        process = try Spawn.background(
            ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", folder.path] + arguments)
        try waitUntil("redis-server answering") { [socket] in
            // One with a password says that it wants it.
            let reply = try Command.shell("redis-cli -s \(socket) ping").text
            return reply == "PONG" || reply.hasPrefix("NOAUTH")
        }
    }

    /// The output of `redis-cli` for a command.
    @discardableResult
    public func command(_ words: String) throws -> String {
        try Command.shell("redis-cli -s \(socket) \(words)").text
    }

    /// The names of the objects, without claims.
    public func objects() throws -> [String] {
        try command("--raw keys 'halcyon:*'").split(separator: "\n").map(String.init).filter { !$0.hasSuffix(".claim") }
    }

    /// Sends the process a signal: SIGSTOP and SIGCONT stop it and let it go on.
    public func signal(_ number: Int32) { kill(process, number) }

    /// Ends the process, which takes all objects with it.
    public func stop() {
        kill(process, SIGKILL)
        _ = Spawn.wait(for: process)
    }
}
