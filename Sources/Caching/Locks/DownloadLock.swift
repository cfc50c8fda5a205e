internal import CLinux
internal import Glibc
package import Platform
internal import Synchronization

/// Lets one of all the processes on a cache folder download what several want at the same time.
///
/// Each request has a byte of the file `flights` in that folder, locked during its download. The system gives the lock back
/// when the process ends, however it ends. Requests of one process share their byte: jobs merge them.
package final class DownloadLock: Sendable {
    package enum Attempt {
        /// It is this process's until the last reference to the hold goes.
        case taken(DownloadLockHold)
        /// Another process has it.
        case busy
        /// The folder cannot be written or has no locks: every process downloads for itself.
        case impossible
    }

    private let folder: StorageFolder
    private let file = Mutex<DownloadLockFile?>(nil)
    /// The requests of this process whose bodies have come and are being stored, and how many times each.
    private let arrivals = Mutex<[Digest: Int]>([:])

    private var path: String { folder.path + "/flights" }

    /// The locks of a cache folder, which is made when the first is taken.
    package init(folder: StorageFolder) { self.folder = folder }

    /// Asks for the lock of a request, without waiting for another process.
    package func take(_ identity: Digest) -> Attempt { (try? openFile())?.take(identity) ?? .impossible }

    /// Asks for the lock of a request in microseconds; `nil` when the file has to be opened or made first.
    package func lockAtOnce(_ identity: Digest) -> Attempt? {
        let known = file.withLock { file -> DownloadLockFile? in
            guard let open = file, Afterwards.hasSeen(open) || open.isAt(path) else { return nil }
            Afterwards.noteSeen(open)
            return open
        }
        return known?.take(identity)
    }

    // MARK: In this process

    /// Records that a body has come, and is about to be stored.
    package func noteBodyArrived(_ identity: Digest) { arrivals.withLock { $0[identity, default: 0] += 1 } }

    /// Records that it has been stored, or will not be.
    package func noteStored(_ identity: Digest) {
        arrivals.withLock { arrivals in
            let count = arrivals[identity, default: 0] - 1
            arrivals[identity] = count > 0 ? count : nil
        }
    }

    /// `true` when the body of a request has come already, and will soon be found in the cache.
    package func isBeingStored(_ identity: Digest) -> Bool { arrivals.withLock { $0[identity] != nil } }

    // MARK: Progress

    /// A number that changes as long as the download of a request gets on, whichever process has it.
    package func progress(of identity: Digest) -> UInt64 { file.withLock { $0 }?.progress(of: identity) ?? 0 }

    /// The file that is at its place now: the folder may have been replaced since the last download.
    private func openFile() throws -> DownloadLockFile? {
        try file.withLock { file in
            if let open = file, open.isAt(path) { return open }
            file = nil
            try folder.claim()
            if access(path, F_OK) != 0 { try make(path) }
            file = DownloadLockFile(path: path)
            return file
        }
    }

    /// Makes the file with its secret, whole from the moment it has its name.
    private func make(_ path: String) throws {
        let file = try folder.create(folder.partialPath("flights"))
        defer { unlink(file.path) }
        try file.write((0..<DownloadLockFile.secretCount).map { _ in UInt8.random(in: .min ... .max) })
        // Another process may have been faster, and then its file counts.
        guard link(file.path, path) == 0 || errno == EEXIST else { throw SystemError(errno, "name", path) }
    }
}

/// A lock that is held: the right to download one thing, given back with the last reference.
package final class DownloadLockHold: Sendable {
    private let file: DownloadLockFile
    private let offset: Int
    private let noted = Atomic(0)

    fileprivate init(_ file: DownloadLockFile, _ offset: Int) { (self.file, self.offset) = (file, offset) }

    deinit { file.giveBack(offset) }

    /// Tells those that wait that the download gets on; now and then at most.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of a clock that never goes back.
    ///   - start: The beginning, by the same clock: most downloads are over before anything is worth a note.
    ///   - interval: Nanoseconds from there to the first note, and from one to the next.
    package func noteProgress(at now: Int, since start: Int, every interval: Int = 1_000_000_000) {
        let last = noted.load(ordering: .relaxed)
        guard now - (last == 0 ? start : last) >= interval else { return }
        noted.store(now, ordering: .relaxed)
        file.noteProgress(offset)
    }
}

