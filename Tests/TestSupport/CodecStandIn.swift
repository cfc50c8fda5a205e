import Foundation
import Glibc

/// A program that speaks as a codec worker does and makes what the test says: a script that notes every request. It says
/// of itself that it reads and writes PNG alone.
public final class CodecStandIn: Sendable {
    /// What it does with a request.
    public enum Mode: String, Sendable {
        /// Makes every output: the bytes that were given.
        case make
        /// The same, once the test has opened its gate.
        case wait
        /// Refuses: a processor failed.
        case refuse
        /// Says that the source is damaged.
        case damaged
        /// Removes a source that a cache keeps, and says that it cannot be read; of others it makes every output.
        case lose
        /// Ends with signal 9.
        case die
        /// Does so when it is to make several outputs.
        case dieTogether
        /// Makes every output, and says that it ends now; it does so once it is given something to do.
        case last
        /// Ends with signal 9, and the next one makes every output.
        case dieOnce
        /// Stops itself, and the next one makes every output.
        case stopOnce
        /// Makes every output, and says that nothing was lost.
        case exact
        /// Never answers.
        case hang
        /// Answers something else.
        case babble
        /// Is of another version.
        case other
    }

    /// A request as it came.
    public struct Request: Sendable, Equatable {
        /// Who got it.
        public let process: Int32
        /// The file that is read.
        public let source: String
        /// What it was recognised as.
        public let format: String
        /// What the first of all was recognised as that it was made of.
        public let original: String
        /// The parts of the library that it was told to prepare.
        public let parts: [String]
        /// The names of the steps of each output.
        public let outputs: [[String]]
    }

    private let folder: TemporaryFolder
    /// The program.
    public var path: String { folder.path + "/halcyon-codec" }

    /// A program that makes `bytes`.
    public init(making bytes: [UInt8], _ mode: Mode = .make) throws {
        folder = try TemporaryFolder()
        try Data(bytes).write(to: URL(fileURLWithPath: folder.path + "/made"))
        try Self.writeProgram(Self.script, to: path)
        Self.awaitWriters(of: path)
        try set(mode)
    }

    /// Writes a program through a descriptor that no process keeps which another test begins meanwhile.
    private static func writeProgram(_ text: String, to path: String) throws {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o755)
        guard descriptor >= 0 else { throw CocoaError(.fileWriteUnknown) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try file.write(contentsOf: Data(text.utf8))
        try file.close()
    }

    /// Waits until nobody has a program open for writing: a process that another test begins has our descriptors for a
    /// moment, and as long as it has, the program cannot be started (ETXTBSY).
    private static func awaitWriters(of path: String) {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        defer { Glibc.close(descriptor) }
        let setLease: Int32 = 1024
        // A lease for reading is refused as long as there is a writer.
        var patience = 10_000
        while fcntl(descriptor, setLease, Int32(F_RDLCK)) != 0, errno == EAGAIN, patience > 0 {
            usleep(1000)
            patience -= 1
        }
        _ = fcntl(descriptor, setLease, Int32(F_UNLCK))
    }

    /// Changes what it does, from the next request on.
    public func set(_ mode: Mode) throws {
        try Data(mode.rawValue.utf8).write(to: URL(fileURLWithPath: folder.path + "/mode"), options: .atomic)
    }

    /// Lets those that wait go on.
    public func open() throws { try Data().write(to: URL(fileURLWithPath: folder.path + "/go")) }

