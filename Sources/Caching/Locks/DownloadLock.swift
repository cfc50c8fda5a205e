internal import CLinux
internal import Glibc
package import Platform
internal import Synchronization

/// Lets one of all the processes on a cache folder download what several want at the same time.
///
/// Each request has a byte of the file `flights` in that folder, locked while the request is on its way. The system gives
/// the lock back when the process ends, however it ends. Requests of one process share their byte: they are merged by
/// other means.
package final class DownloadLock: Sendable {
    /// What came of asking for a flight.
    package enum Attempt {
        /// It is this process's until the last reference to it goes.
        case taken(DownloadLease)
        /// Another process has it.
        case busy
        /// The folder cannot be written or has no locks: everybody downloads for himself.
        case impossible
    }

    private let folder: StorageFolder
    private let file = Mutex<DownloadLockFile?>(nil)
    /// Requests of this process whose bodies have come and are being stored, and how many times each.
    private let arrivals = Mutex<[Digest: Int]>([:])

    /// Flights over a cache folder, which is made when the first is taken.
    package init(folder: StorageFolder) { self.folder = folder }

    /// Asks for the flight of a request, without waiting for another process.
    package func take(_ identity: Digest) -> Attempt {
        guard let file = try? openFile() else { return .impossible }
        return file.take(identity)
    }

    /// The same, unless the file has to be opened or made first: then it is nil. Takes microseconds.
    package func lockAtOnce(_ identity: Digest) -> Attempt? {
        let known = file.withLock { file -> DownloadLockFile? in
            guard let open = file else { return nil }
            if Afterwards.hasSeen(open) { return open }
            guard open.isAt(folder.path + "/flights") else { return nil }
            Afterwards.noteSeen(open)
            return open
        }
        return known?.take(identity)
    }

    // MARK: In this process

    /// A body has come, and is about to be stored.
    package func noteBodyArrived(_ identity: Digest) { arrivals.withLock { $0[identity, default: 0] += 1 } }

    /// It has been stored, or will not be.
    package func noteStored(_ identity: Digest) {
        arrivals.withLock { arrivals in
            let count = arrivals[identity, default: 0] - 1
            arrivals[identity] = count > 0 ? count : nil
        }
    }

    /// Whether what a request would bring has come already, and will soon be found in the cache.
    package func isBeingStored(_ identity: Digest) -> Bool { arrivals.withLock { $0[identity] != nil } }

    // MARK: Progress

    /// A number that changes as long as the flight of a request gets on, whoever has it.
    package func progress(of identity: Digest) -> UInt64 { file.withLock { $0 }?.progress(of: identity) ?? 0 }

    /// The file that is at its place now: the folder may have been replaced since the last flight.
    private func openFile() throws -> DownloadLockFile? {
        try file.withLock { file in
            let path = folder.path + "/flights"
            if let open = file, open.isAt(path) { return open }
            file = nil
            if !DownloadLockFile.exists(path) { try make(path) }
            file = DownloadLockFile(path: path)
            return file
        }
    }

    /// Makes the file with its secret, whole from the moment it has its name.
    private func make(_ path: String) throws {
        let draft = try folder.partialPath("flights")
        let descriptor = try Files.create(draft)
        defer {
            close(descriptor)
            unlink(draft)
        }
        let secret = (0..<DownloadLockFile.secretCount).map { _ in UInt8.random(in: .min ... .max) }
        try secret.withUnsafeBytes { try Files.writeAll($0, to: descriptor, draft) }
        // Another process may have been faster, and then its file counts.
        guard link(draft, path) == 0 || errno == EEXIST else { throw SystemError(errno, "name", path) }
    }
}