/// The open file of the locks. They belong to the opening, so it stays open as long as one of its holds.
private final class DownloadLockFile: Sendable {
    static let secretCount = 16

    private let file: Descriptor
    private let device: dev_t
    private let inode: ino_t
    /// Nobody else can read it: locks are shown to every user, and a byte's number would give away a guessed password.
    private let secret: [UInt8]
    /// The number of holds of this process on each byte: the system lets one opening lock a byte twice.
    private let held = Mutex<[Int: Int]>([:])

    init?(path: String) {
        var status = stat()
        guard let file = try? Descriptor(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK), fstat(file.number, &status) == 0,
            status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        (device, inode) = (status.st_dev, status.st_ino)
        secret = (try? file.bytes(Self.secretCount, at: 0)) ?? []
        self.file = file
    }

    func isAt(_ path: String) -> Bool {
        var status = stat()
        return path.withCString { lstat($0, &status) } == 0 && status.st_dev == device && status.st_ino == inode
    }

    private func offset(of identity: Digest) -> Int {
        (secret + identity.bytes).withUnsafeBytes { Int(Digest(of: $0).rowNumber >> 1) }
    }

    /// The place of a download's progress. Two may share one: then one looks livelier than it is.
    private static func place(_ offset: Int) -> off_t { off_t(4096 + offset % 4096 * 8) }

    func progress(of identity: Digest) -> UInt64 { progress(at: Self.place(offset(of: identity))) }

    private func progress(at place: off_t) -> UInt64 {
        var number: UInt64 = 0
        return pread(file.number, &number, 8, place) == 8 ? number : 0
    }

    func noteProgress(_ offset: Int) {
        var number = progress(at: Self.place(offset)) &+ 1
        _ = pwrite(file.number, &number, 8, Self.place(offset))
    }

    func take(_ identity: Digest) -> DownloadLock.Attempt {
        let offset = offset(of: identity)
        let answer = held.withLock { held in
            let answer = held[offset] == nil ? hl_lock_byte(file.number, off_t(offset)) : 0
            if answer == 0 { held[offset, default: 0] += 1 }
            return answer
        }
        return answer == 0 ? .taken(DownloadLockHold(self, offset)) : answer > 0 ? .busy : .impossible
    }

    func giveBack(_ offset: Int) {
        held.withLock { held in
            guard let count = held[offset], count <= 1 else { return held[offset, default: 1] -= 1 }
            held[offset] = nil
            _ = hl_unlock_byte(file.number, off_t(offset))
        }
    }
}

/// The patience of a download that waits for another process: looks often at first, and ends after a span without progress.
package struct LockPatience {
    /// In nanoseconds of a clock that never goes back.
    private(set) var end: Int
    /// The time in nanoseconds for which a download without progress is waited for.
    package let span: Int
    private var milliseconds = 5
    private var progress: UInt64?

    /// - Parameter start: The beginning of the request.
    package init(from start: Int, span: Int) { (end, self.span) = (start + span, span) }

    /// The time until the next look; `nil` when the wait is over.
    ///
    /// - Parameters:
    ///   - progress: A number that changes when the download gets on.
    ///   - waiters: The number of waiting requests in this process: the more there are, the less often each looks.
    package mutating func next(at now: Int, progress: UInt64, waiters: Int = 1) -> Duration? {
        if let last = self.progress, last != progress { end = max(end, now + span) }
        self.progress = progress
        guard now < end else { return nil }
        defer { milliseconds = min(2 * milliseconds, 50) }
        let pause = max(milliseconds, min(waiters * 2, 1000))
        return min(.milliseconds(pause), .nanoseconds(end - now))
    }
}
