import Foundation
import Glibc

/// A child process of Python that serves at ports of its own.
public final class PythonServer: Sendable {
    /// The ports, chosen by the system, as the program names them.
    public let ports: [String: UInt16]
    private let process: pid_t
    private let folder: TemporaryFolder

    /// Starts a program and waits until it has written to the file that is its last argument: a line for each port, its
    /// name and its number.
    public init(_ program: String, _ arguments: [String]) async throws {
        folder = try TemporaryFolder()
        let (script, place) = (folder.path + "/server.py", folder.path + "/ports")
        try (Self.prologue + program).write(toFile: script, atomically: true, encoding: .utf8)
        process = try Spawn.background(["python3", script] + arguments + [place])
        var found: String?
        for _ in 0..<6000 where found == nil {
            found = try? String(contentsOfFile: place, encoding: .utf8)
            if found == nil { try await Task.sleep(for: .milliseconds(5)) }
        }
        var ports: [String: UInt16] = [:]
        for line in (found ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { ports[String(words[0])] = UInt16(words[1]) }
        }
        self.ports = ports
        guard !ports.isEmpty else {
            kill(process, SIGKILL)
            throw PatienceExhausted(description: "the server did not start")
        }
    }

    /// The port of a name; 0 if there is none.
    public func port(_ name: String) -> UInt16 { ports[name] ?? 0 }

    /// Ends the child.
    public func stop() {
        kill(process, SIGKILL)
        _ = Spawn.wait(for: process)
    }

    /// What every program begins with: `announce`, `pump` and `accepting`.
    private static let prologue = """
        import os, socket, ssl, struct, sys, threading
        def announce(place, ports):
            with open(place + ".new", "w") as file:
                for name, listener in ports.items():
                    file.write(f"{name} {listener.getsockname()[1]}\\n")
            os.rename(place + ".new", place)
        def pump(source, sink):
            try:
                while data := source.recv(65536):
                    sink.sendall(data)
            except OSError:
                pass
            for end in (source, sink):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        def join(one, other):
            threading.Thread(target=pump, args=(one, other), daemon=True).start()
            pump(other, one)
        def accepting(listener, serve):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=serve, args=(client,), daemon=True).start()

        """
}
