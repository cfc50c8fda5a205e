internal import CLinux
internal import Glibc
internal import Synchronization

/// Lets one of all the processes on a cache folder download what several want at the same time.
///
/// Each request has a byte of the file `flights` in that folder, locked while the request is on its way. The system gives
/// the lock back when the process ends, however it ends. Requests of one process share their byte: they are merged by
/// other means.
final class FlightLock: Sendable {
    /// What came of asking for a flight.
    enum Attempt {
        /// It is this process's until the last reference to it goes.
        case taken(Flight)
        /// Another process has it.
        case busy
        /// The folder cannot be written or has no locks: everybody downloads for himself.
        case impossible
    }

    private let folder: StorageFolder
    private let file = Mutex<FlightFile?>(nil)

    /// Flights over a cache folder, which is made when the first is taken.
    init(folder: StorageFolder) { self.folder = folder }

    /// Asks for the flight of a request, without waiting for another process.
    func take(_ identity: Digest) -> Attempt {
        guard let file = try? openFile() else { return .impossible }
        return file.take(identity)
    }

    /// The file that is at its place now: the folder may have been replaced since the last flight.
    private func openFile() throws -> FlightFile? {
        try file.withLock { file in
            let path = folder.path + "/flights"
            if let open = file, open.isAt(path) { return open }
            file = nil
            if !FlightFile.exists(path) { try make(path) }
            file = FlightFile(path: path)
            return file
        }
    }

    /// Makes the file with its secret, whole from the moment it has its name.
    private func make(_ path: String) throws {
        let draft = try folder.partialPath("flights")
        let descriptor = try StorageFolder.create(draft)
        defer {
            close(descriptor)
            unlink(draft)
        }
        let secret = (0..<FlightFile.secretCount).map { _ in UInt8.random(in: .min ... .max) }
        try secret.withUnsafeBytes { try StorageFolder.writeAll($0, to: descriptor, draft) }
        // Another process may have been faster, and then its file counts.
        guard link(draft, path) == 0 || errno == EEXIST else { throw StorageFailure(errno, "name", path) }
    }
}

/// The right to download one thing, given back with the last reference.
final class Flight: Sendable {
    private let file: FlightFile
    private let offset: Int

    fileprivate init(_ file: FlightFile, _ offset: Int) {
        self.file = file
        self.offset = offset
    }

    deinit { file.giveBack(offset) }
}

/// The open file of flights. Locks belong to the opening, so it stays open as long as one of its flights.
private final class FlightFile: Sendable {
    static let secretCount = 16

    private let descriptor: Int32
    private let device: dev_t
    private let inode: ino_t
    /// Nobody else can read it: locks are shown to every user, and a byte's number would give away a guessed password.
    private let secret: [UInt8]
    /// How many flights of this process share each byte: the system lets one opening lock a byte twice.
    private let held = Mutex<[Int: Int]>([:])

    init?(path: String) {
        descriptor = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        var status = stat()
        var secret = [UInt8](repeating: 0, count: Self.secretCount)
        let isFile = descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        (device, inode) = (status.st_dev, status.st_ino)
        if isFile { _ = pread(descriptor, &secret, Self.secretCount, 0) }
        self.secret = secret
        if !isFile { return nil }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    func isAt(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode
    }

    func take(_ identity: Digest) -> FlightLock.Attempt {
        let offset = (secret + identity.bytes).withUnsafeBytes { Int(Digest(of: $0).rowNumber >> 1) }
        let answer = held.withLock { held -> Int32 in
            if held[offset] == nil {
                let answer = hl_lock_byte(descriptor, off_t(offset))
                guard answer == 0 else { return answer }
            }
            held[offset, default: 0] += 1
            return 0
        }
        return answer == 0 ? .taken(Flight(self, offset)) : answer > 0 ? .busy : .impossible
    }

    func giveBack(_ offset: Int) {
        held.withLock { held in
            guard let count = held[offset], count <= 1 else { return held[offset, default: 1] -= 1 }
            held[offset] = nil
            _ = hl_unlock_byte(descriptor, off_t(offset))
        }
    }
}

/// How long a download waits for another process: short at first, and not beyond a moment.
struct FlightPatience {
    /// In nanoseconds of a clock that never goes back.
    let end: Int
    private var milliseconds = 5

    init(end: Int) { self.end = end }

    /// How long to wait before looking again; nil when it is enough.
    mutating func next(at now: Int) -> Duration? {
        guard now < end else { return nil }
        defer { milliseconds = min(2 * milliseconds, 50) }
        return min(.milliseconds(milliseconds), .nanoseconds(end - now))
    }
}

extension DownloadRequest {
    /// What the flights of two processes have in common when they would bring the same to the same place: everything that
    /// is sent, so that nobody waits for what is fetched with other credentials.
    func flight(to key: CacheKey) -> Digest {
        var fields = [key.key, key.identifier, webURL.text]
        switch authorization ?? webURL.credentials {
        case .basic(let user, let password): fields += ["basic", user, password]
        case .bearer(let token): fields += ["bearer", token]
        case nil: fields += ["none"]
        }
        for (name, value) in headers { fields += [name.asciiLowercased, value] }
        var bytes: [UInt8] = []
        for field in fields {
            withUnsafeBytes(of: field.utf8.count.littleEndian) { bytes += $0 }
            bytes += field.utf8
        }
        return bytes.withUnsafeBytes { Digest(of: $0) }
    }
}
