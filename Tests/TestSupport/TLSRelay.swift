import Foundation

/// A TLS server that hands on what comes to a ``LocalServer``, by a child process of Python.
public final class TLSRelay: Sendable {
    private let child: PythonServer
    /// The port, chosen by the system.
    public var port: UInt16 { child.port("tls") }

    /// Starts a relay.
    ///
    /// - Parameters:
    ///   - clients: The only certificate that clients may have; they need none when nil.
    ///   - version: The only version of TLS that it speaks, such as `TLSv1`; any when nil.
    public init(
        to server: LocalServer, _ certificate: TestCertificate, clients: TestCertificate? = nil, version: String? = nil
    ) async throws {
        child = try await PythonServer(
            Self.program,
            [
                String(server.port), certificate.certificate, certificate.key, clients?.certificate ?? "",
                version ?? "",
            ])
    }

    /// The URL of a path at a name.
    public func url(_ path: String, host: String = "localhost") -> String { "https://\(host):\(port)\(path)" }

    /// Ends the child.
    public func stop() { child.stop() }

    private static let program = """
        target, certificate, key, clients, version, place = int(sys.argv[1]), *sys.argv[2:7]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if version:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = context.maximum_version = ssl.TLSVersion[version]
        context.load_cert_chain(certificate, key)
        if clients:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(clients)
        listener = socket.create_server(("127.0.0.1", 0))
        def serve(client):
            try:
                client = context.wrap_socket(client, server_side=True)
                server = socket.create_connection(("127.0.0.1", target))
            except OSError:
                return client.close()
            join(server, client)
        announce(place, {"tls": listener})
        accepting(listener, serve)
        """
}
