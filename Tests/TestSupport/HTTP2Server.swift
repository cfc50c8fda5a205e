import Foundation

/// HTTP/2 over TLS in well-behaved and in hostile ways, each at a port of its own, by a child process of Python.
///
/// The picture of every answer is the same, whatever is asked for.
public final class HTTP2Server: Sendable {
    private let child: PythonServer

    /// Starts it.
    public init(_ certificate: TestCertificate, picture: [UInt8], in folder: TemporaryFolder) async throws {
        let path = folder.path + "/picture"
        try Data(picture).write(to: URL(fileURLWithPath: path))
        child = try await PythonServer(Self.program, [certificate.certificate, certificate.key, path])
    }

    /// Where it behaves in one way.
    public func url(_ way: String, _ path: String) -> String { "https://localhost:\(child.port(way))\(path)" }

    /// Ends the child.
    public func stop() { child.stop() }

    private static let program = """
        certificate, key, picture, place = sys.argv[1:5]
        with open(picture, "rb") as file:
            body = file.read()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2"])
        DATA, HEADERS, RESET, SETTINGS, PUSH, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 9
        def frame(kind, flags, stream, payload=b""):
            return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload
        def number(value, bits, first=0):
            most = (1 << bits) - 1
            if value < most:
                return bytes([first | value])
            out, value = [first | most], value - most
            while value >= 128:
                out.append(value & 127 | 128)
                value >>= 7
            return bytes(out + [value])
        def field(name, value, keep=False):
            return bytes([0x40 if keep else 0]) + number(len(name), 7) + name + number(len(value), 7) + value
        OK = b"\\x88"
        def head(length=None, more=b""):
            return OK + (b"" if length is None else field(b"content-length", str(length).encode())) + more
        def split(data):
            return [data[at:at + 16384] for at in range(0, len(data), 16384)] or [b""]
        def whole(stream, data=body):
            return b"".join(frame(DATA, 0, stream, piece) for piece in split(data)) + frame(DATA, 1, stream)
        half = body[:len(body) // 2]
        def good(stream):
            return frame(HEADERS, 4, stream, head(len(body))) + whole(stream)
        def half_and(last):
            return lambda stream: frame(HEADERS, 4, stream, head(len(body))) + begin(stream) + last(stream)
        def begin(stream):
            return b"".join(frame(DATA, 0, stream, piece) for piece in split(half))
        def flood(make, count):
            return lambda stream: b"".join(make(stream) for _ in range(count)) + good(stream)
        filler = field(b"x-filler", b"x" * 4000, keep=True)
        ways = {
            "good": good,
            "unsaid": lambda stream: frame(HEADERS, 4, stream, head()) + whole(stream),
            "short": lambda stream: frame(HEADERS, 4, stream, head(len(body) + 9)) + whole(stream),
            "long": lambda stream: frame(HEADERS, 4, stream, head(9)) + whole(stream),
            "lengths": lambda stream: frame(HEADERS, 4, stream, head(len(body), field(b"content-length", b"9")))
                + whole(stream),
            "reset": half_and(lambda stream: frame(RESET, 0, stream, struct.pack(">I", 8))),
            "unsaid-reset": lambda stream: frame(HEADERS, 4, stream, head()) + begin(stream)
                + frame(RESET, 0, stream, struct.pack(">I", 2)),
            "unsaid-closed": lambda stream: frame(HEADERS, 4, stream, head()) + begin(stream) + b"close",
            "unsaid-goaway": lambda stream: frame(HEADERS, 4, stream, head()) + begin(stream)
                + frame(GOAWAY, 0, 0, struct.pack(">II", stream, 0)) + b"close",
            "goaway": half_and(lambda stream: frame(GOAWAY, 0, 0, struct.pack(">II", 0, 2)) + b"close"),
            "closed": half_and(lambda stream: b"close"),
            "garbage": half_and(lambda stream: b"\\xff" * 100 + b"close"),
            # HTTP_1_1_REQUIRED, in mid body and before any of it; and a connection that takes one request.
            "older": half_and(lambda stream: frame(RESET, 0, stream, struct.pack(">I", 13))),
            "older-at-once": lambda stream: frame(RESET, 0, stream, struct.pack(">I", 13)),
            "drained": lambda stream: good(stream) if stream == 1 else frame(GOAWAY, 0, 0, struct.pack(">II", 1, 0)),
            "drained-and-closed": lambda stream: good(stream) + frame(GOAWAY, 0, 0, struct.pack(">II", stream, 0)) + b"close",
            "drained-vaguely": lambda stream: good(stream) + frame(GOAWAY, 0, 0, struct.pack(">II", 0x7FFFFFFF, 0)) + b"close",
            "closed-after": lambda stream: good(stream) + b"close",
            "takes-nothing": lambda stream: frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0)) + b"close",
            "refused": lambda stream: frame(RESET, 0, stream, struct.pack(">I", 7)),
            "nothing": lambda stream: frame(HEADERS, 5, stream, head()),
            "no-status": lambda stream: frame(HEADERS, 4, stream, field(b"x", b"y")) + whole(stream),
            "bad-status": lambda stream: frame(HEADERS, 4, stream, field(b":status", b"2000")) + whole(stream),
            "capitals": lambda stream: frame(HEADERS, 4, stream, head(len(body), field(b"X-Big", b"y"))) + whole(stream),
            "line-ends": lambda stream: frame(HEADERS, 4, stream, head(len(body), field(b"x", b"a\\r\\nset-cookie: b")))
                + whole(stream),
            "promise": lambda stream: frame(PUSH, 4, stream, struct.pack(">I", 2) + b"\\x82\\x84\\x87") + good(stream),
            "wrong-stream": lambda stream: frame(HEADERS, 4, stream + 2, head(len(body))) + whole(stream + 2),
            # 4 KB of header that stands in the table once, and is named again by one byte.
            "table": lambda stream: frame(HEADERS, 4, stream, head(len(body), filler + b"\\xbe" * 16000)) + whole(stream),
            "continued": lambda stream: frame(HEADERS, 0, stream, head(len(body)))
                + frame(CONTINUATION, 0, stream, field(b"x", b"y" * 8000)) * 2000,
            "empty-continued": lambda stream: frame(HEADERS, 0, stream, head(len(body)))
                + frame(CONTINUATION, 0, stream) * 200000,
            "too-large": lambda stream: frame(HEADERS, 4, stream, head()) + frame(DATA, 0, stream, half[:9])
                + frame(DATA, 0, stream, b"x" * 20000),
            "endless": lambda stream: frame(HEADERS, 4, stream, head())
                + b"".join(frame(DATA, 0, stream, piece) for piece in split(body)) * 3000,
            "empty-data": lambda stream: frame(HEADERS, 4, stream, head(len(body))) + frame(DATA, 0, stream) * 20000
                + whole(stream),
            # Frames that say nothing, without end: of no known type before any head, and without content behind one.
            "unknown-frames": lambda stream: frame(0xEE, 0, stream) * 100000 + b"again",
            "empty-frames": lambda stream: frame(HEADERS, 4, stream, head()) + frame(DATA, 0, stream) * 100000
                + b"again",
            "pings": flood(lambda stream: frame(PING, 0, 0, b"01234567"), 5000),
            "settings": flood(lambda stream: frame(SETTINGS, 0, 0), 500),
            "early-hints": flood(lambda stream: frame(HEADERS, 4, stream, field(b":status", b"103")), 20000),
        }
        def serve(client, way):
            try:
                client = context.wrap_socket(client, server_side=True)
                if client.selected_alpn_protocol() != "h2":
                    client.recv(65536)
                    client.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
                    return client.close()
                stream = client.makefile("rb")
                stream.read(24)
                client.sendall(frame(SETTINGS, 0, 0))
                while len(begin := stream.read(9)) == 9:
                    payload = stream.read(int.from_bytes(begin[:3], "big"))
                    kind, flags, number = begin[3], begin[4], int.from_bytes(begin[5:], "big")
                    if kind == SETTINGS and not flags & 1:
                        client.sendall(frame(SETTINGS, 1, 0))
                    elif kind == HEADERS:
                        answer = way(number)
                        ends, repeats = answer.endswith(b"close"), answer.endswith(b"again")
                        client.sendall(answer[:-5] if ends or repeats else answer)
                        while repeats:
                            client.sendall(answer[-900005:-5])
                        if ends:
                            # What the other side has still to say is read, or its system would throw away what was sent.
                            client.shutdown(socket.SHUT_WR)
                            while stream.read(65536):
                                pass
                            break
            except OSError:
                pass
            client.close()
        ports = {name: socket.create_server(("127.0.0.1", 0)) for name in ways}
        announce(place, ports)
        for name, listener in ports.items():
            answering = lambda client, way=ways[name]: serve(client, way)
            threading.Thread(target=accepting, args=(listener, answering), daemon=True).start()
        threading.Event().wait()
        """
}
