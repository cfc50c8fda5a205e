import Foundation
import Glibc

/// A proxy that leads every name to this machine, by a child process of Python: `CONNECT` of HTTP, and SOCKS 5.
public final class TestProxy: Sendable {
    private let child: PythonServer
    private let folder: TemporaryFolder
    private var log: String { folder.path + "/log" }

    /// Starts a proxy.
    ///
    /// - Parameter credentials: `user:password` that it wants; nothing when nil.
    public init(credentials: String? = nil) async throws {
        folder = try TemporaryFolder()
        child = try await PythonServer(Self.program, [credentials ?? "", folder.path + "/log"])
    }

    /// Where it is, such as `127.0.0.1:80`.
    ///
    /// - Parameter kind: `http`, `socks`, or `refusing`, `silent` and `endless` for an HTTP proxy that is of no use.
    public func place(_ kind: String) -> String { "127.0.0.1:\(child.port(kind))" }

    /// What it was asked for: the heads of `CONNECT` requests, and the targets of SOCKS requests.
    public var requests: [String] {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return text.components(separatedBy: "\0").dropLast().map(\.self)
    }

    /// Ends the child.
    public func stop() { child.stop() }

    private static let program = """
        import base64
        credentials, log, place = sys.argv[1:4]
        def note(text):
            with open(log, "ab") as file:
                file.write(text.encode("latin-1") + b"\\0")
        def exactly(client, count):
            data = b""
            while len(data) < count:
                piece = client.recv(count - len(data))
                if not piece:
                    raise OSError("gone")
                data += piece
            return data
        def head(client):
            data = b""
            while not data.endswith(b"\\r\\n\\r\\n"):
                data += exactly(client, 1)
            return data.decode("latin-1")
        def http(client):
            try:
                while True:
                    text = head(client)
                    note(text)
                    wanted = "Proxy-Authorization: Basic " + base64.b64encode(credentials.encode()).decode()
                    if not credentials or wanted in text.split("\\r\\n"):
                        break
                    client.sendall(b"HTTP/1.1 407 No\\r\\nProxy-Authenticate: Basic realm=p\\r\\nContent-Length: 0\\r\\n\\r\\n")
                port = int(text.split(" ")[1].rpartition(":")[2])
                server = socket.create_connection(("127.0.0.1", port))
                client.sendall(b"HTTP/1.1 200 Connected\\r\\n\\r\\n")
            except (OSError, ValueError):
                return client.close()
            join(server, client)
        def socks(client):
            try:
                methods = exactly(client, exactly(client, 2)[1])
                if credentials:
                    if 2 not in methods:
                        client.sendall(b"\\5\\xff")
                        raise OSError("refused")
                    client.sendall(b"\\5\\2")
                    user = exactly(client, exactly(client, 2)[1])
                    password = exactly(client, exactly(client, 1)[0])
                    good = user + b":" + password == credentials.encode()
                    client.sendall(b"\\1\\0" if good else b"\\1\\1")
                    if not good:
                        raise OSError("refused")
                else:
                    client.sendall(b"\\5\\0")
                kind = exactly(client, 4)[3]
                if kind == 3:
                    host = exactly(client, exactly(client, 1)[0]).decode()
                else:
                    host = socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6,
                                            exactly(client, 4 if kind == 1 else 16))
                port = struct.unpack(">H", exactly(client, 2))[0]
                note(host)
                server = socket.create_connection(("127.0.0.1", port))
                client.sendall(b"\\5\\0\\0\\1\\0\\0\\0\\0\\0\\0")
            except OSError:
                return client.close()
            join(server, client)
        def refusing(client):
            try:
                note(head(client))
                client.sendall(b"HTTP/1.1 403 No\\r\\nContent-Length: 0\\r\\n\\r\\n")
            except OSError:
                pass
            client.close()
        def silent(client):
            try:
                head(client)
                client.recv(1)
            except OSError:
                pass
        def endless(client):
            try:
                head(client)
                client.sendall(b"HTTP/1.1 200 Connected\\r\\n")
                while True:
                    client.sendall(b"X-Filler: x\\r\\n" * 1000)
            except OSError:
                client.close()
        kinds = {"http": http, "socks": socks, "refusing": refusing, "silent": silent, "endless": endless}
        ports = {name: socket.create_server(("127.0.0.1", 0)) for name in kinds}
        announce(place, ports)
        for name, listener in ports.items():
            threading.Thread(target=accepting, args=(listener, kinds[name]), daemon=True).start()
        threading.Event().wait()
        """
}
