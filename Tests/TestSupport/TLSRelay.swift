import Foundation
import Glibc

/// A key with a certificate that it signed itself, made by the `openssl` tool.
public struct TestCertificate: Sendable {
    /// The certificate, in PEM.
    public let certificate: String
    /// Its key, in PEM.
    public let key: String

    /// Makes a key and a certificate for `names`, such as `DNS:localhost`.
    public init(_ names: String, in folder: TemporaryFolder, called name: String) throws {
        certificate = folder.path + "/\(name).crt"
        key = folder.path + "/\(name).key"
        let made = try Command.shell(
            """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=\(name) \
            -addext subjectAltName=\(names) -keyout \(key) -out \(certificate)
            """)
        guard made.status == 0 else { throw PatienceExhausted(description: "openssl: \(made.errors)") }
    }
}

/// A TLS server that hands on what comes to a ``LocalServer``, by a child process of Python.
public final class TLSRelay: Sendable {
    /// The port, chosen by the system.
    public let port: UInt16
    private let process: pid_t
    private let folder: TemporaryFolder

    /// Starts a relay.
    ///
    /// - Parameter clients: The only certificate that clients may have; they need none when nil.
    public init(
        to server: LocalServer, _ certificate: TestCertificate, clients: TestCertificate? = nil
    ) async throws {
        folder = try TemporaryFolder()
        let script = folder.path + "/relay.py"
        let place = folder.path + "/port"
        try Self.program.write(toFile: script, atomically: true, encoding: .utf8)
        process = try Spawn.background(
            [
                "python3", script, String(server.port), certificate.certificate, certificate.key, place,
                clients?.certificate ?? "",
            ])
        var found: UInt16?
        for _ in 0..<6000 where found == nil {
            found = (try? String(contentsOfFile: place, encoding: .utf8)).flatMap { UInt16($0) }
            if found == nil { try await Task.sleep(for: .milliseconds(5)) }
        }
        guard let found else {
            kill(process, SIGKILL)
            throw PatienceExhausted(description: "the relay did not start")
        }
        port = found
    }

    /// The URL of a path at a name.
    public func url(_ path: String, host: String = "localhost") -> String { "https://\(host):\(port)\(path)" }

    /// Ends the child.
    public func stop() {
        kill(process, SIGKILL)
        _ = Spawn.wait(for: process)
    }

    private static let program = """
        import os, socket, ssl, sys, threading
        target, certificate, key, place, clients = int(sys.argv[1]), *sys.argv[2:6]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if clients:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients)
        listener = socket.create_server(("127.0.0.1", 0))
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
        def serve(client):
            try:
                client = context.wrap_socket(client, server_side=True)
                server = socket.create_connection(("127.0.0.1", target))
            except OSError:
                return client.close()
            threading.Thread(target=pump, args=(server, client), daemon=True).start()
            pump(client, server)
        with open(place + ".new", "w") as file:
            file.write(str(listener.getsockname()[1]))
        os.rename(place + ".new", place)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client,), daemon=True).start()
        """
}