    /// What it was asked so far.
    public var requests: [Request] {
        let text = (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap { line in
            guard let note = try? JSON(String(line)) else { return nil }
            return Request(
                process: Int32(note["process"]?.integer ?? 0), source: note["source"]?.string ?? "",
                format: note["format"]?.string ?? "",
                original: note["original"]?.string ?? "",
                parts: (note["parts"]?.elements ?? []).compactMap(\.string),
                outputs: (note["outputs"]?.elements ?? []).map { ($0.elements ?? []).compactMap(\.string) })
        }
    }

    private static let script = #"""
        #!/usr/bin/env python3
        import json, os, signal, socket, struct, sys, time
        here = os.path.dirname(os.path.abspath(sys.argv[0]))
        line = socket.socket(fileno=3)
        def mode(): return open(here + "/mode").read()
        def number(value): return struct.pack("<q", value)
        def text(value): return number(len(value.encode())) + value.encode()
        def send(body): line.sendall(struct.pack("<I", len(body)) + body)
        def receive(count):
            data = b""
            while len(data) < count:
                part = line.recv(count - len(data))
                if not part: os._exit(0)
                data += part
            return data
        class Reader:
            def __init__(self, data): self.data, self.place = data, 0
            def take(self, count):
                self.place += count
                return self.data[self.place - count:self.place]
            def byte(self): return self.take(1)[0]
            def number(self): return struct.unpack("<q", self.take(8))[0]
            def text(self): return self.take(self.number()).decode()
        def step(reader):
            name = reader.text()
            reader.take({"blackWhite": 0, "blur": 8, "downsample": 16, "tint": 4, "crop": 34}[name])
            return name
        def encoding(reader):
            if reader.byte(): reader.number()
            reader.take(2)
            if reader.byte(): reader.take(4)
            if reader.byte(): reader.number()
            reader.byte()
            reader.text()
        def output(reader):
            steps = [step(reader) for _ in range(reader.number())]
            if reader.byte() == 2: steps.append("frame %d" % reader.number())
            rule = reader.byte()
            if rule == 1: steps.append("format " + reader.text())
            if rule < 2: encoding(reader)
            if rule == 3: steps.append("nothing")
            return steps, reader.text()
        was_last = False
        send(b"\x01" + number(99 if mode() == "other" else 6) + (number(1) + text("png")) * 2)
        while True:
            reader = Reader(receive(struct.unpack("<I", receive(4))[0]))
            reader.byte()
            source, form = reader.text(), reader.text()
            original = reader.text() if reader.byte() else form
            outputs = [output(reader) for _ in range(reader.number())]
            note = {"process": os.getpid(), "source": source, "format": form, "original": original, "parts": sys.argv[1:], "outputs": [steps for steps, _ in outputs]}
            with open(here + "/log", "a") as log: log.write(json.dumps(note) + "\n")
            now = mode()
            if was_last: os._exit(75)
            if now in ("dieOnce", "stopOnce"):
                with open(here + "/mode", "w") as file: file.write("make")
                os.kill(os.getpid(), signal.SIGKILL if now == "dieOnce" else signal.SIGSTOP)
            was_last = now == "last"
            if now == "wait":
                while not os.path.exists(here + "/go"): time.sleep(0.002)
            if now == "hang": time.sleep(3600)
            if now == "die" or now == "dieTogether" and len(outputs) > 1: os.kill(os.getpid(), signal.SIGKILL)
            if now == "babble":
                send(b"\x07what?")
                continue
            is_lost = now == "lose" and "/blobs/" in source
            if is_lost: os.unlink(source)
            made = open(here + "/made", "rb").read()
            reply = b"\x03" + number(len(outputs))
            for _, path in outputs:
                if now == "damaged":
                    reply += b"\x01\x00" + text("The picture is torn.")
                    continue
                if is_lost:
                    reply += b"\x01\x06" + text("It is gone.")
                    continue
                if now == "refuse":
                    reply += b"\x01\x03" + text("It does not want to.")
                    continue
                if path:
                    # A file without a name is one of the process that asks.
                    with open(path.replace("/self/", "/%d/" % os.getppid()), "wb") as file: file.write(made)
                reply += b"\x00" + text("png") + number(1) + number(1) + number(1) + number(len(made)) + b"\x00"
                reply += number(0) + number(0) + number(0) + (b"\x01" if now == "exact" else b"\x00") + number(0)
            send(reply + b"\x00" + (b"\x01" if was_last else b"\x00"))
        """#
}