/// The right to download one thing, given back with the last reference.
package final class DownloadLease: Sendable {
    private let file: DownloadLockFile
    private let offset: Int
    private let noted = Atomic(0)

    fileprivate init(_ file: DownloadLockFile, _ offset: Int) {
        self.file = file
        self.offset = offset
    }

    deinit { file.giveBack(offset) }

    /// Lets those that wait know that it gets on; now and then at most.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of a clock that never goes back.
    ///   - start: When it began, by the same clock: most are over before anything is worth a note.
    ///   - interval: Nanoseconds from there to the first note, and from one to the next.
    package func noteProgress(at now: Int, since start: Int, every interval: Int = 1_000_000_000) {
        let last = noted.load(ordering: .relaxed)
        guard now - (last == 0 ? start : last) >= interval else { return }
        noted.store(now, ordering: .relaxed)
        file.noteProgress(offset)
    }
}

/// The open file of flights. Locks belong to the opening, so it stays open as long as one of its flights.
private final class DownloadLockFile: Sendable {
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
        return path.withCString { lstat($0, &status) } == 0 && status.st_dev == device && status.st_ino == inode
    }

    private func offset(of identity: Digest) -> Int {
        withUnsafeTemporaryAllocation(byteCount: secret.count + identity.bytes.count, alignment: 1) { text in
            text.copyBytes(from: secret)
            UnsafeMutableRawBufferPointer(rebasing: text[secret.count...]).copyBytes(from: identity.bytes)
            return Int(Digest(of: UnsafeRawBufferPointer(text)).rowNumber >> 1)
        }
    }

    /// Where the progress of a flight is noted. Two may share a place: then one looks livelier than it is.
    private static func place(_ offset: Int) -> off_t { off_t(4096 + offset % 4096 * 8) }

    func progress(of identity: Digest) -> UInt64 { noted(at: Self.place(offset(of: identity))) }

    private func noted(at place: off_t) -> UInt64 {
        var number: UInt64 = 0
        return pread(descriptor, &number, 8, place) == 8 ? number : 0
    }

    func noteProgress(_ offset: Int) {
        var number = noted(at: Self.place(offset)) &+ 1
        _ = pwrite(descriptor, &number, 8, Self.place(offset))
    }

    func take(_ identity: Digest) -> DownloadLock.Attempt {
        let offset = offset(of: identity)
        let answer = held.withLock { held -> Int32 in
            if held[offset] == nil {
                let answer = hl_lock_byte(descriptor, off_t(offset))
                guard answer == 0 else { return answer }
            }
            held[offset, default: 0] += 1
            return 0
        }
        return answer == 0 ? .taken(DownloadLease(self, offset)) : answer > 0 ? .busy : .impossible
    }

    func giveBack(_ offset: Int) {
        held.withLock { held in
            guard let count = held[offset], count <= 1 else { return held[offset, default: 1] -= 1 }
            held[offset] = nil
            _ = hl_unlock_byte(descriptor, off_t(offset))
        }
    }
}

/// How long a download waits for another process: short at first, and no longer than a span without progress.
package struct LockPatience {
    /// In nanoseconds of a clock that never goes back.
    private(set) var end: Int
    /// For how many nanoseconds a flight that does not get on is waited for.
    package let span: Int
    private var milliseconds = 5
    private var progress: UInt64?

    /// - Parameter start: When the request began.
    package init(from start: Int, span: Int) {
        end = start + span
        self.span = span
    }

    /// How long to wait before looking again; nil when it is enough.
    ///
    /// - Parameters:
    ///   - progress: A number that changes when the flight gets on.
    ///   - waiters: How many wait in this process: the more there are, the less often each looks.
    package mutating func next(at now: Int, progress: UInt64, waiters: Int = 1) -> Duration? {
        if let last = self.progress, last != progress { end = max(end, now + span) }
        self.progress = progress
        guard now < end else { return nil }
        defer { milliseconds = min(2 * milliseconds, 50) }
        let pause = max(milliseconds, min(waiters * 2, 1000))
        return min(.milliseconds(pause), .nanoseconds(end - now))
    }
}
